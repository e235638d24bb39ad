package io.github.gatlingllm.record;

import io.github.gatlingllm.record.RunOutcome.Conclusion;
import io.github.gatlingllm.record.RunOutcome.Connections;
import io.github.gatlingllm.record.RunOutcome.PromptRepeats;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What came of the run.
 *
 * @param planned planned requests in measure windows, one for each arrival or iteration; null if
 *     the plan has no number
 * @param started requests of all phases that were started and should have a record; null while the
 *     run is on
 * @param notSent number of requests that were due and not sent, by name and reason
 * @param prompts how many prompts repeat an earlier one; null if none was compared
 * @param connections how servers treated connections that they had left open, by host and port
 */
public record RunOutcome(
    long dropped,
    @Nullable Long planned,
    @Nullable Long started,
    Map<String, Long> notSent,
    @Nullable PromptRepeats prompts,
    Map<String, Connections> connections,
    List<Conclusion> conclusions) {

  public RunOutcome {
    notSent = RunInfo.ordered(notSent);
    connections = RunInfo.ordered(connections);
    conclusions = conclusions == null ? List.of() : List.copyOf(conclusions);
  }

  RunOutcome counts(long lost, @Nullable Long due, @Nullable Long begun) {
    return new RunOutcome(lost, due, begun, notSent, prompts, connections, conclusions);
  }

  RunOutcome observed(
      Map<String, Long> skipped,
      @Nullable PromptRepeats repeats,
      Map<String, Connections> byAddress,
      List<Conclusion> found) {
    return new RunOutcome(dropped, planned, started, skipped, repeats, byAddress, found);
  }

  /**
   * A result of a load plan.
   *
   * @param topic {@code stopped early} or {@code search}
   * @param scenario null for all
   * @param sound false if a level was cut short, or a search could not confirm its result
   * @param threshold the limit of {@code value}
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

    public Conclusion on(String ofTarget, String ofScenario) {
      return new Conclusion(
          topic, ofTarget, ofScenario, text, sound, value, threshold, holdsAt, failsAt);
    }
  }

  /**
   * How a server treated the HTTP/1.1 connections that its answers left open.
   *
   * @param answers answers after which that is known
   * @param closed those of {@code answers} after which the server closed the connection
   *     immediately, without {@code Connection: close}
   */
  public record Connections(long answers, long closed) {

    public Connections and(Connections other) {
      return new Connections(answers + other.answers, closed + other.closed);
    }
  }

  /**
   * How many text-only prompts were compared, and how many of them had been sent to the same target
   * before.
   */
  public record PromptRepeats(long counted, long repeated) {

    public PromptRepeats and(PromptRepeats other) {
      return new PromptRepeats(counted + other.counted, repeated + other.repeated);
    }
  }
}
