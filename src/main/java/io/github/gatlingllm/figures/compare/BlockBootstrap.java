package io.github.gatlingllm.figures.compare;

import io.github.gatlingllm.figures.compare.SliceSample.Weighted;
import io.github.gatlingllm.figures.level.TimeSlice;
import io.github.gatlingllm.figures.level.TimeSlice.Autocorrelation;
import io.github.gatlingllm.figures.metric.Distribution.Spread.Difference;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.ValueRecorder.Moments;
import io.github.gatlingllm.record.TokenGaps;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.apache.commons.statistics.distribution.TDistribution;
import org.jspecify.annotations.Nullable;

/**
 * How far figures of two runs would differ by chance alone.
 *
 * <p>Requests that are in flight together share a queue and are not independent. Therefore blocks
 * of neighbouring time slices are resampled, in a circle (circular block bootstrap, Politis and
 * Romano 1992); a block is at least as long as most requests last. Correlation over longer times is
 * added by {@link Autocorrelation}. All figures use the same resample, so that their bound is
 * simultaneous: the {@value #CONFIDENCE} quantile of the largest |change* − mean| ÷ standard error
 * over all figures (Westfall and Young 1993), widened to Student's t. The degrees of freedom are
 * the number of blocks minus one, for a percentile at most the {@linkplain Weighted#slicesFrom
 * slices it rests on} minus one. Runs compared with one base share the 5 % (Bonferroni).
 *
 * <p>Where both runs repeat their load levels, the standard error and the degrees of freedom are
 * those {@linkplain Difference between} repeats, and the figures share the 5 % (Bonferroni) unless
 * the simultaneous bound is narrower.
 */
final class BlockBootstrap {

  /** Probability that no figure is called changed although nothing changed. */
  private static final double CONFIDENCE = 0.95;

  private static final int DRAWS = 1_000;
  private static final int SEED = 1;
  private static final double MANY = 1e4;

  /** In slices; each length up to this divides {@link TimeSlice#COUNT}. */
  private static final int MAX_LENGTH = 4;

  private static final int[] ONCE = IntStream.generate(() -> 1).limit(TimeSlice.COUNT).toArray();

  private final List<Pair> stages;
  private final SplittableRandom random = new SplittableRandom(SEED);

  record Pair(SliceSample base, SliceSample run, int length, double missed) {}

  /** A figure over the load levels at these positions; {@code between} if they are repeated. */
  record Question(ComparedFigure figure, List<Integer> stages, @Nullable Difference between) {}

  BlockBootstrap(List<Pair> stages) {
    this.stages = stages;
  }

  /** Slices in a block: the fewest that are at least as long as a request (its E2E p90). */
  static int blockLength(double requestSlices) {
    return (int) Math.max(1, Math.min(MAX_LENGTH, Math.ceil(requestSlices)));
  }

  /** Half the widths of the confidence intervals of changes, simultaneous over all runs. */
  Map<Question, Double> halves(List<Question> questions, int runs) {
    double[][] changes = new double[questions.size()][DRAWS];
    for (int draw = 0; draw < DRAWS; draw++) {
      List<int[]> base = draw();
      List<int[]> run = draw();
      for (int q = 0; q < changes.length; q++) {
        Question of = questions.get(q);
        Double change = of.figure().change(weighted(of, base, true), weighted(of, run, false));
        changes[q][draw] = change == null ? Double.NaN : change;
      }
    }
    double[] errors = new double[changes.length];
    double[] farthest = new double[DRAWS];
    Arrays.setAll(errors, q -> error(changes[q], farthest));
    Arrays.sort(farthest);
    double bound = TokenGaps.nearestRank(farthest, 100 * (1 - (1 - CONFIDENCE) / runs));
    double beyond = 2 * TDistribution.of(MANY).survivalProbability(bound);
    double shared = (1 - CONFIDENCE) / runs / Math.max(1, changes.length);
    Map<Question, Double> halves = new HashMap<>();
    for (int q = 0; q < changes.length; q++) {
      if (!Double.isNaN(errors[q])) {
        Question question = questions.get(q);
        Difference between = question.between();
        halves.put(
            question,
            between == null
                ? errors[q] * factor(question, beyond)
                : between.error() * quantile(between.freedom(), Math.max(beyond, shared)));
      }
    }
    return halves;
  }

  /** The standard error, NaN if a resample had no value; raises {@code farthest} where larger. */
  private static double error(double[] changes, double[] farthest) {
    Moments moments = new Moments();
    for (double change : changes) {
      moments.add(change, 1);
    }
    double error = moments.std();
    for (int draw = 0; error > 0 && draw < changes.length; draw++) {
      double distance = Math.abs(changes[draw] - moments.mean()) / error;
      farthest[draw] = Math.max(farthest[draw], distance);
    }
    return error;
  }

  /** Half the width of a confidence interval in standard errors. */
  private double factor(Question question, double beyond) {
    Metric metric = question.figure().noise().metric();
    double missed = 0;
    double freedom = 0;
    for (int stage : question.stages()) {
      Pair pair = stages.get(stage);
      double own =
          (pair.base().missedBy(pair.length(), metric) + pair.run().missedBy(pair.length(), metric))
              / 2;
      missed += Math.max(pair.missed(), own) / question.stages().size();
      freedom += TimeSlice.COUNT / pair.length() - 1;
    }
    Double percent = question.figure().noise().percent();
    if (percent != null) {
      List<int[]> once = Collections.nCopies(stages.size(), ONCE);
      double slices =
          Math.min(
              weighted(question, once, true).slicesFrom(metric, percent),
              weighted(question, once, false).slicesFrom(metric, percent));
      freedom = Math.min(freedom, slices - 1);
    }
    return Math.sqrt(missed) * quantile(freedom, beyond);
  }

  private static double quantile(double freedom, double beyond) {
    return TDistribution.of(Math.max(1, freedom)).inverseSurvivalProbability(beyond / 2);
  }

  private Weighted weighted(Question question, List<int[]> weights, boolean ofBase) {
    List<SliceSample> samples = new ArrayList<>();
    List<int[]> times = new ArrayList<>();
    for (int stage : question.stages()) {
      Pair pair = stages.get(stage);
      samples.add(ofBase ? pair.base() : pair.run());
      times.add(weights.get(stage));
    }
    return new Weighted(samples, times);
  }

  private List<int[]> draw() {
    List<int[]> weights = new ArrayList<>();
    for (Pair pair : stages) {
      int[] times = new int[TimeSlice.COUNT];
      for (int block = 0; block < TimeSlice.COUNT / pair.length(); block++) {
        int from = random.nextInt(TimeSlice.COUNT);
        for (int i = 0; i < pair.length(); i++) {
          times[(from + i) % TimeSlice.COUNT]++;
        }
      }
      weights.add(times);
    }
    return weights;
  }
}
