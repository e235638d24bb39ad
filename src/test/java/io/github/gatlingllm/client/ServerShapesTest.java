package io.github.gatlingllm.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Streams as servers send them: {@code wire/<server>.sse}, and what each must push in {@code
 * wire/<server>.txt} (⏎ stands for a line feed in a text).
 */
class ServerShapesTest {

  private static final Path FOLDER = Path.of("src/test/resources/wire");

  static List<String> servers() throws IOException {
    try (Stream<Path> files = Files.list(FOLDER)) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> name.endsWith(".sse"))
          .map(name -> name.replace(".sse", ""))
          .toList();
    }
  }

  @Test
  void everyServerIsThere() throws IOException {
    assertThat(servers())
        .contains("openai", "vllm-continuous-usage", "sglang-multi-token", "tgi", "llama-cpp")
        .contains("transformers-serve", "ollama-zeros", "groq", "openrouter", "azure")
        .contains("dynamo-error", "openai-responses", "vllm-0.32-responses")
        .contains("anthropic-messages", "vllm-0.32-messages");
    assertThat(new String(stream("azure"), UTF_8)).contains("\r\n\r\n").doesNotContain("\n\n");
  }

  @ParameterizedTest
  @MethodSource("servers")
  void itsOriginIsNamed(String server) throws IOException {
    assertThat(Files.readAllLines(FOLDER.resolve("README.md")))
        .as("a row of README.md")
        .filteredOn(line -> line.startsWith("| `" + server + "` | "))
        .singleElement()
        .asString()
        .matches(".*\\| (by hand|recorded.*) \\|");
  }

  @ParameterizedTest
  @MethodSource("servers")
  void splitAtEveryByte(String server) throws IOException {
    byte[] stream = stream(server);
    List<String> expected = expected(server);
    for (int split = 0; split <= stream.length; split++) {
      List<byte[]> reads =
          List.of(Arrays.copyOf(stream, split), Arrays.copyOfRange(stream, split, stream.length));
      assertThat(Pushes.ofReads(api(server), reads)).as("split at %d", split).isEqualTo(expected);
    }
    List<byte[]> single =
        IntStream.range(0, stream.length).mapToObj(i -> new byte[] {stream[i]}).toList();
    assertThat(Pushes.ofReads(api(server), single)).as("byte by byte").isEqualTo(expected);
  }

  @ParameterizedTest
  @MethodSource("servers")
  void cutAtEveryByte(String server) throws IOException {
    byte[] stream = stream(server);
    List<String> expected = expected(server);
    for (int cut = 0; cut < stream.length; cut++) {
      List<String> pushes = Pushes.ofReads(api(server), List.of(Arrays.copyOf(stream, cut)));
      assertThat(pushes).as("cut at %d", cut).isEqualTo(expected.subList(0, pushes.size()));
    }
  }

  private static Api api(String server) {
    return server.contains("-responses")
        ? Api.RESPONSES
        : server.contains("-messages") ? Api.MESSAGES : Api.CHAT;
  }

  private static byte[] stream(String server) throws IOException {
    return Files.readAllBytes(FOLDER.resolve(server + ".sse"));
  }

  private static List<String> expected(String server) throws IOException {
    return Files.readAllLines(FOLDER.resolve(server + ".txt")).stream()
        .map(line -> line.replace('⏎', '\n'))
        .toList();
  }
}
