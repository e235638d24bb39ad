package io.github.gatlingllm.record;

import org.jspecify.annotations.Nullable;

/**
 * A result of a load plan.
 *
 * @param topic {@code stopped early} or {@code search}
 * @param scenario its scenario; null for all
 * @param text one line
 * @param sound false if a level was cut short, or a search could not confirm its result
 * @param value its figure; null if there is none
 * @param threshold the limit of that figure; null if there is none
 * @param holdsAt the highest rate that holds the SLO, users per second; null except for a search
 *     that found one
 * @param failsAt the lowest rate above it that does not hold the SLO; null if there is none
 */
public record Conclusion(
    String topic,
    String target,
    @Nullable String scenario,
    String text,
    boolean sound,
    @Nullable Double value,
    @Nullable Double threshold,
    @Nullable Double holdsAt,
    @Nullable Double failsAt) {

  /** A conclusion of a plan, which does not know its target. */
  public Conclusion(
      String topic,
      String text,
      boolean sound,
      @Nullable Double value,
      @Nullable Double threshold,
      @Nullable Double holdsAt,
      @Nullable Double failsAt) {
    this(topic, "", null, text, sound, value, threshold, holdsAt, failsAt);
  }

  /** The same conclusion on a target and a scenario. */
  public Conclusion on(String ofTarget, String ofScenario) {
    return new Conclusion(
        topic, ofTarget, ofScenario, text, sound, value, threshold, holdsAt, failsAt);
  }
}
