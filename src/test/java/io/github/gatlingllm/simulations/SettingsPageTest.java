package io.github.gatlingllm.simulations;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.docs.ReferencePage;
import io.github.gatlingllm.simulations.Setting.Group;
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

    assertThat(unused).containsExactlyInAnyOrder("METRICS_URL", "LIVE");
    assertThat(Setting.all().stream().filter(setting -> !setting.isAvailable()))
        .as("refused, so that nobody reads them")
        .containsExactlyInAnyOrder(Setting.METRICS_URL, Setting.LIVE);
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
    for (Setting<?> setting : Setting.all()) {
      if (setting != Setting.TOKENIZER) {
        setting.absent(true);
      }
      setting.absent(false);
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
        .filter(f -> Modifier.isStatic(f.getModifiers()) && f.getType() == Setting.class)
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

    Written from the catalogue, `simulations/Setting.java`; `mvn gatling:test -Dllm.help=true` prints the same, shorter.

    Every setting is a system property `llm.<name>`, else a variable of the environment `LLM_<NAME>` (camel case becomes upper
    snake case: `maxTokens` is `LLM_MAX_TOKENS`), else a line like that in the file `.env` of the working directory, else its default.
    `not with`: both together are refused; words in brackets say of which values that is true.
    """
        + groups;
  }

  private static String section(Group group) {
    return "\n## "
        + group.title()
        + "\n\n"
        + ReferencePage.table(
            List.of("name", "form", "default", "meaning", "needs", "not with"),
            Setting.all().stream()
                .filter(setting -> setting.group() == group)
                .map(SettingsPageTest::row)
                .toList());
  }

  private static List<String> row(Setting<?> setting) {
    return List.of(
        "`" + setting.name() + "`",
        text(setting.shape()),
        text(setting.defaultText()),
        (setting.isAvailable() ? "" : "Not available in this version. ")
            + text(setting.meaning())
            + (setting.details().isEmpty() ? "" : ". " + text(setting.details())),
        text(String.join(", ", setting.needs())),
        text(String.join(", ", setting.excludes())));
  }

  /** {@code <} begins markup in Markdown. */
  private static String text(String plain) {
    return plain.replace("<", "\\<");
  }
}
