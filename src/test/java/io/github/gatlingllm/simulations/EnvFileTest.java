package io.github.gatlingllm.simulations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.github.gatlingllm.action.InvalidSimulation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

final class EnvFileTest {

  static Stream<Arguments> goodLines() {
    return Stream.of(
        arguments("A=1", "1"),
        arguments("\ufeffA=1\r\n", "1"),
        arguments("  export A = 1  ", "1"),
        arguments("A=1 # a comment", "1"),
        arguments("A=1#2", "1#2"),
        arguments("A=", ""),
        arguments("A=# nothing", ""),
        arguments("A=\"one two\" # a comment", "one two"),
        arguments("A=\"a \\\"b\\\" \\\\ c\\nd\"", "a \"b\" \\ c\nd"),
        arguments("A='a # \"b\" \\n'", "a # \"b\" \\n"),
        arguments("A={\"top_k\":40}", "{\"top_k\":40}"),
        arguments("# A=0\n\nA=1\nA=2", "2"),
        arguments("A=a=b", "a=b"));
  }

  @ParameterizedTest
  @MethodSource("goodLines")
  void readsOneValue(String text, String value) {
    EnvFile file = EnvFile.parse(text);
    assertThat(file.values()).isEqualTo(Map.of("A", value));
    assertThat(file.warnings()).isEmpty();
  }

  @Test
  void namesBadLinesByNumberOnly() {
    EnvFile file = EnvFile.parse("A=1\nsk-secret-key\nB=\"open\n1C=2\nD='a' b");
    assertThat(file.values()).isEqualTo(Map.of("A", "1"));
    assertThat(file.warnings())
        .containsExactly(
            ".env:2: not understood and skipped; expected NAME=value",
            ".env:3: not understood and skipped; expected NAME=value",
            ".env:4: not understood and skipped; expected NAME=value",
            ".env:5: not understood and skipped; expected NAME=value");
  }

  @Test
  void noFileIsAnEmptyFile(@TempDir Path folder) {
    assertThat(EnvFile.read(folder.resolve(".env")).values()).isEmpty();
  }

  @Test
  void refusesAFileThatCannotBeRead(@TempDir Path folder) throws Exception {
    assertThatThrownBy(() -> EnvFile.read(folder))
        .isInstanceOf(InvalidSimulation.class)
        .hasMessage(
            ".env cannot be read; expected a readable file of NAME=value lines, at most 1 MB");
    Path binary = Files.write(folder.resolve(".env"), new byte[] {(byte) 0xff});
    assertThatThrownBy(() -> EnvFile.read(binary))
        .hasMessage(".env is not UTF-8 text; save it as UTF-8");
  }
}
