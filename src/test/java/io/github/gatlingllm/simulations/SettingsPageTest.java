package io.github.gatlingllm.simulations;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.docs.ReferencePage;
import java.io.IOException;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The catalogue of settings: reference page, help text, and use of each setting. */
class SettingsPageTest {

  private static final Path SOURCES = Path.of("src/main/java/io/github/gatlingllm");

  /** A setting's row of the page: its name, and the details, which are written by hand. */
  private static final Pattern ROW = Pattern.compile("(?m)^\\| (`[^`]+`) \\|.* \\| (.*) \\|$");

  @Test
  void pageIsThatOfTheCatalogue() throws IOException {
    ReferencePage.of("settings.md").mustBe(page());
  }

  @Test
  void everySettingIsUsedOutsideTheCatalogue() throws IOException {
    Set<String> used =
        Pattern.compile("\\bSetting\\.(\\w+)")
            .matcher(code("Setting.java"))
            .results()
            .map(found -> found.group(1))
            .collect(Collectors.toSet());

    assertThat(constants()).isSubsetOf(used);
    assertThat(constants()).hasSameSizeAs(Setting.all());
  }

  @Test
  void settingsAreReadOnlyThroughTheCatalogue() throws IOException {
    assertThat(code("Setting.java", "Settings.java"))
        .doesNotContain("getProperty(\"llm.", "getenv(\"LLM_", "getBoolean(\"llm.");
  }

  @Test
  void rulesNameSettings() {
    assertThat(Setting.all().stream().flatMap(setting -> setting.rules.stream()))
        .isNotEmpty()
        .allSatisfy(
            rule ->
                assertThat(rule.others())
                    .allSatisfy(other -> assertThat(Setting.named(other)).isNotNull()));
  }

  @Test
  void rulesAreListedAtBothSettings() {
    assertThat(Setting.RATE.excludes())
        .contains("concurrency", "duration (when a curve)", "arrival (a trace)", "trials");
    assertThat(Setting.DURATION.excludes())
        .contains("rate (a curve)", "arrival (a trace)", "trials");
    assertThat(Setting.STOP_WHEN.needs()).containsExactly("slo (when slo<…)");
  }

  @Test
  void defaultsCanBeParsed() {
    for (SettingEntry<?> setting : Setting.all()) {
      if (setting != Setting.TOKENIZER) {
        setting.defaultValue(true);
      }
      setting.defaultValue(false);
    }
  }

  @Test
  void examplesCanBeParsed() {
    for (SettingEntry<?> setting : Setting.all()) {
      assertThat(setting.example).as(setting.name).isNotEmpty();
      if (setting != Setting.PROMPTS) { // a file that is read at once
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
    assertThat(Setting.help())
        .contains(
            """
            Requests
              stream               true, false         asks for a stream; without it TTFT, TPOT and ITL are absent [true]
              maxTokens            whole number ≥ 1    output length [128; without endpoint 16]
            """,
            """
              sloRule              percentiles, requests
                                                       percentiles: each objective by itself is met by that share; requests: all at
            """);
  }

  private static Stream<String> constants() {
    return Arrays.stream(Setting.class.getDeclaredFields())
        .filter(f -> Modifier.isStatic(f.getModifiers()) && f.getType() == SettingEntry.class)
        .map(java.lang.reflect.Field::getName);
  }

  private static String code(String... without) throws IOException {
    try (Stream<Path> files = Files.walk(SOURCES)) {
      StringBuilder code = new StringBuilder();
      for (Path file : files.filter(f -> f.toString().endsWith(".java")).sorted().toList()) {
        if (!List.of(without).contains(file.getFileName().toString())) {
          code.append(Files.readString(file));
        }
      }
      return code.toString();
    }
  }

  private static String page() throws IOException {
    Map<String, String> details = new HashMap<>();
    Matcher rows = ROW.matcher(Files.readString(Path.of("docs", "settings.md")));
    while (rows.find()) {
      details.put(rows.group(1), rows.group(2));
    }
    Map<String, List<List<String>>> groups = new LinkedHashMap<>();
    String group = "";
    for (SettingEntry<?> setting : Setting.all()) {
      group = setting.heading == null ? group : setting.heading;
      groups
          .computeIfAbsent(group, title -> new ArrayList<>())
          .add(row(setting, details.getOrDefault("`" + setting.name + "`", "")));
    }
    String sections =
        groups.entrySet().stream()
            .map(part -> section(part.getKey(), part.getValue()))
            .collect(Collectors.joining());
    return """
    # Settings of the benchmark

    Generated from the catalogue `simulations/Setting.java`, except the details. `mvn gatling:test -Dllm.help=true` prints a shorter version.
    Names are stable: later versions add settings, but do not rename or remove any.

    ## How they are set

    The first of these sources that has a value wins:

    | source | form | example |
    |---|---|---|
    | system property | `llm.<name>` | `-Dllm.maxTokens=256` |
    | option of the [runnable jar](commands.md#the-runnable-jar) | `--<name>` | `--max-tokens 256` |
    | environment | `LLM_<NAME>`, camel case becomes upper snake case | `LLM_MAX_TOKENS=256` |
    | file `.env` in the working directory | as in the environment; `ENDPOINT`, `API_KEY`, `MODEL` work too | `API_KEY=sk-…` |
    | default | | |

    - Put keys into the environment or into `.env`, not into `-D` options, which `ps` shows. `header.X-Tenant` is `LLM_HEADER_X_TENANT` there.
    - Lines of `.env` can begin with `export`, have quoted values, and end with a comment. An empty value in the environment or in `.env` counts
      as not set; an empty system property is refused.
    - A duration is a number with a unit (`500us`, `500ms`, `30s`, `2m`, `1h`). A number without a unit is in seconds; in `assert` it is in
      milliseconds, and in `slo` it is refused. Lists are separated by commas.
    - A wrong value, a contradiction or an unknown `llm.*` system property ends the run before any load, with exit code 1 and one line that has
      the name, the value and the accepted values. An unknown `LLM_*` name in the environment is a warning, because it may belong to another
      program. A setting of a later version is refused, never ignored.
    - A load level is bounded by `requests` (number), by `duration` (time), or by both, whichever comes first. `timeout` bounds each request.

    `not with` lists settings that cannot be set together. `(a trace)` after a name: only if that other setting has such a value. `(when a trace)`:
    only if this setting has such a value. Also refused: `fill` with open load,
    `search` with several rates, several scenarios with `interleave`, `D` with an API that takes no messages, a `promptTokens` that leaves no
    token beside the prefix, and `api` with the full path of another API.
    """
        + sections;
  }

  private static String section(String title, List<List<String>> rows) {
    return "\n## "
        + title
        + "\n\n"
        + ReferencePage.table(
            List.of(
                "name", "form", "default", "example", "meaning", "needs", "not with", "details"),
            rows);
  }

  private static List<String> row(SettingEntry<?> setting, String details) {
    return List.of(
        "`" + setting.name + "`",
        text(setting.form.shape()),
        text(setting.defaultText()),
        "`" + setting.name.replace("<Name>", "X-Tenant") + "=" + setting.example + "`",
        text(setting.meaning),
        text(String.join(", ", setting.needs())),
        text(String.join(", ", setting.excludes())),
        details.replace("\\|", "|"));
  }

  /** {@code <} begins markup in Markdown. */
  private static String text(String plain) {
    return plain.replace("<", "\\<");
  }
}
