package io.github.gatlingllm.simulations;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.docs.ReferencePage;
import io.github.gatlingllm.simulations.SettingEntry.Group;
import java.io.IOException;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The catalogue of settings: its reference page, its help, and that the program uses all of it. */
class SettingsPageTest {

  private static final Path SOURCES = Path.of("src/main/java/io/github/gatlingllm");

  @Test
  void pageIsThatOfTheCatalogue() throws IOException {
    ReferencePage.of("settings.md").mustBe(page());
  }

  @Test
  void everySettingIsUsedOutsideTheCatalogue() throws IOException {
    String code = code("Setting.java");
    List<String> unused =
        constants().filter(name -> !code.matches("(?s).*\\bSetting\\." + name + "\\b.*")).toList();

    assertThat(unused).isEmpty();
    assertThat(constants()).hasSameSizeAs(Setting.all());
  }

  @Test
  void nothingIsReadPastTheCatalogue() throws IOException {
    assertThat(code("Setting.java", "Settings.java"))
        .doesNotContain("getProperty(\"llm.", "getenv(\"LLM_", "getBoolean(\"llm.");
  }

  @Test
  void rulesNameSettings() {
    assertThat(Setting.all().stream().flatMap(setting -> setting.rules().stream()))
        .isNotEmpty()
        .allSatisfy(
            rule ->
                assertThat(rule.others())
                    .allSatisfy(other -> assertThat(Setting.named(other)).isNotNull()));
  }

  @Test
  void rulesAreSaidOfBothSettings() {
    assertThat(Setting.RATE.excludes())
        .contains("concurrency", "duration (a curve)", "arrival (a trace)", "trials");
    assertThat(Setting.DURATION.excludes())
        .contains("measure", "rate (a curve)", "arrival (a trace)", "trials");
    assertThat(Setting.STOP_WHEN.needs()).containsExactly("slo (slo<…)");
  }

  @Test
  void defaultsAreOfTheirForm() {
    for (SettingEntry<?> setting : Setting.all()) {
      if (setting != Setting.TOKENIZER) {
        setting.defaultValue(true);
      }
      setting.defaultValue(false);
    }
  }

  @Test
  void examplesAreOfTheirForm() {
    for (SettingEntry<?> setting : Setting.all()) {
      assertThat(setting.example()).as(setting.name()).isNotEmpty();
      if (setting != Setting.PROMPTS) { // a file that is read at once
        setting.parse(setting.example());
      }
    }
  }

  @Test
  void helpShowsEverySettingIn120Columns() {
    List<String> lines = SettingsHelp.text().lines().toList();

    assertThat(lines).allMatch(line -> line.length() <= 120);
    assertThat(Setting.all())
        .allMatch(
            setting ->
                lines.stream().anyMatch(line -> line.startsWith("  " + setting.name() + " ")));
    assertThat(SettingsHelp.text())
        .contains(
            """
            Requests
              stream          true, false          asks for a stream; without it TTFT, TPOT and ITL are absent [true]
              maxTokens       whole number ≥ 1     output length [128; without endpoint 16]
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

  private static String page() {
    String groups =
        Arrays.stream(Group.values()).map(SettingsPageTest::section).collect(Collectors.joining());
    return """
    # Settings of the benchmark

    Written from the catalogue, `simulations/Setting.java`; `mvn gatling:test -Dllm.help=true` prints the same, shorter. Names are binding:
    later versions add some, and rename or drop none.

    ## How they are set

    A setting is taken from the first of these that has it:

    | where | form | example |
    |---|---|---|
    | system property | `llm.<name>` | `-Dllm.maxTokens=256` |
    | option of the [runnable jar](commands.md#the-runnable-jar) | `--<name>` | `--max-tokens 256` |
    | environment | `LLM_<NAME>`, camel case becomes upper snake case | `LLM_MAX_TOKENS=256` |
    | file `.env` in the working directory | as in the environment; `ENDPOINT`, `API_KEY`, `MODEL` work too | `API_KEY=sk-…` |
    | its default | | |

    - Keys belong in the environment or in `.env`, not in `-D`, which `ps` shows. `header.X-Tenant` is `LLM_HEADER_X_TENANT` there.
    - Lines of `.env` may begin with `export`, be quoted, and end in a comment. An empty value in the environment or in `.env` counts as
      not set; an empty system property is refused.
    - A duration is a number and a unit (`500us`, `500ms`, `30s`, `2m`, `1h`) everywhere; without a unit it is seconds, in `assert`
      milliseconds, and in `slo` refused. Lists are separated by commas.
    - A wrong value, a contradiction, or an unknown `llm.*` system property is one line that names it, its value and what is allowed, and
      exit code 1 before any load. An unknown `LLM_*` name in the environment is a warning, because it may belong to another program. A
      setting that a version does not have yet is refused, never ignored.
    - A level is bounded by `requests` (count), `duration` (time), or by both, whichever comes first, and each request by `timeout`.

    `not with`: both together are refused; words in brackets say of which values that is true. Also refused: `fill` with open load, `search`
    with several rates, several scenarios with `interleave`, `D` with an API that takes no messages, a `promptTokens` that the prefix fills alone,
    `api` against a full path of the other API.
    """
        + groups;
  }

  private static String section(Group group) {
    return "\n## "
        + group.title()
        + "\n\n"
        + ReferencePage.table(
            List.of("name", "form", "default", "example", "meaning", "needs", "not with"),
            Setting.all().stream()
                .filter(setting -> setting.group() == group)
                .map(SettingsPageTest::row)
                .toList());
  }

  private static List<String> row(SettingEntry<?> setting) {
    return List.of(
        "`" + setting.name() + "`",
        text(setting.shape()),
        text(setting.defaultText()),
        "`" + setting.name().replace("<Name>", "X-Tenant") + "=" + setting.example() + "`",
        text(setting.meaning())
            + (setting.details().isEmpty() ? "" : ". " + text(setting.details())),
        text(String.join(", ", setting.needs())),
        text(String.join(", ", setting.excludes())));
  }

  /** {@code <} begins markup in Markdown. */
  private static String text(String plain) {
    return plain.replace("<", "\\<");
  }
}
