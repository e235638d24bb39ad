package io.github.gatlingllm.record;

import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PrintableTextTest {

  @ParameterizedTest
  @CsvSource(
      ignoreLeadingAndTrailingWhitespace = false,
      delimiter = '>',
      textBlock =
          """
          ::error::x>: :error::x
            ::add-mask::a>  : :add-mask::a
          out of memory::Stop-Commands::t>out of memory: :Stop-Commands::t
          ::warning file=a,line=1::x>: :warning file=a,line=1::x
          ##vso[task.setvariable]a># #vso[task.setvariable]a
          ##[error]a># #[error]a
          ##teamcity[a]># #teamcity[a]
          std::errors and c10::Error of ::1>std::errors and c10: :Error of ::1
          fe80::1:8000, ## 3 ##>fe80::1:8000, ## 3 ##
          """)
  void commandsToACiRunnerAreBroken(String text, String printed) {
    assertThat(PrintableText.of(text)).isEqualTo(printed);
  }

  @Test
  void controlCharactersAreEscaped() {
    assertThat(PrintableText.of("\u001b[2J\u0007\u0000\u009b1\u202e\u2066\ufeff\u2028\ud800\r"))
        .isEqualTo("\\u001b[2J\\u0007\\u0000\\u009b1\\u202e\\u2066\\ufeff\\u2028\\ud800\\u000d");
    assertThat(PrintableText.of("a\n\tb é 漢 😀 \u200d")).isEqualTo("a\n\tb é 漢 😀 \u200d");
  }

  /** A text that is printed past it could command the CI runner or the terminal. */
  @Test
  void everyLineIsPrintedThroughIt() throws IOException {
    Path main = Path.of("src/main/java/io/github/gatlingllm");
    try (Stream<Path> files = Files.walk(main)) {
      Set<String> printing =
          files
              .filter(file -> file.toString().endsWith(".java"))
              .filter(PrintableTextTest::prints)
              .map(file -> main.relativize(file).toString())
              .collect(toSet());
      assertThat(printing)
          .as("classes that print; all but PrintableText and AfterRun print our own words only")
          .containsExactlyInAnyOrder(
              "action/InvalidSimulation.java",
              "record/PrintableText.java",
              "run/AfterRun.java",
              "simulations/cli/BenchmarkProcess.java",
              "simulations/cli/EngineCommand.java",
              "simulations/cli/GatlingLlm.java");
    }
  }

  private static boolean prints(Path file) {
    try {
      return Files.readString(file).matches("(?s).*(System\\.(out|err)|\\bout)(::|\\.)print.*");
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }
}
