package io.github.gatlingllm.client;

import io.github.gatlingllm.record.Timeline;

/**
 * Tells reasoning apart that a server without a reasoning parser leaves in the text of an answer:
 * {@code <think>…</think>}, also without the opening tag, which some templates put into the prompt.
 * Sees the bytes of JSON strings as they come, so a tag may be split at any byte.
 */
final class ThinkTag {

  private static final byte[] OPEN = {'<', 't', 'h', 'i', 'n', 'k', '>'};
  private static final byte[] CLOSE = {'<', '/', 't', 'h', 'i', 'n', 'k', '>'};

  private static final long NEVER = Long.MIN_VALUE;

  /** What a piece of text is, seen with all before it. */
  private enum Found {
    /** The beginning of what may be a tag. */
    UNDECIDED,
    REASONING,
    OUTPUT,
    /** The closing tag of reasoning that had no opening one: all before it was reasoning. */
    ALL_WAS_REASONING
  }

  private int opening;
  private boolean begun;
  private boolean inside;
  private boolean closed;

  /** Bytes of the closing tag that have come. */
  private int closing;

  /** When text came first that may be the beginning of a tag. */
  private long undecided = NEVER;

  /** Whether text that came is output; tells the timeline where earlier text was taken wrongly. */
  boolean isOutput(Timeline timeline, long now, byte[] bytes, int offset, int length) {
    Found found = next(bytes, offset, length);
    if (found == Found.UNDECIDED) {
      undecided = undecided == NEVER ? now : undecided;
      return false;
    }
    if (found == Found.OUTPUT && undecided != NEVER) {
      timeline.outputFrom(undecided);
    } else if (found == Found.ALL_WAS_REASONING) {
      timeline.allWasReasoning();
    }
    undecided = NEVER;
    return found == Found.OUTPUT;
  }

  /** Takes the next bytes, as they stand in a JSON string. */
  private Found next(byte[] bytes, int offset, int length) {
    boolean wasInside = inside;
    boolean hasOutput = false;
    boolean hasClosed = false;
    for (int i = offset; i < offset + length; i++) {
      byte b = bytes[i];
      if (b == '\\' && i + 1 < offset + length) {
        // PHP escapes the slash, Go the brackets; a line feed is white space.
        int step = escape(bytes, i, offset + length);
        b = escaped(bytes, i, step);
        i += step - 1;
      }
      if (!begun && opening == 0 && b <= ' ') {
        continue;
      }
      if (!begun) {
        open(b);
      }
      closing = b == CLOSE[closing] ? closing + 1 : b == '<' ? 1 : 0;
      if (closing == CLOSE.length) {
        closing = 0;
        hasClosed |= !closed;
        closed = true;
        inside = false;
        hasOutput = false;
      } else {
        hasOutput |= begun && !inside && b > ' ';
      }
    }
    if (hasClosed && !wasInside && opening < OPEN.length) {
      return hasOutput ? Found.OUTPUT : Found.ALL_WAS_REASONING;
    }
    return hasOutput ? Found.OUTPUT : begun || inside ? Found.REASONING : Found.UNDECIDED;
  }

  private void open(byte b) {
    if (opening < OPEN.length && b == OPEN[opening]) {
      opening++;
      inside = opening == OPEN.length;
      begun = inside;
    } else {
      begun = true;
    }
  }

  private static int escape(byte[] bytes, int at, int end) {
    return bytes[at + 1] == 'u' && at + 6 <= end ? 6 : 2;
  }

  private static byte escaped(byte[] bytes, int at, int step) {
    if (step == 2) {
      byte b = bytes[at + 1];
      return b == 'n' || b == 't' || b == 'r' ? (byte) ' ' : b;
    }
    boolean isLatin = bytes[at + 2] == '0' && bytes[at + 3] == '0' && bytes[at + 4] == '3';
    return !isLatin ? (byte) '?' : (bytes[at + 5] | 0x20) == 'c' ? (byte) '<' : (byte) '>';
  }
}
