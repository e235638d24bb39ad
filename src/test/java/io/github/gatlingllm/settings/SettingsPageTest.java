package io.github.gatlingllm.settings;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.docs.ReferencePage;
import io.github.gatlingllm.record.ConfigKey.Identifies;
import io.github.gatlingllm.settings.Setting.SettingTrait;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The catalogue of settings: reference page, help text, and use of each setting. */
class SettingsPageTest {

  private static final Path SOURCES = Path.of("src/main/java/io/github/gatlingllm");

  /** A value before its meaning. */
  private static final Pattern VALUE = Pattern.compile("(?<=^|; )(\\w+)(?=: )");

  private static final Pattern WHEN = Pattern.compile("(.+) \\((when .+)\\)");
  private static final Pattern WORDS = Pattern.compile("[a-z]+,? ");

  /** What comparing and merging take from the catalogue. */
  @Test
  void whatSettingsIdentifyIsThatOfTheCatalogue() throws IOException {
    StringBuilder text = new StringBuilder("# Written from the catalogue settings/Setting.java.\n");
    for (Setting<?> setting : Setting.all()) {
      if (setting.identifies() != Identifies.MEASUREMENT) {
        text.append(setting.name + "=" + setting.identifies().name() + "\n");
      }
    }
    ReferencePage.at(Path.of("src/main/resources/io/github/gatlingllm/record/settings.properties"))
        .mustBe(text.toString());
  }

  @Test
  void pageIsThatOfTheCatalogue() throws IOException {
    assertThat(Setting.words().values().stream().flatMap(group -> group.keySet().stream()))
        .containsExactlyElementsOf(Setting.all());
    ReferencePage page = ReferencePage.of("settings.md");
    assertThat(Files.readAllLines(page.file()))
        .containsSubsequence(
            Setting.words().keySet().stream().map(title -> "## " + title).toList());
    page.mustHave(Setting.words().values().stream().map(SettingsPageTest::theme).toList());
  }

  /** A table, and below it what does not fit into its lines. */
  private static String theme(Map<Setting<?>, List<String>> settings) {
    List<List<String>> rows = new ArrayList<>();
    StringBuilder items = new StringBuilder();
    settings.forEach((setting, words) -> rows.add(row(setting, words, items)));
    return ReferencePage.table(List.of("name", "form", "default", "example", "meaning"), rows)
        + "\n"
        + items;
  }

  private static List<String> row(Setting<?> setting, List<String> words, StringBuilder items) {
    String all = words.get(0).replace("{settings}", "those marked †");
    List<String> row = new ArrayList<>();
    row.add(
        "`"
            + setting.name
            + "`"
            + (setting.isForCode() ? "" : "*")
            + (setting.is(SettingTrait.OF_CLASS) ? "†" : ""));
    List<String> cut = new ArrayList<>();
    row.add(cell("Form", text(setting.form.shape().replace("true, false", "flag")), cut));
    row.add(cell("Default", text(setting.defaultText()), cut));
    row.add(row.get(1).equals("flag") ? "" : "`" + setting.example + "`");
    String meaning = meaning(all, row);
    row.add(text(meaning));
    List<String> more = new ArrayList<>();
    String rest = all.substring(meaning.length()).replaceFirst("^; ", "");
    if (!rest.isEmpty()) {
      more.add(sentence(text(rest)));
    }
    if (!words.get(1).isEmpty()) {
      more.add(text(words.get(1)).replaceFirst("\\.$", ""));
    }
    more.addAll(cut);
    if (!setting.needs().isEmpty()) {
      more.add("Needs " + text(String.join(", ", setting.needs())));
    }
    if (!setting.excludes().isEmpty()) {
      more.add(text(exclusions(setting.excludes())));
    }
    if (!more.isEmpty()) {
      items.append(ReferencePage.item("`" + setting.name + "`: " + String.join(". ", more) + "."));
    }
    return row;
  }

  /** Those of the same condition together: {@code Not with trials. When a list not with search}. */
  private static String exclusions(List<String> names) {
    Map<String, List<String>> byCondition = new LinkedHashMap<>();
    for (String name : names) {
      Matcher found = WHEN.matcher(name);
      String when = found.matches() ? sentence(found.group(2)) + " not with " : "Not with ";
      byCondition
          .computeIfAbsent(when, each -> new ArrayList<>())
          .add(found.matches() ? found.group(1) : name);
    }
    return byCondition.entrySet().stream()
        .sorted(Map.Entry.comparingByKey(Comparator.comparing(String::length)))
        .map(each -> each.getKey() + String.join(", ", each.getValue()))
        .collect(Collectors.joining(". "));
  }

  /** The text, or, if that is long, a hint at the list below. */
  private static String cell(String title, String text, List<String> cut) {
    if (text.length() <= 24) {
      return text;
    }
    cut.add(title + ": " + text);
    return "below";
  }

