package io.github.gatlingllm.record;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Which part of a load test one of its injectors has. What is numbered, such as arrivals and
 * prompts, is dealt out in turn: number 0 to the first injector, 1 to the second, and so on. What
 * is counted, such as users, is divided; what is left over goes to the first ones.
 *
 * @param index from 1
 * @param count how many injectors share the load
 */
public record InjectorShare(int index, int count) {

  /** More than any load test has; a guard against typing errors. */
  public static final int MOST = 10_000;

  private static final Pattern TEXT = Pattern.compile("(\\d{1,5})\\s*/\\s*(\\d{1,5})");

  public InjectorShare {
    if (index < 1 || index > count || count > MOST) {
      throw new IllegalArgumentException(
          "%s/%s is no share; expected <i>/<n> such as 2/4, i from 1 to n".formatted(index, count));
    }
  }

  /**
   * Reads {@code i/n}, e.g. {@code 2/4}.
   *
   * @throws IllegalArgumentException in one line, if it is none
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

  /** Whether what has that number, from 0, is this injector's. */
  public boolean has(long number) {
    return number % count == index - 1;
  }

  /** The number of what this injector takes as its own {@code k}-th, from 0. */
  public long numberOf(long k) {
    return index - 1 + k * count;
  }

  /** This injector's part of so many; those of all injectors add up to {@code whole}. */
  public int of(int whole) {
    return whole / count + (index <= whole % count ? 1 : 0);
  }

  /**
   * This injector's part of so many requests: divided by those injectors that have users to send
   * them.
   *
   * @param ofUsers all users, 1 or more
   */
  public int of(int requests, int ofUsers) {
    int sending = Math.min(count, ofUsers);
    return index > sending ? 0 : new InjectorShare(index, sending).of(requests);
  }

  /** {@code i/n}. */
  @JsonValue
  @Override
  public String toString() {
    return index + "/" + count;
  }
}
