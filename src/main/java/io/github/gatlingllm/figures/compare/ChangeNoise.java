package io.github.gatlingllm.figures.compare;

import io.github.gatlingllm.figures.compare.SliceSample.Pulls;
import io.github.gatlingllm.figures.level.TimeSlice;
import io.github.gatlingllm.figures.level.TimeSlice.Autocorrelation;
import io.github.gatlingllm.figures.metric.Distribution.Difference;
import io.github.gatlingllm.record.TokenGaps;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Function;
import org.apache.commons.statistics.distribution.TDistribution;
import org.jspecify.annotations.Nullable;

/**
 * How far figures of two runs would differ by chance alone.
 *
 * <p>The standard error of a figure of a run is that of its time slices' {@linkplain Pulls pulls},
 * by {@link Autocorrelation#spread}, as in the confidence intervals of a load level (Woodruff 1952
 * for percentiles). Degrees of freedom are those of the run that has fewer; for a percentile they
 * are less than the effective number of slices that its values come from.
 *
 * <p>The bound is simultaneous: the {@value #CONFIDENCE} quantile of the largest change ÷ standard
 * error over all figures, where each slice pulls all of them by the same random normal factor
 * (Chernozhukov, Chetverikov and Kato 2013), widened to Student's t. Runs compared with one base
 * share the 5 % (Bonferroni).
 *
 * <p>Where both runs repeat their load levels, the standard error and the degrees of freedom are
 * those {@linkplain Difference between} repeats, and the figures share the 5 % (Bonferroni) unless
 * the simultaneous bound is narrower.
 *
 * @see <a href="https://doi.org/10.1080/01621459.1952.10483443">Woodruff 1952</a>
 * @see <a href="https://doi.org/10.1214/13-AOS1161">Chernozhukov, Chetverikov, Kato 2013</a>
 */
final class ChangeNoise {

  /** Probability that no figure is called changed although nothing changed. */
  private static final double CONFIDENCE = 0.95;

  private static final int DRAWS = 1_000;
  private static final int SEED = 1;
  private static final double MANY = 1e4;

  private final List<ComparedPair> pairs;

  record ComparedPair(SliceSample base, SliceSample run) {}

  /** A figure over the load levels at these positions; {@code between} if they are repeated. */
  record Question(ComparedFigure figure, List<Integer> levels, @Nullable Difference between) {}

  private record Both(Pulls base, Pulls run) {

    Difference noise() {
      return new Difference(
          Math.sqrt(base.variance() + run.variance()), Math.min(base.freedom(), run.freedom()));
    }
  }

  ChangeNoise(List<ComparedPair> pairs) {
    this.pairs = pairs;
  }

  /** Half the widths of the confidence intervals of changes, simultaneous over all runs. */
  Map<Question, Double> halves(List<Question> questions, int runs) {
    Map<Question, Both> known = new LinkedHashMap<>();
    for (Question question : questions) {
      Pulls base = pulls(question, ComparedPair::base);
      Pulls run = pulls(question, ComparedPair::run);
      if (base != null && run != null) {
        known.put(question, new Both(base, run));
      }
    }
    double alpha = (1 - CONFIDENCE) / runs;
    double bound = farthest(known)[(int) TokenGaps.rank(100 * (1 - alpha), DRAWS) - 1];
    double simultaneous = 2 * TDistribution.of(MANY).survivalProbability(bound);
    double beyond = Math.max(simultaneous, alpha / Math.max(1, questions.size()));
    Map<Question, Double> halves = new HashMap<>();
    known.forEach(
        (question, both) -> {
          Difference noise = question.between() == null ? both.noise() : question.between();
          TDistribution student = TDistribution.of(noise.freedom());
          halves.put(question, noise.error() * student.inverseSurvivalProbability(beyond / 2));
        });
    return halves;
  }

  private @Nullable Pulls pulls(Question question, Function<ComparedPair, SliceSample> of) {
    return SliceSample.pulls(
        question.levels().stream().map(pairs::get).map(of).toList(), question.figure());
  }

  /** The largest change ÷ standard error in each draw, the smallest first. */
  private double[] farthest(Map<Question, Both> known) {
    SplittableRandom random = new SplittableRandom(SEED);
    double[][] base = new double[pairs.size()][TimeSlice.COUNT];
    double[][] run = new double[pairs.size()][TimeSlice.COUNT];
    double[] farthest = new double[DRAWS];
    for (int draw = 0; draw < DRAWS; draw++) {
      for (int i = 0; i < pairs.size(); i++) {
        Arrays.setAll(base[i], slice -> random.nextGaussian());
        Arrays.setAll(run[i], slice -> random.nextGaussian());
      }
      for (Map.Entry<Question, Both> each : known.entrySet()) {
        double sum = 0;
        double squares = 0;
        List<Integer> levels = each.getKey().levels();
        for (int l = 0; l < levels.size(); l++) {
          double[] ours = each.getValue().base().byLevel().get(l);
          double[] theirs = each.getValue().run().byLevel().get(l);
          for (int i = 0; i < TimeSlice.COUNT; i++) {
            sum += theirs[i] * run[levels.get(l)][i] - ours[i] * base[levels.get(l)][i];
            squares += theirs[i] * theirs[i] + ours[i] * ours[i];
          }
        }
        double distance = squares == 0 ? 0 : Math.abs(sum) / Math.sqrt(squares);
        farthest[draw] = Math.max(farthest[draw], distance);
      }
    }
    Arrays.sort(farthest);
    return farthest;
  }
}
