package io.github.gatlingllm.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RunDirectoryTest {

  @ParameterizedTest
  @CsvSource({
    "io.gatling.app.Gatling -rf /tmp/results -s demo, /tmp/results",
    "--results-folder out, out",
    "-s demo -rf a folder with spaces -nr, a folder with spaces",
  })
  void resultsFolderIsReadFromGatlingsArguments(String command, Path root) {
    assertThat(RunDirectory.root(command.split(" ", -1))).contains(root);
  }

  @ParameterizedTest
  @CsvSource({"-s demo", "-rf", "''"})
  void withoutOneTheDefaultApplies(String command) {
    assertThat(RunDirectory.root(command.split(" ", -1))).isEmpty();
  }

  @Test
  void anEngineWithoutARunIdIsRefusedInOneLine() {
    assertThatThrownBy(() -> RunDirectory.of(new Object()))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageStartingWith("Gatling's run id was not found; gatling-llm is made for Gatling")
        .message()
        .doesNotContain("\n");
  }
}
