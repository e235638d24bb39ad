package io.github.gatlingllm.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gatlingllm.simulations.CheckedSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ConfigFileTest {

  @TempDir private Path folder;

  private Settings read(String text, String... properties) throws IOException {
    return settings(Files.writeString(folder.resolve("bench.conf"), text), properties);
  }

  private Settings settings(Path file, String... properties) {
    Map<String, String> all = CheckedSettings.named(properties);
    all.put("config", file.toString());
    return CheckedSettings.settings(all, Map.of("LLM_TOP_P", "0.2", "LLM_TURNS", "2"), folder);
  }

  @Test
  void fileIsBetweenEnvironmentAndEnvFile() throws IOException {
    Files.writeString(folder.resolve(".env"), "LLM_SEED=4\nLLM_REQUESTS=4\nLLM_DRAIN=\n");
    Settings set = read("maxTokens = 3, topP = 0.3, seed = 3, turns = 3", "maxTokens=1", "turns=1");
    assertThat(set.text(Setting.MAX_TOKENS)).isEqualTo("1");
    assertThat(set.text(Setting.TURNS)).isEqualTo("1");
    assertThat(set.text(Setting.TOP_P)).isEqualTo("0.2");
    assertThat(set.isExplicit(Setting.TOP_P)).isFalse();
    assertThat(set.text(Setting.SEED)).isEqualTo("3");
    assertThat(set.isExplicit(Setting.SEED)).isTrue();
    assertThat(set.text(Setting.REQUESTS)).isEqualTo("4");
    assertThat(set.isOfEnvFile(Setting.REQUESTS)).isTrue();
    assertThat(set.text(Setting.DRAIN)).isNull();
    assertThat(set.warnings()).isEmpty();
    assertThat(set.shown()).containsEntry("seed", "3").containsKey("config");
  }

  @Test
  void hoconHasListsObjectsIncludesAndVariables() throws IOException {
    Files.createDirectory(folder.resolve("parts"));
    Files.writeString(folder.resolve("parts/server.conf"), "model = a, drain = 3\ninclude \"x\"");
    Files.writeString(folder.resolve("parts/x"), "maxTokens = 8");
    Settings set =
        read(
            """
            include "parts/server.conf"
            concurrency = [1, 2, 4]
            body { top_k = 40 }
            header { X-Tenant = acme }
            "header.X-Zone" = b
            prompt = ${PATH}
            sharedPrefix = ${?GATLING_LLM_NOT_SET}
            drain = null
            duration = 1.5m
            """);
    assertThat(set.get(Setting.CONCURRENCY)).containsExactly(1, 2, 4);
    assertThat(set.text(Setting.BODY)).isEqualTo("{\"top_k\":40}");
    assertThat(set.headers()).isEqualTo(Map.of("X-Tenant", "acme", "X-Zone", "b"));
    assertThat(set.text(Setting.PROMPT)).isEqualTo(System.getenv("PATH"));
    assertThat(set.get(Setting.MODEL).names()).containsExactly("a");
    assertThat(set.get(Setting.MAX_TOKENS)).hasToString("[exactly 8 tokens]");
    assertThat(set.get(Setting.DURATION)).hasSeconds(90);
    assertThat(set.isSet(Setting.DRAIN)).isFalse();
    assertThat(set.isSet(Setting.SHARED_PREFIX)).isFalse();
    assertThat(
            settings(Files.writeString(folder.resolve("a.json"), "{\"seed\": 5}"))
                .get(Setting.SEED))
        .isEqualTo(5);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "seed = 1\\n"
            + "maxTokes = 3 | bench.conf:2: maxTokes is not a setting; did you mean maxTokens?",
        "llm.seed = 1 | bench.conf:1: llm.seed is not a setting; did you mean seed?",
        "headers { X = 1 } | bench.conf:1: headers.X is not a setting; did you mean header.<Name>?",
        "\\n\\nmodel = \"\" | bench.conf:3: model is empty",
        "config = other.conf | bench.conf:1: config ",
        "seed = 1\\nendpoint = http://a:1/v1 | bench.conf:2: ",
        "seed = 1\\nprompt = ${GATLING_LLM_NOT_SET} | bench.conf:2: ",
        "seed = 1\\ninclude \"part.conf\" | part.conf:2: max is not a setting; did you mean ",
        "include \"missing.conf\" | llm.config=",
        "include \"http://127.0.0.1:1/x.conf\" | llm.config=",
        "include \"bench.conf\" | bench.conf: ",
        "include \"/dev/zero\" | /dev/zero cannot be read",
        "a = DEEP | llm.config=",
        "apiKey = sk-one,sk-two | bench.conf:1", // the comma makes a key of what follows it
      })
  void aMistakeIsOneLineWithFileAndLine(String text, String message) throws IOException {
    Files.writeString(folder.resolve("part.conf"), "seed = 2\nmax = 1");
    assertThatThrownBy(() -> read(text.replace("\\n", "\n").replace("DEEP", "[".repeat(100_000))))
        .isInstanceOf(IllegalArgumentException.class)
        .message()
        .matches(line -> line.startsWith(message) || line.startsWith(folder + "/" + message))
        .doesNotContain("\n", "sk-")
        .hasSizeLessThan(200 + folder.toString().length());
  }

  @Test
  void aWrongValueNamesFileAndLine() throws IOException {
    assertThatThrownBy(read("seed = 1\nrequests = none")::check)
        .hasMessageContaining("bench.conf:2");
  }

  @ParameterizedTest
  @ValueSource(strings = {"missing.conf", ""})
  void refusesWhatIsNoFile(String name) {
    assertThatThrownBy(() -> settings(folder.resolve(name)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("llm.config=");
    assertThatThrownBy(
            () ->
                new Settings(
                    Map.of("llm.env", folder.resolve(name).toString()), Map.of(), Path.of(".env")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("llm.env=");
  }

  @Test
  void anotherEnvFileReplacesTheOneThatLiesAround() throws IOException {
    Files.writeString(folder.resolve(".env"), "LLM_SEED=1\nLLM_TURNS=1");
    Path other = Files.writeString(folder.resolve("b.env"), "MODEL=b\nLLM_SEED=2\nLLM_FOO=1");
    Settings set =
        new Settings(Map.of(), Map.of("LLM_ENV", other.toString()), folder.resolve(".env"));
    assertThat(set.get(Setting.SEED)).isEqualTo(2);
    assertThat(set.isSet(Setting.TURNS)).isFalse();
    assertThat(set.isOfEnvFile(Setting.MODEL)).isFalse();
    assertThat(set.warnings()).singleElement().asString().contains("LLM_FOO in " + other);
    Files.writeString(folder.resolve(".env"), "LLM_CONFIG=" + folder.resolve("c.conf"));
    Files.writeString(folder.resolve("c.conf"), "seed = 3");
    assertThat(new Settings(Map.of(), Map.of(), folder.resolve(".env")).get(Setting.SEED))
        .isEqualTo(3);
  }

  @ParameterizedTest
  @ValueSource(strings = {"saved.conf", "saved.json"})
  void savedSettingsAreThoseOfTheRunWithoutSecrets(String name) throws IOException {
    Path saved = folder.resolve(name);
    Settings set =
        read(
            """
            apiKey = sk-secret-1
            endpoint = ["http://a:1/v1", "b=http://b:1/v1?api-key=sk-secret-1"]
            slo = ["ttft<200ms", "tpot<50ms"]
            body { user = "sk-secret-1" }
            header { Authorization = "Basic abc", X-Tenant = "a \\"b\\"" }
            lengths = balanced
            """,
            "saveConfig=" + saved,
            "dryRun=true",
            "seed=7");
    set.preset(Map.of(Setting.PROMPT_TOKENS, "1024"));
    set.save();
    assertThat(saved).content().doesNotContain("sk-secret").doesNotContain("Basic");
    Settings again = new Settings(Map.of("llm.config", saved.toString()), Map.of(), saved);
    assertThat(again.shown())
        .containsOnlyKeys("config", "slo", "lengths", "seed", "topP", "turns", "header.X-Tenant");
    assertThat(again.headers()).isEqualTo(Map.of("X-Tenant", "a \"b\""));
    for (Setting<?> each : List.of(Setting.SLO, Setting.LENGTHS, Setting.SEED)) {
      assertThat(again.text(each)).isEqualTo(set.text(each));
    }
    assertThatThrownBy(read("seed = 1", "saveConfig=" + folder)::save)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("llm.saveConfig=");
  }
}
