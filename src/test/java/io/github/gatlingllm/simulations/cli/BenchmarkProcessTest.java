package io.github.gatlingllm.simulations.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

import io.github.gatlingllm.record.InjectorRun.InjectorEnd;
import io.github.gatlingllm.record.InjectorRun.InjectorShare;
import io.github.gatlingllm.record.SelfTest.JvmOptions;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class BenchmarkProcessTest {

  @TempDir Path dir;

  @Test
  void aHomeThatCannotBeWrittenGetsNoPreferences() throws IOException {
    String home = System.getProperty("user.home");
    String preferences = "-Djava.util.prefs.userRoot=" + dir;
    try {
      System.setProperty("user.home", dir.resolve("none").toString());
      assertThat(BenchmarkProcess.of(List.of()).command(dir)).contains(preferences);
      assertThat(dir.resolve(".java/.userPrefs")).as("or its creation is logged").isDirectory();
      System.setProperty("user.home", dir.toString());
      assertThat(BenchmarkProcess.of(List.of()).command(dir)).doesNotContain(preferences);
    } finally {
      System.setProperty("user.home", home);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--no-such-setting=1 --injector=2/3",
        "--simulation=my.Chat --injector=2/3",
        "--config=DIR/a.conf"
      })
  void injectorThatFailsBeforeItsRunLeavesAMarker(String mistake) throws IOException {
    Files.writeString(dir.resolve("a.conf"), "injector = 2/3\nconcurrency = 0");
    String arguments = mistake.replace("DIR", dir.toString()) + " --results=" + dir;

    assertThat(BenchmarkProcess.run(List.of(arguments.split(" ", -1)))).isEqualTo(1);
    assertThat(InjectorEnd.read(dir.resolve("injector-2-of-3/llm/ended.json")))
        .isEqualTo(new InjectorEnd(new InjectorShare(2, 3), 1));
  }

  @Test
  void optionsAreSettings() {
    BenchmarkProcess process =
        BenchmarkProcess.of(
            List.of(
                ("--endpoint http://localhost:8000/v1 --max-tokens=64 --maxInFlight 4 --dry-run"
                        + " --header.X-tenant a --class.my-chat.max-tokens 9"
                        + " --class.b.header.X-a b --rate -1")
                    .split(" ", -1)));

    assertThat(process.settings())
        .containsExactly(
            entry("endpoint", "http://localhost:8000/v1"),
            entry("maxTokens", "64"),
            entry("maxInFlight", "4"),
            entry("dryRun", "true"),
            entry("header.X-tenant", "a"),
            entry("class.my-chat.maxTokens", "9"),
            entry("class.b.header.X-a", "b"),
            entry("rate", "-1"));
    assertThat(process.results()).isEqualTo("results");
  }

  @Test
  void runsGatlingWithTheRecommendedJvmOptionsAndThoseOfTheUser() throws IOException {
    List<String> command =
        BenchmarkProcess.of(
                List.of("--requests", "5", "--results", "out", "--jvm", "-Xmx4g -Xmn2g"))
            .command(dir);

    assertThat(command).containsSubsequence(JvmOptions.ofRunsHere());
    assertThat(command).containsSubsequence("-Xmx1g", "-Xmx4g", "-Xmn2g", "-Dllm.requests=5");
    assertThat(command)
        .endsWith(
            "io.github.gatlingllm.simulations.Benchmark",
            "-s",
            "io.github.gatlingllm.simulations.Benchmark",
            "-rf",
            "out");
    assertThat(command).noneMatch(word -> word.contains("llm.results") || word.contains("llm.jvm"));
  }

  @Test
  void theCommandDoesNotContainTheKey() throws IOException {
    assertThat(BenchmarkProcess.of(List.of("--api-key", "sk-secret")).command(dir))
        .noneMatch(word -> word.contains("sk-secret"));
  }

  @ParameterizedTest
  @CsvSource({
    "endpoint, 'endpoint is not a setting; expected --<setting> <value>, see --help'",
    "--, '-- is not a setting; expected --<setting> <value>, see --help'",
    "--=3, '--=3 is not a setting; expected --<setting> <value>, see --help'",
    "--seed=1 --seed=2, '--seed is given twice'"
  })
  void refusesArgumentsThatAreNotSettings(String arguments, String message) {
    assertThatThrownBy(() -> BenchmarkProcess.of(List.of(arguments.split(" ", -1))))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(message);
  }

  @Test
  void runsAClassOfTheClassPath() throws IOException {
    List<String> options = List.of("--simulation", "my.Chat", "--rate=2", "--class-path=my.jar");
    assertThat(BenchmarkProcess.of(options).command(dir))
        .containsSubsequence("-Dllm.rate=2", "-cp")
        .contains(System.getProperty("java.class.path") + File.pathSeparator + "my.jar")
        .containsSubsequence("io.gatling.app.Gatling", "-s", "my.Chat", "-rf")
        .noneMatch(word -> word.matches("-Dllm.(simulation|classPath).*"));
  }

  @Test
  void compilesASimulationThatIsSource() throws IOException {
    Path example = Path.of("deploy/kubernetes/components/simulation/ChatSimulation.java");

    assertThat(BenchmarkProcess.of(List.of("--simulation=" + example)).command(dir))
        .contains(System.getProperty("java.class.path") + File.pathSeparator + dir)
        .containsSubsequence("-s", "ChatSimulation");
    assertThat(dir.resolve("ChatSimulation.class")).exists();
  }

  @Test
  void sourceMayHaveAPackageAndSourcesBesideIt() throws IOException {
    Path sources = Files.createDirectories(dir.resolve("sources"));
    Path classes = Files.createDirectories(dir.resolve("classes"));
    Files.writeString(sources.resolve("Texts.java"), "class Texts { static String A = \"a\"; }");
    Path one = Files.writeString(sources.resolve("One.java"), "class One { String a = Texts.A; }");
    Path two = Files.writeString(sources.resolve("Two.java"), "package demo; class Two {}");

    assertThat(BenchmarkProcess.compile(one, classes)).isEqualTo("One");
    assertThat(BenchmarkProcess.compile(two, classes)).isEqualTo("demo.Two");
  }

  @Test
  void compilerErrorsAreReported() throws IOException {
    Path broken = Files.writeString(dir.resolve("Broken.java"), "class Broken { int x = y; }");
    Path other = Files.writeString(dir.resolve("Other.java"), "class Another {}");

    assertThatThrownBy(() -> BenchmarkProcess.compile(broken, dir))
        .hasMessageStartingWith(broken + ":1: error: cannot find symbol");
    assertThatThrownBy(() -> BenchmarkProcess.compile(other, dir))
        .hasMessage("--simulation " + other + " has no class of the file's name");
    assertThatThrownBy(() -> BenchmarkProcess.compile(dir.resolve("None.java"), dir))
        .hasMessage("--simulation " + dir.resolve("None.java") + ": file not found");
  }
}
