package io.github.gatlingllm.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class SseDecoderTest {

  static Stream<Arguments> streams() {
    return Stream.of(
        // P1: line ends and byte order mark
        arguments("LF", "data: a\n\ndata: b\n\n", List.of("a", "b")),
        arguments("CRLF", "data: a\r\n\r\ndata: b\r\n\r\n", List.of("a", "b")),
        arguments("CR", "data: a\r\rdata: b\r\r", List.of("a", "b")),
        arguments("mixed", "data: a\r\n\ndata: b\n\rdata: c\r\r\n", List.of("a", "b", "c")),
        arguments(
            "all, with é",
            "data:é\r\ndata:b\r\n\r\n:c\r\rdata: {\"x\":1}\n\n",
            List.of("é\nb", "{\"x\":1}")),
        arguments("byte order mark", "\uFEFFdata: a\n\n", List.of("a")),
        arguments("a second mark is data", "\uFEFF\uFEFFdata: a\n\ndata: b\n\n", List.of("b")),
        // P2: fields
        arguments("no space", "data:x\n\n", List.of("x")),
        arguments("one space", "data: x\n\n", List.of("x")),
        arguments("two spaces", "data:  x\n\n", List.of(" x")),
        arguments("bare data", "data\n\n", List.of("")),
        arguments("bare data twice", "data\ndata\n\n", List.of("\n")),
        arguments("empty data", "data:\n\n", List.of("")),
        arguments("unknown fields", "foo: 1\ndatax: 2\nDATA: 3\n\n", List.of()),
        arguments("id and retry", "id: 1\nretry: 10\nretry: soon\ndata: x\n\n", List.of("x")),
        arguments("event field", "event: error\ndata: x\n\ndata: y\n\n", List.of("error|x", "y")),
        arguments("event after data", "data: x\nevent: ping\n\n", List.of("ping|x")),
        arguments("empty event field", "event: a\nevent:\ndata: x\n\n", List.of("x")),
        arguments("error without data", "event: error\n\ndata: y\n\n", List.of("error|", "y")),
        arguments("colon in value", "data: a:b\n\n", List.of("a:b")),
        // P3: several lines
        arguments("joined", "data: a\ndata: b\n\n", List.of("a\nb")),
        arguments("joined, other between", "data: a\nid: 1\n: c\ndata:\n\n", List.of("a\n")),
        arguments("comment", ": OPENROUTER PROCESSING\n\n", List.of()),
        arguments("blank lines", "\n\n", List.of()),
        arguments("event without data", "event: ping\n\n", List.of()),
        // P20: line breaks elsewhere, not here
        arguments(
            "U+2028",
            "data: a\u2028b\u2029c\u0085d\u000Be\u000Cf\n\n",
            List.of("a\u2028b\u2029c\u0085d\u000Be\u000Cf")),
        // the end of the stream
        arguments("blank line missing", "data: {\"a\":1}\n", List.of("{\"a\":1}")),
        arguments("line end missing", "data: {\"a\":1}", List.of("{\"a\":1}")),
        arguments("done without line end", "data: [DONE]", List.of("[DONE]")),
        arguments("only a mark before", "\uFEFFdata: [DONE]", List.of("[DONE]")),
        arguments("two lines, complete", "data: {\ndata: }", List.of("{\n}")),
        arguments("type kept at the end", "event: error\ndata: {}", List.of("error|{}")),
        arguments("cut data", "data: {\"a\":\"}", List.of()),
        arguments("cut done", "data: [DON", List.of()),
        arguments("cut after the line", "data: {\"a\":\n", List.of()),
        arguments("second line cut", "data: {}\ndata: {\"a\"", List.of()),
        arguments("cut field name", "data: {}\n\ndat", List.of("{}")),
        arguments("a number may be cut", "data: 12", List.of()),
        arguments("cut event line", "data: {}\nevent: err", List.of("{}")),
        arguments("nothing", "", List.of()));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("streams")
  void streamTable(String name, String stream, List<String> expected) {
    assertThat(decode(stream.getBytes(UTF_8), 1_000)).isEqualTo(expected);
    assertThat(decode(stream.getBytes(UTF_8), 1)).as("byte by byte").isEqualTo(expected);
  }

  @Test
  void eventComesWithItsLastByte() {
    Events events = new Events();
    SseDecoder decoder = new SseDecoder(events, new AnswerMemory());
    byte[] stream = "data: a\r\n\r\n".getBytes(UTF_8);
    decoder.feed(stream, 0, stream.length - 2);
    assertThat(events.lines).isEmpty();
    // The carriage return already ends the line: the line feed after it has no meaning.
    decoder.feed(stream, stream.length - 2, 1);
    assertThat(events.lines).containsExactly("a");
    decoder.feed(stream, stream.length - 1, 1);
    assertThat(events.lines).containsExactly("a");
  }

  @Test
  void completeEventStaysInPlace() {
    byte[] read = "data: a\n\ndata: b\nid: 1\n\ndata: c".getBytes(UTF_8);
    byte[] rest = "\n\n".getBytes(UTF_8);
    List<Boolean> inPlace = new ArrayList<>();
    SseDecoder decoder =
        new SseDecoder(
            new Events() {
              @Override
              void event(@Nullable String type, byte[] buffer, int offset, int length) {
                inPlace.add(buffer == read);
              }
            },
            new AnswerMemory());
    decoder.feed(read, 0, read.length);
    decoder.feed(rest, 0, rest.length);
    assertThat(inPlace).containsExactly(true, true, false);
  }

  private static List<String> decode(byte[] stream, int step) {
    Events events = new Events();
    SseDecoder decoder = new SseDecoder(events, new AnswerMemory());
    for (int from = 0; from < stream.length; from += step) {
      byte[] read = Arrays.copyOfRange(stream, from, Math.min(stream.length, from + step));
      decoder.feed(read, 0, read.length);
      Arrays.fill(read, (byte) '?'); // The decoder must not go back to it.
    }
    decoder.endOfStream();
    return events.lines;
  }

  private static class Events extends ChunkParser {
    private final List<String> lines = new ArrayList<>();

    Events() {
      super(new Pushes(), false);
    }

    @Override
    void document() {}

    @Override
    void event(@Nullable String type, byte[] buffer, int offset, int length) {
      lines.add((type == null ? "" : type + "|") + new String(buffer, offset, length, UTF_8));
    }
  }
}
