package io.github.gatlingllm.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The parser against a reference that reads Jackson's tree, on seeded random chunks. */
class ChunkParserDifferentialTest {

  private static final int CHUNKS = 600;

  static IntStream seeds() {
    return IntStream.range(0, 10);
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void randomChunks(int seed) {
    RandomChunks chunks = new RandomChunks(new Random(seed));
    Stream stream = new Stream();
    for (int i = 0; i < CHUNKS; i++) {
      stream.check(chunks.text(chunks.chunk(), seed));
    }
    assertThat(stream.deltas).as("chunks that push text").isGreaterThan(CHUNKS / 10);
  }

  /** Streams whose chunks repeat each other but for the text, with near misses in between. */
  @ParameterizedTest
  @MethodSource("seeds")
  void repeatedChunksAndNearMisses(int seed) {
    Random random = new Random(seed);
    RandomChunks chunks = new RandomChunks(random);
    Stream stream = new Stream();
    for (int i = 0; i < CHUNKS / 10; i++) {
      JsonNode chunk = random.nextBoolean() ? chunks.plainChunk() : chunks.chunk();
      int layout = random.nextInt();
      for (int repeat = 0; repeat < 10; repeat++) {
        chunks.renewTexts(chunk);
        String text = chunks.text(chunk, layout);
        stream.check(random.nextInt(4) == 0 ? chunks.nearMiss(text) : text);
      }
    }
    assertThat(stream.deltas).isGreaterThan(CHUNKS / 4);
  }

  /** What Jackson reads is never called malformed; what was cut always is. */
  @ParameterizedTest
  @MethodSource("seeds")
  void damagedChunks(int seed) {
    Random random = new Random(seed);
    RandomChunks chunks = new RandomChunks(random);
    int malformed = 0;
    for (int i = 0; i < CHUNKS; i++) {
      byte[] bytes = chunks.text(chunks.plainChunk(), seed).strip().getBytes(UTF_8);
      int cut = 1 + random.nextInt(bytes.length - 1);
      assertThat(Pushes.ofBody(Arrays.copyOf(bytes, cut)))
          .as("cut at %d: %s", cut, new String(bytes, UTF_8))
          .anyMatch(line -> line.startsWith("malformed"))
          .last()
          .isEqualTo("end");
      bytes[random.nextInt(bytes.length)] = (byte) "{}[]\",:\\ x0".charAt(random.nextInt(11));
      List<String> pushes = Pushes.ofBody(bytes);
      if (pushes.stream().anyMatch(line -> line.startsWith("malformed"))) {
        malformed++;
        assertThat(TreeReference.isObject(bytes)).as(new String(bytes, UTF_8)).isFalse();
      }
    }
    assertThat(malformed).isBetween(CHUNKS / 10, CHUNKS);
  }

  @Test
  void nearMissesByHand() {
    Stream stream = new Stream();
    String before = "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"";
    String after = "\"},\"finish_reason\":null}]}";
    List<String> texts = new ArrayList<>(List.of("a", "b", "", "\\\"", "\\\\", "x\\\\\\\"y"));
    texts.add("\"},\"usage\":{\"prompt_tokens\":1},\"x\":{\"a\":\"");
    texts.add("a\",\"refusal\":\"b");
    texts.add("a\"}}],\"usage\":{\"prompt_tokens\":1},\"y\":[{\"x\":{\"c\":\"b");
    texts.add("c");
    for (String text : texts) {
      stream.check(before + text + after);
    }
    for (String near :
        List.of(
            before + "a\\" + after,
            before + "a" + after + "}",
            before + "a" + after.replace("null", "\"stop\""),
            before.replace('0', '1') + "a" + after,
            before + "a" + after.replace("}]}", "}],\"usage\":{\"prompt_tokens\":1}}"),
            before + after.substring(1),
            before + "a" + after + " ",
            " " + before + "a" + after)) {
      stream.check(before + "a" + after);
      stream.check(near);
    }
  }

  /** One parser that keeps what it learned, and the reference beside it. */
  private static final class Stream {
    private final Pushes pushes = new Pushes();
    private final ChunkParser parser = ChunkParser.of(Api.CHAT, pushes);
    private int deltas;

    void check(String data) {
      byte[] bytes = data.getBytes(UTF_8);
      parser.event(null, bytes, 0, bytes.length);
      List<String> actual = pushes.take();
      if (data.isBlank()) {
        assertThat(actual).containsExactly("end");
        return;
      }
      if (!TreeReference.isObject(bytes)) {
        assertThat(actual).as(data).anyMatch(line -> line.startsWith("malformed"));
        return;
      }
      assertThat(actual).as(data).isEqualTo(TreeReference.pushes(bytes));
      deltas += actual.size() > 1 ? 1 : 0;
    }
  }
}
