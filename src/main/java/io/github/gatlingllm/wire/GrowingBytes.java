package io.github.gatlingllm.wire;

import java.util.Arrays;

/** Bytes that are appended to, up to a limit: what comes beyond it is dropped. */
final class GrowingBytes {

  private static final byte[] NONE = {};

  /** Larger arrays are given back by {@link #clear()}: one huge event must not stay in memory. */
  private static final int KEPT = 64 * 1024;

  private final int limit;
  private byte[] array = NONE;
  private int length;

  GrowingBytes(int limit) {
    this.limit = limit;
  }

  void append(byte[] bytes, int from, int to) {
    int added = Math.min(to - from, limit - length);
    ensure(added);
    System.arraycopy(bytes, from, array, length, added);
    length += added;
  }

  void append(byte single) {
    if (length < limit) {
      ensure(1);
      array[length++] = single;
    }
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

  /** Forgets the bytes; an array handed out before keeps its content until the next append. */
  void clear() {
    length = 0;
    if (array.length > KEPT) {
      array = NONE;
    }
  }

  private void ensure(int added) {
    int needed = length + added;
    if (needed > array.length) {
      long doubled = Math.max(256, 2L * array.length);
      array = Arrays.copyOf(array, (int) Math.max(needed, Math.min(limit, doubled)));
    }
  }
}
