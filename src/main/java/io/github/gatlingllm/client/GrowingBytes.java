package io.github.gatlingllm.client;

import java.util.Arrays;

/** A byte array that grows up to a limit. */
final class GrowingBytes {

  private static final byte[] NONE = {};

  private final String what;
  private final int limit;
  private final AnswerMemory memory;
  private byte[] array = NONE;
  private int length;

  /**
   * @param what names the content in the message of {@link AnswerMemory.TooLarge}
   * @param limit most bytes
   */
  GrowingBytes(String what, int limit, AnswerMemory memory) {
    this.what = what;
    this.limit = limit;
    this.memory = memory;
  }

  /**
   * Adds bytes.
   *
   * @throws AnswerMemory.TooLarge beyond the limit of this array or of the answer's memory
   */
  void append(byte[] bytes, int from, int to) {
    int added = to - from;
    ensure(added);
    System.arraycopy(bytes, from, array, length, added);
    length += added;
  }

  void append(byte single) {
    ensure(1);
    array[length++] = single;
  }

  /** The bytes from 0 to {@link #length()}; valid until the next append. */
  byte[] array() {
    return array;
  }

  int length() {
    return length;
  }

  boolean isEmpty() {
    return length == 0;
  }

  /** Removes the bytes; {@link #array} keeps its content until the next append. */
  void clear() {
    length = 0;
    if (array.length > AnswerMemory.FREE) {
      memory.replace(array.length, 0);
      array = NONE;
    }
  }

  private void ensure(int added) {
    if (added > array.length - length) {
      grow((long) length + added);
    }
  }

  private void grow(long needed) {
    if (needed > limit) {
      throw new AnswerMemory.TooLarge(what + " longer than " + inBytes(limit));
    }
    long doubled = Math.max(256, 2L * array.length);
    int capacity = (int) Math.max(needed, Math.min(limit, doubled));
    memory.replace(array.length, capacity);
    array = Arrays.copyOf(array, capacity);
  }

  private static String inBytes(int bytes) {
    return bytes % (1 << 20) == 0 ? (bytes >> 20) + " MiB" : bytes + " bytes";
  }
}
