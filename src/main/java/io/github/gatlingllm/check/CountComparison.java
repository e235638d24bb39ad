package io.github.gatlingllm.check;

import static io.github.gatlingllm.metric.NumberText.number;
import static io.github.gatlingllm.metric.NumberText.percent;

import io.github.gatlingllm.metric.ValueRecorder;
import java.util.Comparator;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The tokens of prompts, or of answers, as each target's server and as our tokenizer count them,
 * over the successful requests that both counted. The server's count has what its chat template and
 * special tokens add, ours is of the bare texts.
 */
final class CountComparison {

  private final Map<String, TargetCounts> targets = new TreeMap<>();

  /** Adds a request; one that is not counted by both is ignored. */
  void add(String target, @Nullable Integer server, @Nullable Integer ours) {
    if (server != null && ours != null) {
      targets.computeIfAbsent(target, t -> new TargetCounts()).add(server, ours);
    }
  }

  /** Whether any request has tokens that both counted. */
  boolean hasCounts() {
    return targets.values().stream().anyMatch(target -> target.ours > 0);
  }

  /** Requests that both counted, of the target whose counts are farthest apart. */
  long count() {
    return worst().getValue().count();
  }

  /**
   * What is to be said of the target whose counts are farthest apart.
   *
   * @param tokens which
   * @param scope in which requests; empty for all
   * @param template what it means where each text has as many tokens more, whatever its length
   * @param median what it means where texts differ by different numbers of tokens
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
                : "%s%s %s %s than our tokenizer%s: %s%s %s."
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
    /** Of one request each: server − ours, where that is 0 or more, and ours − server elsewhere. */
    private final ValueRecorder more = new ValueRecorder(ValueRecorder.WHOLE);

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
      // The smallest of all is the one that is most below zero.
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
     * divide texts alike, and the rest is a template or special tokens.
     */
    private boolean isTemplateOnly() {
      return fewer.isEmpty()
          && more.moments().min() == more.moments().max()
          && lengths.moments().min() != lengths.moments().max();
    }
  }
}
