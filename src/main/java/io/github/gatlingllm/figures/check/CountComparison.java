package io.github.gatlingllm.figures.check;

import static io.github.gatlingllm.figures.metric.NumberText.number;
import static io.github.gatlingllm.figures.metric.NumberText.percent;

import io.github.gatlingllm.figures.metric.ValueRecorder;
import java.util.Comparator;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Compares the token counts of each target's server with those of the local tokenizer, over the
 * successful requests that both counted: of prompts, or of answers. The server's count includes its
 * chat template and special tokens; the local count is of the texts alone.
 */
final class CountComparison {

  private final Map<String, TargetCounts> targets = new TreeMap<>();

  /** Adds a request, unless a count is missing. */
  void add(String target, @Nullable Integer server, @Nullable Integer ours) {
    if (server != null && ours != null) {
      targets.computeIfAbsent(target, t -> new TargetCounts()).add(server, ours);
    }
  }

  /** Whether any request was counted by both. */
  boolean hasCounts() {
    return targets.values().stream().anyMatch(target -> target.ours > 0);
  }

  /** Requests counted by both, of the target with the largest difference. */
  long count() {
    return worst().getValue().count();
  }

  /**
   * The finding for the target with the largest difference.
   *
   * @param tokens name of the tokens, e.g. {@code prompt tokens}
   * @param scope which requests, in words; empty for all
   * @param template explains a difference that is the same for texts of all lengths
   * @param median explains a difference that varies between texts
   */
  Finding finding(String tokens, String scope, String template, String median) {
    TargetCounts worst = worst().getValue();
    double difference = worst.difference();
    double overhead = worst.medianOverhead();
    boolean isTemplate = worst.isTemplateOnly();
    String who = targets.size() > 1 ? worst().getKey() + " counts " : "The server counts ";
    Finding found =
        Finding.of(
            Math.abs(difference),
            worst.areEqual()
                ? "Server and tokenizer count the same " + tokens + scope + "."
                : "%s%s %s %s than the local tokenizer%s: %s%s %s."
                    .formatted(
                        who,
                        percent(Math.abs(difference)),
                        difference < 0 ? "fewer" : "more",
                        tokens,
                        scope,
                        overhead > 0 ? "+" : "",
                        number(overhead),
                        isTemplate ? template : median));
    return isTemplate ? found.warnsIf(false) : found;
  }

  private Map.Entry<String, TargetCounts> worst() {
    return targets.entrySet().stream()
        .filter(target -> target.getValue().ours > 0)
        .max(
            Comparator.comparingDouble(
                    (Map.Entry<String, TargetCounts> target) -> target.getValue().distance())
                .thenComparing(Map.Entry.comparingByKey(Comparator.reverseOrder())))
        .orElseThrow();
  }

  private static final class TargetCounts {
    /** Per request: server − local, if that is at least 0. */
    private final ValueRecorder more = new ValueRecorder(ValueRecorder.WHOLE);

    /** Per request: local − server, if server − local is below 0. */
    private final ValueRecorder fewer = new ValueRecorder(ValueRecorder.WHOLE);

    private final ValueRecorder lengths = new ValueRecorder(ValueRecorder.WHOLE);
    private long server;
    private long ours;

    private void add(int theirs, int local) {
      server += theirs;
      ours += local;
      lengths.add(local);
      int overhead = theirs - local;
      (overhead >= 0 ? more : fewer).add(Math.abs(overhead));
    }

    private long count() {
      return lengths.moments().count();
    }

    /** Σ server ÷ Σ ours − 1. */
    private double difference() {
      return (double) server / ours - 1;
    }

    private double distance() {
      return isTemplateOnly() ? 0 : Math.abs(difference());
    }

    /** The median over requests of server − ours, by nearest rank. */
    private double medianOverhead() {
      long negative = fewer.moments().count();
      long positive = count() - negative;
      long rank = (count() + 1) / 2;
      // fewer has absolute values: its largest is the smallest of all.
      Double median =
          rank <= negative
              ? fewer.percentile(100.0 * (negative - rank + 1) / negative)
              : more.percentile(100.0 * (rank - negative) / positive);
      return median == null ? 0 : rank <= negative ? -median : median;
    }

    private boolean areEqual() {
      return fewer.isEmpty() && more.moments().max() == 0;
    }

    /**
     * Whether the server adds the same number of tokens to texts of different lengths: then both
     * tokenize alike, and the difference is a template or special tokens.
     */
    private boolean isTemplateOnly() {
      return fewer.isEmpty()
          && more.moments().min() == more.moments().max()
          && lengths.moments().min() != lengths.moments().max();
    }
  }
}
