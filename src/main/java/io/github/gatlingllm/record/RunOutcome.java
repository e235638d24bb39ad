package io.github.gatlingllm.record;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.github.gatlingllm.record.RunOutcome.Conclusion;
import io.github.gatlingllm.record.RunOutcome.Connections;
import io.github.gatlingllm.record.RunOutcome.PromptRepeats;
import io.github.gatlingllm.record.RunOutcome.SingleStream;
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
 * @param singleStreams the last warm-up request of each target that could be measured
 * @param firstAnswers by target, seconds from the first request before the load to the first token
 *     of an answer: of a server that had to start, its cold start
 */
public record RunOutcome(
    long dropped,
    @Nullable Long planned,
    @Nullable Long started,
    Map<String, Long> notSent,
    @Nullable PromptRepeats prompts,
    Map<String, Connections> connections,
    List<Conclusion> conclusions,
    Map<String, SingleStream> singleStreams,
    Map<String, Double> firstAnswers) {

  public RunOutcome {
    notSent = RunInfo.ordered(notSent);
    connections = RunInfo.ordered(connections);
    conclusions = conclusions == null ? List.of() : List.copyOf(conclusions);
    singleStreams = RunInfo.ordered(singleStreams);
    firstAnswers = RunInfo.ordered(firstAnswers);
  }

  /**
   * The single-stream peak of a target: its last warm-up request, which had the target to itself.
   *
   * @param tokens that arrived
   * @param seconds from admission to the last token
   * @param before warm-up requests that the target had answered before it; 0 where it may have met
   *     a cold server
   */
  public record SingleStream(int tokens, double seconds, int before) {

    public double tokensPerS() {
      return tokens / seconds;
    }

    /** The faster one: the other may have shared the target with another injector's warm-up. */
    public SingleStream or(SingleStream other) {
      return tokensPerS() >= other.tokensPerS() ? this : other;
    }
  }

  /**
   * A result of a load plan.
   *
   * @param topic {@code stopped early} or {@code search}
   * @param scenario null for all
   * @param tier of a search, the tier of the SLO; null without tiers
   * @param sound false if a level was cut short, or a search could not confirm its result
   * @param threshold the limit of {@code value}
   * @param holdsAt the highest load that holds the SLO, in users per second or users; null except
   *     for a search that found one
   * @param failsAt the lowest load above it that does not hold the SLO; null if there is none
   */
  public record Conclusion(
      String topic,
      String target,
      @Nullable String scenario,
      @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable String tier,
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
      this(topic, "", null, null, text, sound, value, threshold, holdsAt, failsAt);
    }

    public Conclusion by(@Nullable String ofTier) {
      return Components.with(this, "tier", ofTier);
    }

    public Conclusion on(String ofTarget, @Nullable String ofScenario) {
      return Components.with(this, "target", ofTarget, "scenario", ofScenario);
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

  /** How many text-only prompts were compared, and how many repeated an earlier one. */
  public record PromptRepeats(long counted, long repeated) {

    public PromptRepeats and(PromptRepeats other) {
      return new PromptRepeats(counted + other.counted, repeated + other.repeated);
    }
  }
}
