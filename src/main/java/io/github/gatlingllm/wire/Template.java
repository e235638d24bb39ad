package io.github.gatlingllm.wire;

import io.github.gatlingllm.wire.ChunkParser.Channel;
import java.util.Arrays;
import java.util.List;

/**
 * An event that held one delta and nothing else but usage behind it, without that delta's text.
 * Consecutive chunks of a stream mostly differ only in the text and perhaps in a few {@link Slot}s
 * behind it, so the next one is compared instead of parsed.
 *
 * <p>Why that is the same as parsing: let an event be {@code P + text + S}, where {@code text} is
 * the content of the one string that was reported. Another event {@code P + text' + S} in which
 * {@code text'} is not empty, holds no quote that ends the string, and does not end inside an
 * escape, makes the parser take the same steps: up to the opening quote it sees the same bytes,
 * then a string that ends where {@code S} begins, then the same bytes again; and nothing but its
 * own report depends on that text (where something does, the parser does not learn). The same holds
 * for another string, whose text is ignored, and for the digits of a whole number: they end where
 * another byte comes.
 */
final class Template {

  /** Longer frames are not worth a comparison. */
  private static final int MAX_FRAME = 8 * 1024;

  private byte[] frame = new byte[512];
  private int prefix;
  private int suffix;
  private int choice;
  private int call;
  private Channel channel = Channel.CONTENT;
  private List<Slot> slots = List.of();
  private boolean hasUsage;
  private final int[] counts = new int[Slot.COUNTS];
  private int textLength;

  /**
   * A value behind the text that may differ from event to event: a whole number inside usage, or a
   * string that means nothing.
   *
   * @param from where its first digit or the first byte of its text lies
   * @param count 0 prompt, 1 completion, 2 cached, 3 reasoning tokens; else one of the constants
   */
  record Slot(int from, int to, int count) {
    static final int COUNTS = 4;
    static final int OTHER_NUMBER = -1;
    static final int IGNORED_TEXT = -2;

    /** Longer numbers are not learnt: these fit into an int. */
    static final int MAX_DIGITS = 9;

    private Slot movedBy(int bytes) {
      return new Slot(from + bytes, to + bytes, count);
    }
  }

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
    slots = List.of();
    hasUsage = false;
    Arrays.fill(counts, -1);
  }

  /**
   * Adds what may differ behind the text of the event that was learnt.
   *
   * @param learnt in their order
   * @param ofUsage whether the event held usage
   */
  void learnSlots(int textTo, List<Slot> learnt, boolean ofUsage) {
    slots =
        learnt.isEmpty()
            ? List.of()
            : learnt.stream().map(slot -> slot.movedBy(prefix - textTo)).toList();
    hasUsage = ofUsage;
  }

  /** Adds the tool call that the text of the event that was learnt belongs to. */
  void learnCall(int index) {
    call = index;
  }

  /** Whether this event is the learnt one with another text; false before anything was learnt. */
  boolean fits(byte[] buffer, int from, int to) {
    int textFrom = from + prefix;
    if (prefix == 0 || textFrom >= to || !Arrays.equals(buffer, from, textFrom, frame, 0, prefix)) {
      return false;
    }
    int textTo = slots.isEmpty() ? to - suffix : ByteSearch.closingQuote(buffer, textFrom, to);
    textLength = textTo - textFrom;
    return textLength > 0
        && fitsSuffix(buffer, textTo, to)
        && (!slots.isEmpty() || ByteSearch.closingQuote(buffer, textFrom, to) == textTo);
  }

  private boolean fitsSuffix(byte[] buffer, int from, int to) {
    int at = from;
    int frameAt = prefix;
    for (int i = 0; i < slots.size(); i++) {
      Slot slot = slots.get(i);
      int next = at + slot.from() - frameAt;
      if (next > to || !Arrays.equals(buffer, at, next, frame, frameAt, slot.from())) {
        return false;
      }
      at =
          slot.count() == Slot.IGNORED_TEXT
              ? ByteSearch.closingQuote(buffer, next, to)
              : numberEnd(buffer, next, to, slot.count());
      if (at < 0) {
        return false;
      }
      frameAt = slot.to();
    }
    return Arrays.equals(buffer, at, to, frame, frameAt, prefix + suffix);
  }

  /** Where the whole number ends, whose value is kept; −1 where there is none. */
  private int numberEnd(byte[] buffer, int from, int to, int count) {
    int at = from;
    int value = 0;
    while (at < to && at < from + Slot.MAX_DIGITS && isDigit(buffer[at])) {
      value = value * 10 + buffer[at++] - '0';
    }
    if (at == from || (at > from + 1 && buffer[from] == '0')) {
      return -1;
    }
    if (count >= 0) {
      counts[count] = value;
    }
    return at;
  }

  private static boolean isDigit(byte b) {
    return b >= '0' && b <= '9';
  }

  /** Length of the text of the event that fitted. */
  int textLength() {
    return textLength;
  }

  /** Whether the event that fitted holds usage. */
  boolean hasUsage() {
    return hasUsage;
  }

  /** A count of the event that fitted, by its place in {@link Slot#count}; −1: absent. */
  int count(int place) {
    return counts[place];
  }

  int prefix() {
    return prefix;
  }

  int choice() {
    return choice;
  }

  /** Index of the tool call; means nothing for other channels. */
  int call() {
    return call;
  }

  Channel channel() {
    return channel;
  }
}
