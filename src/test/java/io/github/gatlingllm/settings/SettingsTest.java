package io.github.gatlingllm.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.gatling.core.config.GatlingConfiguration;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import scala.collection.immutable.List$;

final class SettingsTest {
  @TempDir private Path folder;

  @Test
  void shortNamesWorkInTheEnvFileOnly() throws IOException {
    Path file = envFile("ENDPOINT=http://a/v1\nAPI_KEY=sk-1\nMODEL=small\nLLM_MODEL=large\n");
    Settings settings = new Settings(Map.of(), Map.of("ENDPOINT", "http://b/v1"), file);
    assertThat(settings.text(Setting.ENDPOINT)).isEqualTo("http://a/v1");
    assertThat(settings.text(Setting.API_KEY)).isEqualTo("sk-1");
    assertThat(settings.text(Setting.MODEL)).isEqualTo("large");
  }

  /** As each request reads them from its protocol. */
  @Test
  void makesADefaultOnce() {
    for (Setting<?> row : Setting.all()) {
      Object first = row.defaultInCode();
      Object again = row.defaultInCode();
      assertThat(again).as(row.name).isSameAs(first);
    }
  }

  @Test
  void headersComeFromAllSourcesAndAreMatchedWithoutCase() throws IOException {
    Settings settings =
        new Settings(
            Map.of("llm.header.x-tenant", "property"),
            Map.of("LLM_HEADER_X_TENANT", "environment", "LLM_HEADER_X_ZONE", "b"),
            envFile("LLM_HEADER_X_ZONE=a"));
    assertThat(settings.headers())
        .containsExactlyInAnyOrderEntriesOf(Map.of("X-TENANT", "property", "X-ZONE", "b"));
  }

