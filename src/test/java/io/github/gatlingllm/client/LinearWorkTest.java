package io.github.gatlingllm.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.github.gatlingllm.record.Timeline;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Twice as many bytes are copied at most twice as often, however the network cuts them: what is
 * kept grows by doubling, and is not copied again with each read.
 */
class LinearWorkTest {

  private static final int BYTES = 1 << 18;

  private static final String TOKEN = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n";

  private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  /** One line; lines of one event; events; a text that is not plain; nested and never closed. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "x",
        "data: x\n",
        TOKEN,
        "data: {\"choices\":[{\"delta\":{\"content\":\"\\u00e9\\n\"}}]}\n\n",
        "data: {\"a\":[\n",
        ":\n\n",
        "data: \uD83D\uDE00\r\n"
      })
  void workOfTwiceTheInput(String part) {
    for (int read : new int[] {1, 7, 4096}) {
      long warm = copied(part, BYTES, read);
      assertThat(warm).isNotNegative();
      long once = copied(part, BYTES, read);
      long twice = copied(part, 2 * BYTES, read);
      assertThat((double) twice).as("reads of %s bytes", read).isLessThan(2.5 * once + (1 << 17));
    }
  }

  /** Bytes of all that decoder, parser, texts and timeline make of a stream of such parts. */
  private long copied(String part, int length, int read) {
    byte[] one = part.getBytes(UTF_8);
    byte[] stream = new byte[length];
    for (int i = 0; i < length; i++) {
      stream[i] = one[i % one.length];
    }
    Timeline timeline = new Timeline(0, 0);
    timeline.admitted(0);
    ResponseBody body =
        ResponseBody.ofEvents(
            new ReceivedAnswer(timeline, GenerationRequest.of(Api.CHAT).prompt("Hi").build()));
    long before = threads.getCurrentThreadAllocatedBytes();
    for (int at = 0; at < length; at += read) {
      body.bytes(at, stream, at, Math.min(read, length - at));
    }
    return threads.getCurrentThreadAllocatedBytes() - before;
  }
}
