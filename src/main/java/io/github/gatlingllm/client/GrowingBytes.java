package io.github.gatlingllm.client;

import java.util.Arrays;

/** Bytes that are appended to, up to a limit. */
final class GrowingBytes {

  private static final byte[] NONE = {};

  private final String what;
  private final int limit;
  private final AnswerMemory memory;
  private byte[] array = NONE;
  private int length;

  /**
   * @param what names it where it gets too large
   * @param limit the most bytes that it takes
   */
  public GrowingBytes(String what, int limit, AnswerMemory memory) {
    this.what = what;
    this.limit = limit;
    this.memory = memory;
  }

  /**
   * Adds bytes.
   *
   * @throws AnswerMemory.TooLarge where they are beyond the limit, or beyond what may be held
   */
  public void append(byte[] bytes, int from, int to) {
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
  public byte[] array() {
    return array;
  }

  public int length() {
    return length;
  }

  boolean isEmpty() {
    return length == 0;
  }

  /** Forgets the bytes; an array handed out before keeps its content until the next append. */
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
