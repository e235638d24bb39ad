package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.level.Summary.AnswerSummary;
import io.github.gatlingllm.figures.metric.Distribution;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestRecord.AnswerFault;
import io.github.gatlingllm.record.RequestRecord.AnswerPass;
import io.github.gatlingllm.record.RequestRecord.CheckedAnswer;
import io.github.gatlingllm.record.RequestStatus;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.BiPredicate;
import java.util.function.Predicate;
import org.apache.commons.statistics.distribution.BinomialDistribution;
import org.jspecify.annotations.Nullable;

/**
 * The answers of the setting {@code answers} by target and pass. Of a level with repeats the first
 * answer to each prompt counts, so that a prompt is one pair with that of another pass.
 */
final class AnswerTally {

  /** What a later answer can be that the second one without load is not. */
  private static final Map<String, Predicate<TimedAnswer>> PROPERTIES = new TreeMap<>();

  /** A cached answer comes many times as fast; answers of a model vary by less than this. */
  private static final double FASTER = 0.5;

  static {
    PROPERTIES.put(AnswerSummary.CHANGED, timed -> Boolean.FALSE.equals(timed.answer.same()));
    PROPERTIES.put(AnswerSummary.FAULTY, timed -> timed.answer.fault() != null);
    PROPERTIES.put(AnswerSummary.WRONG, timed -> Boolean.FALSE.equals(timed.answer.right()));
  }

  private record Place(String target, AnswerPass pass, String stage) {}

  /**
   * An answer, with its times if they are known.
   *
   * @param laterTokenMs after the first: per token, as lengths may differ, and without the time to
   *     the first, which a prefix cache shortens too
   */
  private record TimedAnswer(
      CheckedAnswer answer, double ttftMs, double e2eMs, double laterTokenMs) {

    static @Nullable TimedAnswer of(RequestRecord record, CheckedAnswer answer) {
      RequestStatus status = record.outcome().status();
      if (status != RequestStatus.COMPLETE && status != RequestStatus.EMPTY) {
        return null;
      }
      Long ttft = record.timing().ttftNanos();
      Long end = record.timing().latencyNanos();
      Integer tokens = record.tokens().n();
      return ttft != null && end != null && tokens != null && tokens > 1
          ? new TimedAnswer(answer, ttft / 1e6, end / 1e6, (end - ttft) / 1e6 / (tokens - 1))
          : new TimedAnswer(answer, Double.NaN, Double.NaN, Double.NaN);
    }

    boolean isFasterThan(TimedAnswer other) {
      return laterTokenMs < FASTER * other.laterTokenMs;
    }
  }

  private final Map<Place, Map<Integer, @Nullable TimedAnswer>> places = new LinkedHashMap<>();

  void add(RequestRecord record, CheckedAnswer answer) {
    RequestRecord.Identity id = record.identity();
    Place place = new Place(id.target(), answer.pass(), LevelInfo.unnumbered(id.stage()));
    TimedAnswer timed = TimedAnswer.of(record, answer);
    Map<Integer, @Nullable TimedAnswer> of = places.computeIfAbsent(place, p -> new TreeMap<>());
    if (of.get(answer.prompt()) == null) {
      of.put(answer.prompt(), timed);
    }
  }

  List<AnswerSummary> summaries() {
    List<AnswerSummary> all = new ArrayList<>();
    places.forEach((place, timed) -> all.add(summary(place, timed)));
    return all;
  }

  private AnswerSummary summary(Place place, Map<Integer, @Nullable TimedAnswer> prompts) {
    List<TimedAnswer> answered = prompts.values().stream().filter(Objects::nonNull).toList();
    Map<Integer, TimedAnswer> first = of(place.target, AnswerPass.FIRST);
    Map<Integer, TimedAnswer> again = of(place.target, AnswerPass.AGAIN);
    Map<String, Double> chances = new TreeMap<>();
    Map<String, Long> counts = new TreeMap<>();
    PROPERTIES.forEach(
        (name, has) -> {
          counts.put(name, answered.stream().filter(has).count());
          long more = pairs(prompts, again, (a, b) -> has.test(a) && !has.test(b));
          long fewer = pairs(prompts, again, (a, b) -> !has.test(a) && has.test(b));
          if (more + fewer > 0) {
            chances.put(name, chance(more, fewer));
          }
        });
    long faster = pairs(prompts, first, TimedAnswer::isFasterThan);
    long slower = pairs(prompts, first, (a, b) -> b.isFasterThan(a));
    return new AnswerSummary(
        place.target,
        place.pass,
        place.pass == AnswerPass.LOAD ? place.stage : null,
        prompts.size(),
        answered.size(),
        answered.stream().filter(timed -> timed.answer.same() != null).count(),
        counts.get(AnswerSummary.CHANGED),
        Distribution.median(
            answered.stream()
                .map(timed -> timed.answer.differsAt())
                .filter(Objects::nonNull)
                .mapToDouble(at -> at)),
        faults(answered, AnswerFault.INVALID),
        faults(answered, AnswerFault.REFUSED),
        faults(answered, AnswerFault.EMPTY),
        answered.stream().filter(timed -> timed.answer.right() != null).count(),
        counts.get(AnswerSummary.WRONG),
        Distribution.median(answered.stream().mapToDouble(TimedAnswer::ttftMs)),
        Distribution.median(answered.stream().mapToDouble(TimedAnswer::e2eMs)),
        Distribution.median(answered.stream().mapToDouble(TimedAnswer::laterTokenMs)),
        pairs(prompts, first, (a, b) -> !Double.isNaN(a.ttftMs + b.ttftMs)),
        faster,
        chance(faster, slower),
        chances);
  }

  private static long faults(List<TimedAnswer> answered, AnswerFault fault) {
    return answered.stream().filter(timed -> timed.answer.fault() == fault).count();
  }

  private Map<Integer, TimedAnswer> of(String target, AnswerPass pass) {
    Map<Integer, TimedAnswer> all = new TreeMap<>();
    places.forEach(
        (place, timed) -> {
          if (place.target.equals(target) && place.pass == pass) {
            all.putAll(timed);
          }
        });
    all.values().removeIf(Objects::isNull);
    return all;
  }

  private static long pairs(
      Map<Integer, @Nullable TimedAnswer> ones,
      Map<Integer, TimedAnswer> others,
      BiPredicate<TimedAnswer, TimedAnswer> pair) {
    return ones.entrySet().stream()
        .filter(
            one -> {
              TimedAnswer other = others.get(one.getKey());
              return one.getValue() != null && other != null && pair.test(one.getValue(), other);
            })
        .count();
  }

  /**
   * The chance of at least that number of changes for the worse if both directions were equally
   * likely: McNemar's exact test of one side, whose pairs are the prompts.
   */
  static double chance(long worse, long better) {
    return worse == 0
        ? 1
        : BinomialDistribution.of((int) (worse + better), 0.5).survivalProbability((int) worse - 1);
  }
}
