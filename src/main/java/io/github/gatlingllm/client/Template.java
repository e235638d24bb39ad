package io.github.gatlingllm.client;

import io.github.gatlingllm.client.ChunkParser.Channel;
import java.util.Arrays;
import java.util.List;

/**
 * An event that held one delta and nothing else but usage behind it. Consecutive events of a stream
 * mostly differ only in that delta's text and perhaps in a few other {@link Slot}s, so the next one
 * is compared instead of parsed.
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

  /** Longer events are not worth a comparison. */
  private static final int MAX_FRAME = 8 * 1024;

  private static final Learnt NOTHING =
      new Learnt(new Meaning(0, Channel.CONTENT, 0, false, false), new Slot[0], new byte[0]);

  /** Most answers of a run begin as the one before began: their ids differ, and those are slots. */
  private static volatile Learnt latest = NOTHING;

  private Learnt learnt;

  /** Whether what it learns next serves streams to come: it begins one, and nothing fitted yet. */
  private boolean isFirst;

  private final int[] counts = new int[Slot.COUNTS];
  private int textFrom;
  private int textLength;

  /** An event, and what may differ from it. */
  @SuppressWarnings("ArrayRecordComponent") // written once, compared by nobody
  private record Learnt(Meaning meaning, Slot[] slots, byte[] frame) {}

  private Template(Learnt learnt, boolean isFirst) {
    this.learnt = learnt;
    this.isFirst = isFirst;
    Arrays.fill(counts, -1);
  }

  /** One that fits nothing yet. */
  Template() {
    this(NOTHING, false);
  }

  /** One that knows how the last answer of any stream began, and teaches how its own does. */
  static Template likeTheLatest() {
    return new Template(latest, true);
  }

  /**
   * What is the same in all events that fit.
   *
   * @param call index of the tool call; means nothing for other channels
   * @param hasUsage whether there is usage behind the text
   * @param isOfAnyStream whether it is the same in another stream, which has read nothing before
   */
  record Meaning(int choice, Channel channel, int call, boolean hasUsage, boolean isOfAnyStream) {}

  /**
   * A value that may differ from event to event: the text, a whole number, or a string that means
   * nothing.
   *
   * @param from where its first digit or the first byte of its text lies
   * @param count 0 prompt, 1 completion, 2 cached, 3 reasoning tokens; else one of the constants
   */
  record Slot(int from, int to, int count) {
    static final int COUNTS = 4;
    static final int OTHER_NUMBER = -1;
    static final int IGNORED_TEXT = -2;

    /** The text that is reported: one slot of each event. */
    static final int TEXT = -3;

    /** Longer numbers are not learnt: these fit into an int. */
    static final int MAX_DIGITS = 9;

    private Slot movedBy(int bytes) {
      return new Slot(from + bytes, to + bytes, count);
    }
  }

  /**
   * Learns an event.
   *
   * @param differing what may differ, in the order of the bytes
   */
  void learn(Meaning of, List<Slot> differing, byte[] buffer, int from, int to) {
    if (to - from > MAX_FRAME) {
      return;
    }
    Slot[] slots = new Slot[differing.size()];
    for (int i = 0; i < slots.length; i++) {
      slots[i] = differing.get(i).movedBy(-from);
    }
    learnt = new Learnt(of, slots, Arrays.copyOfRange(buffer, from, to));
    if (isFirst && of.isOfAnyStream()) {
      latest = learnt;
    }
    isFirst = false;
    Arrays.fill(counts, -1);
  }

  /** Whether this event is the learnt one with another text; false before anything was learnt. */
  boolean fits(byte[] buffer, int from, int to) {
    byte[] frame = learnt.frame();
    int at = from;
    int frameAt = 0;
    for (Slot slot : learnt.slots()) {
      int next = at + slot.from() - frameAt;
      if (next > to || !Arrays.equals(buffer, at, next, frame, frameAt, slot.from())) {
        return false;
      }
      at =
          slot.count() < Slot.OTHER_NUMBER
              ? ByteSearch.closingQuote(buffer, next, to)
              : numberEnd(buffer, next, to, slot.count());
      if (at < 0) {
        return false;
      }
      if (slot.count() == Slot.TEXT) {
        textFrom = next;
        textLength = at - next;
        if (textLength == 0) {
          return false;
        }
      }
      frameAt = slot.to();
    }
    boolean fits = frameAt > 0 && Arrays.equals(buffer, at, to, frame, frameAt, frame.length);
    isFirst &= !fits;
    return fits;
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

  /** What the event that fitted says. */
  Meaning meaning() {
    return learnt.meaning();
  }

  /** Where the text of the event that fitted begins in its buffer. */
  int textFrom() {
    return textFrom;
  }

  /** Length of the text of the event that fitted. */
  int textLength() {
    return textLength;
  }

  /** A count of the event that fitted, by its place in {@link Slot#count}; −1: absent. */
  int count(int place) {
    return counts[place];
  }
}
