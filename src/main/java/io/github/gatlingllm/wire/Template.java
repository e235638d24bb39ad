package io.github.gatlingllm.wire;

import io.github.gatlingllm.wire.ChunkParser.Channel;
import java.util.Arrays;

/**
 * An event that held one delta and nothing else, without that delta's text. Consecutive chunks of a
 * stream mostly differ in the text only, so the next one is compared instead of parsed.
 *
 * <p>Why that is the same as parsing: let an event be {@code P + text + S}, where {@code text} is
 * the content of the one string that was reported. Another event {@code P + text' + S} in which
 * {@code text'} is not empty, holds no quote that ends the string, and does not end inside an
 * escape, makes the parser take the same steps: up to the opening quote it sees the same bytes,
 * then a string that ends where {@code S} begins, then the same bytes again; and nothing but its
 * own report depends on that text (where something does, the parser does not learn).
 */
final class Template {

  /** Longer frames are not worth a comparison. */
  private static final int MAX_FRAME = 8 * 1024;

  private byte[] frame = new byte[512];
  private int prefix;
  private int suffix;
  private int choice;
  private Channel channel = Channel.CONTENT;

  void learn(
      byte[] buffer, int from, int textFrom, int textTo, int to, int newChoice, Channel ofText) {
    int newPrefix = textFrom - from;
    int newSuffix = to - textTo;
    int length = newPrefix + newSuffix;
    if (length > MAX_FRAME) {
      return;
    }
    if (length > frame.length) {
      frame = new byte[MAX_FRAME];
    }
    System.arraycopy(buffer, from, frame, 0, newPrefix);
    System.arraycopy(buffer, textTo, frame, newPrefix, newSuffix);
    prefix = newPrefix;
    suffix = newSuffix;
    choice = newChoice;
    channel = ofText;
  }

  /** Whether this event is the learnt one with another text; false before anything was learnt. */
  boolean fits(byte[] buffer, int from, int to) {
    int textFrom = from + prefix;
    int textTo = to - suffix;
    return textFrom < textTo
        && prefix > 0
        && Arrays.equals(buffer, textTo, to, frame, prefix, prefix + suffix)
        && Arrays.equals(buffer, from, textFrom, frame, 0, prefix)
        && ByteSearch.closingQuote(buffer, textFrom, to) == textTo;
  }

  int prefix() {
    return prefix;
  }

  int suffix() {
    return suffix;
  }

  int choice() {
    return choice;
  }

  Channel channel() {
    return channel;
  }
}
