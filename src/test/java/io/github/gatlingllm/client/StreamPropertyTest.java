package io.github.gatlingllm.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.Size;

/** What holds for any stream of events, likely or not. */
class StreamPropertyTest {

  /** However a network cuts a stream into reads, decoder and parser say the same. */
  @Property
  void anySplitGivesTheSameResult(
      @ForAll("streams") String stream, @ForAll @Size(max = 12) List<Integer> cuts) {
    byte[] bytes = stream.getBytes(UTF_8);
    List<byte[]> reads = new ArrayList<>();
    int from = 0;
    for (int to :
        cuts.stream().map(cut -> Math.floorMod(cut, bytes.length + 1)).sorted().toList()) {
      reads.add(Arrays.copyOfRange(bytes, from, to));
      from = to;
    }
    reads.add(Arrays.copyOfRange(bytes, from, bytes.length));
    assertThat(Pushes.ofReads(reads)).isEqualTo(Pushes.ofStream(bytes));
  }

  @Provide
  Arbitrary<String> streams() {
    Arbitrary<String> text =
        Arbitraries.of("", "a", "é", "😀", "\\n", "\\u00e9", "\\ud83d\\ude00", "{", "]", "data:");
    Arbitrary<String> chunk =
        text.map(part -> "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" + part + "\"}}]}");
    Arbitrary<String> usage =
        Arbitraries.integers()
            .map(count -> "{\"choices\":[],\"usage\":{\"completion_tokens\":" + count + "}}");
    Arbitrary<String> data =
        Arbitraries.oneOf(chunk, usage, Arbitraries.of("[DONE]", "{}", "{", "", "\u2028"));
    Arbitrary<String> line =
        Arbitraries.oneOf(
            data.map(value -> "data: " + value),
            data.map(value -> "data:" + value),
            Arbitraries.of(": beat", "event: error", "event: ping", "id: 1", "data", "\uFEFF", ""));
    Arbitrary<String> end = Arbitraries.of("\n", "\n\n", "\r\n", "\r\n\r\n", "\r", "\r\r", "");
    return line.flatMap(some -> end.map(ending -> some + ending))
        .list()
        .ofMaxSize(20)
        .map(lines -> String.join("", lines));
  }
}
