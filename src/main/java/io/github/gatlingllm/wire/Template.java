package io.github.gatlingllm.wire;

import io.github.gatlingllm.wire.ChunkParser.Channel;
import java.util.Arrays;
import java.util.List;

/**
 * An event that held one delta and nothing else but usage behind it, without that delta's text.
 * Consecutive chunks of a stream mostly differ in the text only, so the next one is compared
 * instead of parsed.
 *
 * <p>Why that is the same as parsing: let an event be {@code P + text + S}, where {@code text} is
 * the content of the one string that was reported. Another event {@code P + text' + S} in which
 * {@code text'} is not empty, holds no quote that ends the string, and does not end inside an
 * escape, makes the parser take the same steps: up to the opening quote it sees the same bytes,
 * then a string that ends where {@code S} begins, then the same bytes again; and nothing but its
 * own report depends on that text (where something does, the parser does not learn). The same holds
 * for the digits of a whole number: they end where another byte comes.
 */
final class Template {

  /** Longer frames are not worth a comparison. */
  private static final int MAX_FRAME = 8 * 1024;

  private byte[] frame = new byte[512];
  private int prefix;
  private int suffix;
  private int choice;
  private Channel channel = Channel.CONTENT;
  private UsageNumber[] numbers = {};
  private final int[] counts = new int[UsageNumber.COUNTS];
  private int textLength;

  /**
   * A whole number inside usage.
   *
   * @param from where its first digit lies
   * @param count 0 prompt, 1 completion, 2 cached, 3 reasoning tokens; −1 for any other number
   */
  record UsageNumber(int from, int to, int count) {
    static final int COUNTS = 4;

    /** Longer numbers are not learnt: these fit into an int. */
    static final int MAX_DIGITS = 9;
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
    numbers = new UsageNumber[0];
    Arrays.fill(counts, -1);
  }

  /**
   * Adds that the event ended its delta with usage: the numbers in it may differ, too.
   *
   * @param learnt numbers behind the text, in their order
   */
  void learnUsage(int textTo, List<UsageNumber> learnt) {
    numbers = new UsageNumber[learnt.size()];
    for (int i = 0; i < numbers.length; i++) {
      UsageNumber number = learnt.get(i);
      int moved = prefix - textTo;
      numbers[i] = new UsageNumber(number.from() + moved, number.to() + moved, number.count());
    }
  }

  /** Whether this event is the learnt one with another text; false before anything was learnt. */
  boolean fits(byte[] buffer, int from, int to) {
    int textFrom = from + prefix;
    if (prefix == 0 || textFrom >= to || !Arrays.equals(buffer, from, textFrom, frame, 0, prefix)) {
      return false;
    }
    int textTo = numbers.length == 0 ? to - suffix : ByteSearch.closingQuote(buffer, textFrom, to);
    textLength = textTo - textFrom;
    return textLength > 0
        && fitsSuffix(buffer, textTo, to)
        && (numbers.length > 0 || ByteSearch.closingQuote(buffer, textFrom, to) == textTo);
  }

  private boolean fitsSuffix(byte[] buffer, int from, int to) {
    int at = from;
    int frameAt = prefix;
    for (UsageNumber number : numbers) {
      int next = at + number.from() - frameAt;
      if (next > to || !Arrays.equals(buffer, at, next, frame, frameAt, number.from())) {
        return false;
      }
      at = next;
      int value = 0;
      while (at < to && at < next + UsageNumber.MAX_DIGITS && isDigit(buffer[at])) {
        value = value * 10 + buffer[at++] - '0';
      }
      if (at == next || (at > next + 1 && buffer[next] == '0')) {
        return false;
      }
      if (number.count() >= 0) {
        counts[number.count()] = value;
      }
      frameAt = number.to();
    }
    return Arrays.equals(buffer, at, to, frame, frameAt, prefix + suffix);
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
    return numbers.length > 0;
  }

  /** A count of the event that fitted, by its place in {@link UsageNumber#count}; −1: absent. */
  int count(int place) {
    return counts[place];
  }

  int prefix() {
    return prefix;
  }

  int choice() {
    return choice;
  }

  Channel channel() {
    return channel;
  }
}
