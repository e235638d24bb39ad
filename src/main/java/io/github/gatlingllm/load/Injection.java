package io.github.gatlingllm.load;

import org.jspecify.annotations.Nullable;

/**
 * What the steps of Gatling's own injection plan for one scenario.
 *
 * @param offered users per second, or users at once, where that is the same all the time; null
 *     where it is not one number
 * @param unit of {@code offered}: {@value #RATE} or {@value #USERS}; empty without
 * @param fromNanos from the start of the injection to the first step that has users
 * @param untilNanos to the end of the last step that has users; the same where all come at once
 */
public record Injection(@Nullable Double offered, String unit, long fromNanos, long untilNanos) {

  /** The unit of arrivals. */
  public static final String RATE = "users/s";

  /** The unit of users that are kept at work. */
  public static final String USERS = "concurrent";
}
