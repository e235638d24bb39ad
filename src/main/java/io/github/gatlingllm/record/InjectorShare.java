package io.github.gatlingllm.record;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The share of one injector in a load test. Numbered items, such as arrivals and prompts, are
 * assigned round-robin: number 0 to the first injector, 1 to the second, and so on. Counts, such as
 * users, are divided; the first injectors take the remainder.
 *
 * @param index of the injector, from 1
 * @param count how many injectors share the load
 */
public record InjectorShare(int index, int count) {

  /** Most injectors; a larger number is a typing error. */
  public static final int MAX_COUNT = 10_000;

  private static final Pattern TEXT = Pattern.compile("(\\d{1,5})\\s*/\\s*(\\d{1,5})");

  public InjectorShare {
    if (index < 1 || index > count || count > MAX_COUNT) {
      throw new IllegalArgumentException(
          "%s/%s is no share; expected <i>/<n> such as 2/4, i from 1 to n".formatted(index, count));
    }
  }

  /**
   * Parses {@code i/n}, e.g. {@code 2/4}.
   *
   * @throws IllegalArgumentException with a one-line message, if the text is not a share
   */
  @JsonCreator
  public static InjectorShare parse(String text) {
    Matcher parts = TEXT.matcher(text.strip());
    if (!parts.matches()) {
      throw new IllegalArgumentException(
          "'" + text + "' is no share; expected <i>/<n> such as 2/4, i from 1 to n");
    }
    return new InjectorShare(Integer.parseInt(parts.group(1)), Integer.parseInt(parts.group(2)));
  }

  /** Whether there are other injectors. */
  public boolean isPart() {
    return count > 1;
  }

  /** Whether the item of that number, from 0, belongs to this injector. */
  public boolean has(long number) {
    return number % count == index - 1;
  }

  /** The number of this injector's {@code k}-th item, both from 0. */
  public long numberOf(long k) {
    return index - 1 + k * count;
  }

  /** This injector's part of a count; the parts of all injectors add up to {@code whole}. */
  public int of(int whole) {
    return whole / count + (index <= whole % count ? 1 : 0);
  }

  /**
   * This injector's part of a number of requests, divided among the injectors that have users.
   *
   * @param ofUsers users of all injectors, 1 or more
   */
  public int of(int requests, int ofUsers) {
    int sending = Math.min(count, ofUsers);
    return index > sending ? 0 : new InjectorShare(index, sending).of(requests);
  }

  @JsonValue
  @Override
  public String toString() {
    return index + "/" + count;
  }
}
