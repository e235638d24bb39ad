package io.github.gatlingllm.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.github.gatlingllm.client.AnswerMemory.TooLarge;
import io.github.gatlingllm.figures.metric.Sentence;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class AnswerMemoryTest {
  private static final int MIB = 1 << 20;
  private static final byte[] ONE = new byte[MIB];

  private final AtomicLong total = new AtomicLong();

  private AnswerBytes bytes(AnswerMemory memory) {
    return new AnswerBytes("text", 16 * MIB, memory);
  }

  @Test
  void totalOfAllAnswersIsLimited() {
    AnswerMemory first = new AnswerMemory(total, 10 * MIB);
    fill(bytes(first), 8);
    AnswerMemory second = new AnswerMemory(total, 10 * MIB);
    AnswerBytes other = bytes(second);
    fill(other, 2);
    assertThatThrownBy(() -> fill(other, 1))
        .isInstanceOf(TooLarge.class)
        .hasMessage(Sentence.text("too_large", "answers", 10));
    first.release();
    first.release();
    assertThatCode(() -> fill(other, 6)).doesNotThrowAnyException();
  }

  @Test
  void clearedBytesAreNotCounted() {
    AnswerBytes bytes = bytes(new AnswerMemory(total, 10 * MIB));
    for (int i = 0; i < 20; i++) {
      fill(bytes, 8);
      bytes.clear();
    }
    fill(bytes(new AnswerMemory(total, 10 * MIB)), 8);
  }

  @Test
  void smallArraysAreNotCounted() {
    AnswerBytes bytes = bytes(new AnswerMemory(total, 0));
    bytes.append(ONE, 0, AnswerMemory.UNCOUNTED);
    assertThatThrownBy(() -> bytes.append((byte) 1)).isInstanceOf(TooLarge.class);
  }

  @Test
  void oneAnswerIsLimitedOverAllItsArrays() {
    AnswerMemory memory = new AnswerMemory(total, Long.MAX_VALUE);
    for (int i = 0; i < 4; i++) {
      fill(bytes(memory), 16);
    }
    assertThatThrownBy(() -> fill(bytes(memory), 1))
        .isInstanceOf(TooLarge.class)
        .hasMessage(Sentence.text("too_large", "answer", 64));
  }

  private static void fill(AnswerBytes bytes, int mebibytes) {
    for (int i = 0; i < mebibytes; i++) {
      bytes.append(ONE, 0, MIB);
    }
  }

  static Stream<Arguments> pieces() {
    return Stream.of(
        arguments(List.of(), ""),
        arguments(List.of("plain"), "plain"),
        arguments(List.of("a", "", "b"), "ab"),
        arguments(List.of("\\\"\\\\\\/\\b\\f\\n\\r\\t"), "\"\\/\b\f\n\r\t"),
        arguments(List.of("\\u0041\\u00e9\\u20AC\\u0000"), "Aé€\0"),
        arguments(List.of("raw é€😀"), "raw é€😀"),
        arguments(List.of("\\ud83d\\ude00"), "😀"),
        arguments(List.of("a\\ud83d", "\\ude00b"), "a😀b"),
        arguments(List.of("\\ud83d"), "\uFFFD"),
        arguments(List.of("\\ude00"), "\uFFFD"),
        arguments(List.of("\\ud83dx"), "\uFFFDx"),
        arguments(List.of("\\ud83d\\n"), "\uFFFD\n"),
        arguments(List.of("\\ud83d\\ud83d\\ude00"), "\uFFFD😀"),
        arguments(List.of("\\ude00\\ud83d"), "\uFFFD\uFFFD"),
        arguments(List.of("\\u12"), "u12"),
        arguments(List.of("\\u12zz"), "u12zz"),
        arguments(List.of("a\\"), "a\\"));
  }

  @ParameterizedTest
  @MethodSource("pieces")
  void textOfPieces(List<String> pieces, String text) {
    AnswerBytes buffer = AnswerBytes.ofText(new AnswerMemory());
    assertThat(buffer.isEmpty()).isTrue();
    for (String piece : pieces) {
      byte[] bytes = ("#" + piece + "#").getBytes(UTF_8);
      buffer.append(bytes, 1, bytes.length - 2);
    }
    assertThat(buffer.isEmpty()).isEqualTo(pieces.isEmpty());
    assertThat(buffer.text()).isEqualTo(text);
    assertThat(buffer.text()).as("again").isEqualTo(text);
  }

  @Test
  void bytesThatAreNotACompleteCharacter() {
    AnswerBytes buffer = AnswerBytes.ofText(new AnswerMemory());
    byte[] euro = "€".getBytes(UTF_8);
    buffer.append(euro, 0, 2);
    assertThat(buffer.text()).isEqualTo("\uFFFD");
    buffer.append(euro, 2, 1);
    buffer.append((byte) 0xE9);
    buffer.append((byte) '!');
    assertThat(buffer.text()).isEqualTo("€\uFFFD!");
  }
}