  @ParameterizedTest
  @CsvSource({
    "llm.concurency, llm.concurrency",
    "llm.maxtokens, llm.maxTokens",
    "llm.max_tokens, llm.maxTokens",
    "llm.key, llm.apiKey",
    "llm.warm, llm.warmup",
    "llm.streaming, llm.stream",
    "llm.headers.X-A, llm.header.<Name>",
    "llm.resultsFolder,",
  })
  void refusesUnknownPropertiesAndNamesOneThatIsNear(String property, @Nullable String near) {
    assertThatThrownBy(() -> properties(Map.of(property, "1")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            property
                + " is not a setting; "
                + (near == null ? "llm.help lists all settings" : "did you mean " + near + "?"));
  }

  @Test
  void warnsAboutUnknownVariables() throws IOException {
    Settings settings =
        new Settings(
            Map.of(),
            Map.of("LLM_FOO", "x", "OTHER", "y", "LLM_EMPTY", ""),
            envFile("LLM_MAXTOKENS=3\nPATH=z\n"));
    assertThat(settings.warnings())
        .hasSize(2)
        .contains(
            "LLM_MAXTOKENS in .env is not a setting and has no effect; did you mean"
                + " LLM_MAX_TOKENS?")
        .anyMatch(line -> line.startsWith("LLM_FOO in the environment is not a setting"));
  }

  @Test
  void longAndManyNamesCostLittle() throws IOException {
    StringBuilder names = new StringBuilder("LLM_" + "A".repeat(400_000) + "=1\n");
    for (int i = 0; i < 4_000; i++) {
      names.append("LLM_FOO").append(i).append("=1\n");
    }
    assertThat(new Settings(Map.of(), Map.of(), envFile(names.toString())).warnings())
        .hasSize(21)
        .allSatisfy(line -> assertThat(line.length()).isLessThan(200));
  }

  @Test
  void refusesEmptyPropertiesAndBadHeaders() {
    assertThatThrownBy(() -> properties(Map.of("llm.dryRun", " ")))
        .hasMessage("llm.dryRun is empty; give it a value or leave it out");
    assertThatThrownBy(() -> properties(Map.of("llm.header.", "1")))
        .hasMessage("llm.header.: expected a header name, e.g. llm.header.X-Tenant");
    assertThatThrownBy(() -> properties(Map.of("llm.header.X", "a\nb")))
        .hasMessage("llm.header.X: expected printable ASCII as the header's value");
  }

  @Test
  void secretsAreNeverShown() {
    Settings settings =
        properties(
            Map.of(
                "llm.apiKey", "sk-secret-1,sk-secret-2",
                "llm.header.Authorization", "Basic abc",
                "llm.endpoint", "http://me:pass@host/v1",
                "llm.body", "{\"key\":\"sk-secret-2\",\"a\":\"" + "x".repeat(80) + "\"}",
                "llm.model", "m"));
    assertThat(settings.shown())
        .containsEntry("apiKey", "***")
        .containsEntry("header.Authorization", "***")
        .containsEntry("endpoint", "http://***@host/v1")
        .containsEntry("model", "m");
    assertThat(settings.shown().get("body")).startsWith("{\"key\":\"***\"").hasSize(60);
    assertThat(settings.invalid(Setting.API_KEY, "wrong")).hasMessage("llm.apiKey: wrong");
    assertThat(settings.invalid(Setting.MODEL, "not sk-secret-1"))
        .hasMessage("llm.model=m: not ***");
    assertThat(settings.warnings())
        .containsExactly(
            "llm.apiKey is a system property, which ps shows to all; put it into .env");
  }

  @Test
  void messagesAreOneLineOfAtMost200Characters() {
    Settings settings = properties(Map.of("llm.prompt", "a\n".repeat(100)));
    assertThat(settings.invalid(Setting.PROMPT, "x\n::error::".repeat(30)).getMessage())
        .hasSize(200)
        .doesNotContain("\n")
        .startsWith("llm.prompt=a a a ");
  }

  private Settings properties(Map<String, String> properties) {
    return new Settings(properties, Map.of(), folder.resolve(".env"));
  }

  private Path envFile(String text) throws IOException {
    return Files.writeString(folder.resolve(".env"), text);
  }

  static Stream<Arguments> goodLines() {
    return Stream.of(
        arguments("A=1", "1"),
        arguments("\ufeffA=1\r\n", "1"),
        arguments("  export A = 1  ", "1"),
        arguments("A=1 # a comment", "1"),
        arguments("A=1#2", "1#2"),
        arguments("A=1 \t # a comment", "1"),
        arguments("A=' 1 '", " 1 "),
        arguments("A=", ""),
        arguments("A=# nothing", ""),
        arguments("A=\"one two\" # a comment", "one two"),
        arguments("A=\"a \\\"b\\\" \\\\ c\\nd\"", "a \"b\" \\ c\nd"),
        arguments("A='a # \"b\" \\n'", "a # \"b\" \\n"),
        arguments("A={\"top_k\":40}", "{\"top_k\":40}"),
        arguments("# A=0\n\nA=1\nA=2", "2"),
        arguments("A=a=b", "a=b"));
  }

  private final List<String> warnings = new ArrayList<>();

  private Map<String, String> variables(String text) {
    return ConfigFile.variables(text, ".env", warnings);
  }

  @ParameterizedTest
  @MethodSource("goodLines")
  void readsOneValue(String text, String value) {
    assertThat(variables(text)).isEqualTo(Map.of("A", value));
    assertThat(warnings).isEmpty();
  }

  @Test
  void namesBadLinesByNumberOnly() {
    assertThat(variables("A=1\nsk-secret-key\nB=\"open\n1C=2\nD='a' b"))
        .isEqualTo(Map.of("A", "1"));
    assertThat(warnings)
        .containsExactly(
            ".env:2: not understood and skipped; expected NAME=value",
            ".env:3: not understood and skipped; expected NAME=value",
            ".env:4: not understood and skipped; expected NAME=value",
            ".env:5: not understood and skipped; expected NAME=value");
  }

  /** Each took a minute, or stack as the value is long. */
  @Test
  @Timeout(60)
  void longLinesAreReadInLinearTime() {
    int many = 400_000;
    assertThat(value("A=\"" + "x".repeat(many) + "\"")).hasSize(many);
    assertThat(value("A=\"" + "\\n".repeat(many) + "\"")).hasSize(many);
    assertThat(value("A=1" + " ".repeat(many) + "2")).hasSize(many + 2);
    assertThat(value("A=" + " ".repeat(many) + "\"open")).isNull();
  }

  private @Nullable String value(String line) {
    return variables(line).get("A");
  }

  @Test
  void warningsAreFew() {
    assertThat(variables("x\n".repeat(400_000))).isEmpty();
    assertThat(warnings)
        .hasSize(21)
        .endsWith("more LLM_ names or lines of the file have no effect");
  }

  @Test
  void refusesAFileThatCannotBeRead(@TempDir Path folder) throws Exception {
    Path loop = folder.resolve("loop");
    Files.createSymbolicLink(loop, loop);
    Path huge = folder.resolve("huge");
    try (RandomAccessFile file = new RandomAccessFile(huge.toFile(), "rw")) {
      file.setLength(1L << 40);
    }
    for (Path bad : List.of(folder, loop, huge, Path.of("/dev/zero"))) {
      assertThatThrownBy(() -> ConfigFile.text(bad.toString(), ".env"))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage(".env cannot be read; expected a readable file of settings, at most 1 MB");
    }
    assertThatThrownBy(() -> ConfigFile.text("no\nfile", "llm.env=no\nfile"))
        .as("a name with a line break")
        .hasMessageStartingWith("llm.env=no file cannot be read");
    Path binary = Files.write(folder.resolve(".env"), new byte[] {(byte) 0xff});
    assertThatThrownBy(() -> ConfigFile.text(binary.toString(), ".env"))
        .hasMessage(".env is not UTF-8 text; save it as UTF-8");
  }

  @Test
  void aRunCallsNothingButItsTarget() {
    GatlingConfiguration configuration = GatlingConfiguration.load();
    assertThat(configuration.data().enableAnalytics()).isFalse();
    assertThat(configuration.http().warmUpUrl().isEmpty()).isTrue();

    GatlingConfiguration defaults = GatlingConfiguration.loadForTest(List$.MODULE$.empty());
    assertThat(defaults.data().enableAnalytics()).isTrue();
    assertThat(defaults.http().warmUpUrl().isEmpty()).isFalse();
  }
}
