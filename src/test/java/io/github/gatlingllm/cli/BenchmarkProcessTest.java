package io.github.gatlingllm.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

import io.github.gatlingllm.record.JvmOptions;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BenchmarkProcessTest {

  @Test
  void optionsAreSettings() {
    BenchmarkProcess process =
        BenchmarkProcess.of(
            List.of(
                "--endpoint",
                "http://localhost:8000/v1",
                "--max-tokens=64",
                "--maxInFlight",
                "4",
                "--dry-run",
                "--header.X-tenant",
                "a",
                "--rate",
                "-1"));

    assertThat(process.settings())
        .containsExactly(
            entry("endpoint", "http://localhost:8000/v1"),
            entry("maxTokens", "64"),
            entry("maxInFlight", "4"),
            entry("dryRun", "true"),
            entry("header.X-tenant", "a"),
            entry("rate", "-1"));
    assertThat(process.results()).isEqualTo("results");
  }

  @Test
  void runsGatlingWithTheRecommendedOptionsOfTheJvmAndThoseAsked() {
    List<String> command =
        BenchmarkProcess.of(
                List.of("--requests", "5", "--results", "out", "--jvm", "-Xmx4g -Xmn2g"))
            .command();

    assertThat(command).containsSubsequence(JvmOptions.RECOMMENDED);
    assertThat(command).containsSubsequence("-Xmx1g", "-Xmx4g", "-Xmn2g", "-Dllm.requests=5");
    assertThat(command)
        .endsWith(
            "io.gatling.app.Gatling",
            "-s",
            "io.github.gatlingllm.simulations.Benchmark",
            "-rf",
            "out");
    assertThat(command).noneMatch(word -> word.contains("llm.results") || word.contains("llm.jvm"));
  }

  @Test
  void keyIsNoWordOfTheCommandThatOthersSee() {
    assertThat(BenchmarkProcess.of(List.of("--api-key", "sk-secret")).command())
        .noneMatch(word -> word.contains("sk-secret"));
  }

  @ParameterizedTest
  @CsvSource({
    "endpoint, 'endpoint is no setting; expected --<setting> <value>, see --help'",
    "--, '-- is no setting; expected --<setting> <value>, see --help'",
    "--=3, '--=3 is no setting; expected --<setting> <value>, see --help'",
    "--seed=1 --seed=2, '--seed is given twice'"
  })
  void whatIsNoSettingIsNamed(String arguments, String message) {
    assertThatThrownBy(() -> BenchmarkProcess.of(List.of(arguments.split(" ", -1))))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(message);
  }
}