  /** The first clauses of the meaning, as many as the line has place for; all values or none. */
  private static String meaning(String all, List<String> cells) {
    int place = 117 - ReferencePage.table(cells, List.of()).indexOf('\n');
    return Pattern.compile("$|; ")
        .matcher(all)
        .results()
        .map(clause -> all.substring(0, clause.start()))
        .filter(clauses -> text(clauses).length() <= place)
        .filter(clauses -> clauses.equals(all) || !VALUE.matcher(clauses).find())
        .reduce((shorter, longer) -> longer)
        .orElseThrow(
            () ->
                new AssertionError(
                    "%s: the first clause of its meaning has more than %s characters"
                        .formatted(cells.get(0), place)));
  }

  /** Clauses with a capital letter at their beginning, and values before a colon as code. */
  private static String sentence(String clauses) {
    String text = VALUE.matcher(clauses).replaceAll("`$1`");
    return WORDS.matcher(text).lookingAt()
        ? Character.toUpperCase(text.charAt(0)) + text.substring(1)
        : text;
  }

  @Test
  void settingsAreReadOnlyThroughTheCatalogue() throws IOException {
    try (Stream<Path> files = Files.walk(SOURCES)) {
      assertThat(files.filter(file -> file.toString().matches(".*(?<!/Settings?)[.]java")))
          .hasSizeGreaterThan(100)
          .allSatisfy(
              file ->
                  assertThat(file)
                      .content()
                      .doesNotContain("getProperty(\"llm.", "getenv(\"LLM_", "getBoolean(\"llm."));
    }
  }

  /** In the second column of the tables for users of other tools. */
  @Test
  void settingsForUsersOfOtherToolsExist() throws IOException {
    List<String> named = new ArrayList<>();
    boolean ofSettings = false;
    for (String row : Files.readAllLines(Path.of("docs", "coming-from.md"))) {
      String[] cells = row.split(" \\| ", -1);
      ofSettings = row.endsWith(" | setting: what differs") || (ofSettings && !row.isEmpty());
      if (ofSettings && cells.length == 2 && cells[1].startsWith("`")) {
        Matcher code = Pattern.compile("`([^`]+)`").matcher(cells[1].split(": ", 2)[0]);
        code.results().forEach(found -> named.add(found.group(1)));
      }
    }
    assertThat(named).hasSizeGreaterThan(120);
    for (String text : named) {
      String[] parts = text.split("=", 2);
      Setting<?> setting = Setting.named(parts[0]);
      assertThat(setting).as(text).isNotNull();
      if (parts.length == 2 && !parts[1].matches(".*<[a-z.]+>.*")) { // a placeholder
        setting.parse(parts[1].replace("\\|", "|"));
      }
    }
  }

  @Test
  void rulesNameSettings() {
    assertThat(
            Setting.all().stream()
                .flatMap(each -> Stream.concat(each.needs().stream(), each.excludes().stream())))
        .hasSizeGreaterThan(50)
        .allSatisfy(other -> assertThat(Setting.named(other.replaceFirst(" .*", ""))).isNotNull());
  }

  @Test
  void rulesAreListed() {
    assertThat(Setting.RATE.excludes())
        .contains("duration (when a curve)", "search (when a curve)");
    assertThat(Setting.DURATION.excludes()).isEmpty();
    assertThat(Setting.STOP_WHEN.needs()).containsExactly("slo (when slo<…)");
  }

  @Test
  void defaultsCanBeParsed() {
    for (Setting<?> setting : Setting.all()) {
      if (setting != Setting.TOKENIZER) {
        setting.defaultValue(true);
      }
      setting.defaultValue(false);
    }
  }

  @Test
  void examplesCanBeParsed() {
    for (Setting<?> setting : Setting.all()) {
      assertThat(setting.example).as(setting.name).isNotEmpty();
      if (setting != Setting.PROMPTS) { // a file that is read immediately
        setting.parse(setting.example);
      }
    }
  }

  @Test
  void helpShowsEverySettingIn120Columns() {
    List<String> lines = Setting.help().lines().toList();

    assertThat(lines).allMatch(line -> line.length() <= 120);
    assertThat(Setting.all())
        .allMatch(
            setting -> lines.stream().anyMatch(line -> line.startsWith("  " + setting.name + " ")));
    assertThat(Setting.help(true)).contains("\n  --max-tokens  ", "prompt-tokens,");
    assertThat(Setting.help())
        .contains(
            """
            Requests
              stream               true, false         requests a stream; without it TTFT, TPOT and ITL are absent [true]
              maxTokens            numbers, ranges     output length, in the forms of promptTokens; drawn for each request; a list
                                                       makes a grid with promptTokens [lognormal:128:64; without endpoint
                                                       lognormal:16:8]; needs promptTokens (when a list); not with search (when a
                                                       list)
            """,
            """
              sloRule              percentiles, requests
                                                       how the share of sloPercentile is taken; percentiles: of each objective
            """);
  }

  /** {@code <} begins markup in Markdown. */
  private static String text(String plain) {
    return plain.replace("<", "\\<");
  }
}
