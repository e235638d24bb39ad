package io.github.gatlingllm.client;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gatlingllm.client.AnswerMemory.TooLarge;
import org.junit.jupiter.api.Test;

/** What answers may hold in memory, one and all together. */
class AnswerMemoryTest {

  private static final int MIB = 1 << 20;
  private static final byte[] ONE = new byte[MIB];

  private final AnswerMemory.Total total = new AnswerMemory.Total(10 * MIB);

  private AnswerBytes bytes(AnswerMemory memory) {
    return new AnswerBytes("text", 16 * MIB, memory);
  }

  @Test
  void totalOfAllAnswersIsLimited() {
    AnswerMemory first = new AnswerMemory(total);
    fill(bytes(first), 8);
    AnswerMemory second = new AnswerMemory(total);
    AnswerBytes other = bytes(second);
    fill(other, 2);
    assertThatThrownBy(() -> fill(other, 1))
        .isInstanceOf(TooLarge.class)
        .hasMessage(
            "answers under way hold more than 10 MiB together, a quarter of the heap: raise -Xmx");
    first.release();
    first.release();
    assertThatCode(() -> fill(other, 6)).doesNotThrowAnyException();
  }

  @Test
  void clearedBytesAreNotCounted() {
    AnswerBytes bytes = bytes(new AnswerMemory(total));
    for (int i = 0; i < 20; i++) {
      fill(bytes, 8);
      bytes.clear();
    }
    fill(bytes(new AnswerMemory(total)), 8);
  }

  @Test
  void smallArraysAreNotCounted() {
    AnswerMemory.Total none = new AnswerMemory.Total(0);
    AnswerBytes bytes = bytes(new AnswerMemory(none));
    bytes.append(ONE, 0, AnswerMemory.UNCOUNTED);
    assertThatThrownBy(() -> bytes.append((byte) 1)).isInstanceOf(TooLarge.class);
  }

  @Test
  void oneAnswerIsLimitedOverAllItsArrays() {
    AnswerMemory memory = new AnswerMemory(new AnswerMemory.Total(Long.MAX_VALUE));
    for (int i = 0; i < 4; i++) {
      fill(bytes(memory), 16);
    }
    assertThatThrownBy(() -> fill(bytes(memory), 1))
        .isInstanceOf(TooLarge.class)
        .hasMessage("answer holds more than 64 MiB");
  }

  @Test
  void oneTextHasItsOwnLimit() {
    AnswerBytes text = bytes(new AnswerMemory(new AnswerMemory.Total(Long.MAX_VALUE)));
    fill(text, 16);
    assertThatThrownBy(() -> text.append((byte) 1))
        .isInstanceOf(TooLarge.class)
        .hasMessage("text longer than 16 MiB");
  }

  private static void fill(AnswerBytes bytes, int mebibytes) {
    for (int i = 0; i < mebibytes; i++) {
      bytes.append(ONE, 0, MIB);
    }
  }
}
