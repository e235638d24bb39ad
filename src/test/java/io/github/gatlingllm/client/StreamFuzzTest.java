package io.github.gatlingllm.client;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.api.FuzzedDataProvider;
import com.code_intelligence.jazzer.junit.FuzzTest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Bytes of a server, guided by what they make the decoder and the parser do. A build plays the
 * inputs that are kept in {@code StreamFuzzTestInputs}; the POM states how to look for more.
 */
class StreamFuzzTest {

  private static final int MAX_BYTES = 1 << 14;

  @FuzzTest
  void splitStream(FuzzedDataProvider data) {
    int[] cuts = data.consumeInts(8);
    byte[] stream = data.consumeBytes(MAX_BYTES);
    List<byte[]> reads = new ArrayList<>();
    int from = 0;
    int[] places =
        Arrays.stream(cuts).map(cut -> Math.floorMod(cut, stream.length + 1)).sorted().toArray();
    for (int to : places) {
      reads.add(Arrays.copyOfRange(stream, from, to));
      from = to;
    }
    reads.add(Arrays.copyOfRange(stream, from, stream.length));
    assertThat(Pushes.ofReads(reads)).isEqualTo(Pushes.ofReads(List.of(stream)));
  }

  /** What was read before is compared with, and must not change what is pushed. */
  @FuzzTest
  void chunkAfterChunk(FuzzedDataProvider data) {
    Pushes pushes = new Pushes();
    ChunkParser parser = Api.CHAT.parser(pushes);
    for (int i = 0; i < 4; i++) {
      byte[] chunk =
          i < 3 ? data.consumeBytes(data.consumeInt(0, 512)) : data.consumeRemainingAsBytes();
      for (int again = 0; again < 2; again++) {
        parser.event(null, chunk, 0, chunk.length);
        List<String> taken = pushes.take();
        Api.CHAT.parser(pushes).event(null, chunk, 0, chunk.length);
        assertThat(taken).isEqualTo(pushes.take());
      }
    }
  }
}
