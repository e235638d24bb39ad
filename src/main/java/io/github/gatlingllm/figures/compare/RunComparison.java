package io.github.gatlingllm.figures.compare;

import static java.util.Objects.requireNonNull;

import io.github.gatlingllm.figures.compare.Comparison.Change;
import io.github.gatlingllm.figures.compare.Comparison.ComparedPlace;
import io.github.gatlingllm.figures.compare.Comparison.ComparedRun;
import io.github.gatlingllm.figures.compare.Comparison.Outcome;
import io.github.gatlingllm.figures.compare.SliceSample.Pulls;
import io.github.gatlingllm.figures.level.RunStatistics.OtherTool;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.level.TimeSlice;
import io.github.gatlingllm.figures.metric.Distribution.Interval;
import io.github.gatlingllm.figures.metric.Distribution.Spread;
import io.github.gatlingllm.figures.metric.Figure;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.Sentence;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.TokenGaps;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.commons.statistics.distribution.TDistribution;
import org.jspecify.annotations.Nullable;

/**
 * Compares two recorded runs, by load level and with all load levels pooled. Load levels are
 * matched by label, scenario and target; if each run has one target, its name does not matter.
 */
final class RunComparison {

  private final ComparedRun base;
  private final ComparedRun run;
  private final boolean haveOneTarget;
  private final boolean isOfOtherTool;
  private final boolean isOfClasses;
  private final boolean haveScenarios;
  private final List<ComparedFigure> figures;
  private final List<Pair<Integer>> matches = new ArrayList<>();
  private final List<String> unmatched = new ArrayList<>();
  private final List<String> shortWindows = new ArrayList<>();

  /** Positions of a level in both runs, its time slices, or their pulls on a figure. */
  private record Pair<T>(T base, T run) {}

  /** Some load levels of both; the repeats of classes of traffic are paired. */
  private record Part(List<Integer> matches, Figures base, Figures run, boolean isPaired) {
    ChangeNoise.Question question(ComparedFigure figure) {
      Spread between = isPaired ? figure.paired(base, run) : figure.between(base, run);
      return new ChangeNoise.Question(figure, matches, between);
    }
  }

  RunComparison(ComparedRun base, ComparedRun run) {
    this(base, run, Figure.compared(), false);
    match();
  }

  private RunComparison(
      ComparedRun base, ComparedRun run, List<Figure> compared, boolean isOfClasses) {
    this.isOfClasses = isOfClasses;
    this.base = base;
    this.run = run;
    figures = compared.stream().map(ComparedFigure::new).toList();
    haveOneTarget = base.hasOneTarget() && run.hasOneTarget();
    isOfOtherTool = base.tool() != null || run.tool() != null;
    haveScenarios =
        Stream.of(base, run)
                .flatMap(each -> each.levels().stream())
                .map(LevelInfo::scenario)
                .filter(scenario -> !isOfOtherTool || scenario != null)
                .distinct()
                .count()
            > 1;
  }

  /** Each level in which a class of traffic is alone, and the same class beside the others. */
  static List<ComparedPlace> ofClasses(ComparedRun run, List<Figure> compared) {
    RunComparison comparison = new RunComparison(run, run, compared, true);
    List<LevelInfo> levels = run.levels();
    for (int together = 0; together < levels.size(); together++) {
      LevelInfo level = levels.get(together);
      for (int alone = 0; alone < levels.size(); alone++) {
        LevelInfo own = levels.get(alone);
        if (own.key()
                .equals(
                    new LevelInfo.Key(
                        level.label() + LevelInfo.ALONE, level.target(), level.scenario()))
            && run.sampleOf(alone) != null
            && run.sampleOf(together) != null) {
          comparison.matches.add(new Pair<>(alone, together));
        }
      }
    }
    List<Part> parts = comparison.parts();
    Map<ChangeNoise.Question, Double> halves = comparison.halves(parts, 1);
    return parts.stream().map(part -> comparison.place(part, halves)).toList();
  }

  /** Without places if the runs have no load level in common. */
  Comparison compare(int runs) throws IOException {
    if (matches.isEmpty()) {
      return new Comparison(List.of(), unmatched, List.of());
    }
    List<Part> parts = new ArrayList<>();
    parts.add(
        new Part(
            IntStream.range(0, matches.size()).boxed().toList(),
            base.pooled(positions(Pair::base)),
            run.pooled(positions(Pair::run)),
            false));
    if (matches.size() > 1) {
      parts.addAll(parts());
    }
    Map<ChangeNoise.Question, Double> halves = halves(parts, runs);
    return new Comparison(
        parts.stream().map(part -> place(part, halves)).toList(), unmatched, notes());
  }

  /** The load levels that both have. */
  private List<Part> parts() {
    return IntStream.range(0, matches.size())
        .mapToObj(
            i ->
                new Part(
                    List.of(i),
                    base.figuresOf(matches.get(i).base),
                    run.figuresOf(matches.get(i).run),
                    isOfClasses))
        .toList();
  }

  private Map<ChangeNoise.Question, Double> halves(List<Part> parts, int runs) {
    List<ChangeNoise.Question> questions = new ArrayList<>();
    for (Part part : parts) {
      for (ComparedFigure figure : figures) {
        if (figure.isKnown(part.base, part.run)) {
          questions.add(part.question(figure));
        }
      }
    }
    return new ChangeNoise(matches.stream().map(this::pair).toList()).halves(questions, runs);
  }

  private List<String> notes() {
    List<String> notes = new ArrayList<>();
    if (!shortWindows.isEmpty()) {
      notes.add(Sentence.text("compare.short", shortWindows));
    }
    if (matches.stream().anyMatch(this::isRepeated)) {
      notes.add(Sentence.text("compare.repeats"));
    }
    return notes;
  }

  private boolean isRepeated(Pair<Integer> match) {
    return !base.figuresOf(match.base).repeats().isEmpty()
        && !run.figuresOf(match.run).repeats().isEmpty();
  }

  private boolean haveValues() {
    return base.hasValues() && run.hasValues();
  }

  private Set<Integer> positions(Function<Pair<Integer>, Integer> of) {
    return new TreeSet<>(matches.stream().map(of).toList());
  }

  private void match() {
    List<LevelInfo> ours = base.levels();
    List<LevelInfo> theirs = run.levels();
    Set<Integer> free = new TreeSet<>(IntStream.range(0, theirs.size()).boxed().toList());
    for (int b = 0; b < ours.size(); b++) {
      LevelInfo level = ours.get(b);
      Integer found =
          free.stream().filter(r -> isMatch(level, theirs.get(r))).findFirst().orElse(null);
      if (found == null) {
        unmatched.add(Sentence.text("compare.only_base", named(level)));
        continue;
      }
      free.remove(found);
      if (base.sampleOf(b) == null || run.sampleOf(found) == null) {
        unmatched.add(Sentence.text("compare.unmeasured", named(level)));
      } else {
        matches.add(new Pair<>(b, found));
      }
    }
    free.forEach(r -> unmatched.add(Sentence.text("compare.only_run", named(theirs.get(r)))));
  }

  /** Files of other tools name no scenario and no target, and some no load. */
  private boolean isMatch(LevelInfo one, LevelInfo other) {
    if (!isOfOtherTool || !haveOneTarget || haveScenarios) {
      return isSame(one, other, haveOneTarget);
    }
    boolean isUnknown =
        one.label().equals(LevelInfo.ENTIRE_RUN) || other.label().equals(LevelInfo.ENTIRE_RUN);
    boolean areSingle = base.levels().size() == 1 && run.levels().size() == 1;
    return one.label().equals(other.label()) || (isUnknown && areSingle);
  }

  /** The names of targets matter only where a run has several. */
  static boolean isSame(LevelInfo one, LevelInfo other, boolean haveOneTarget) {
    return one.label().equals(other.label())
        && Objects.equals(one.scenario(), other.scenario())
        && (haveOneTarget || one.target().equals(other.target()));
  }

  /** A load level as reports name it: with target and scenario only where a run has several. */
  private String named(LevelInfo level) {
    return Summary.named(level, !haveOneTarget, haveScenarios);
  }

  private Pair<SliceSample> pair(Pair<Integer> match) {
    SliceSample ours = requireNonNull(base.sampleOf(match.base));
    SliceSample theirs = requireNonNull(run.sampleOf(match.run));
    double request = Math.max(base.requestSeconds(match.base), run.requestSeconds(match.run));
    double batch = TimeSlice.LONGEST * Math.min(ours.seconds(), theirs.seconds());
    if (haveValues() && batch < request && !isRepeated(match)) {
      shortWindows.add(named(base.levels().get(match.base)));
    }
    return new Pair<>(ours, theirs);
  }

  private ComparedPlace place(Part part, Map<ChangeNoise.Question, Double> halves) {
    List<Change> changes =
        figures.stream()
            .filter(figure -> !figure.repeatsAnother(part.base, part.run))
            .filter(of -> !isOfOtherTool || !OtherTool.lacks(of.figure().metric()))
            .map(figure -> change(figure, part.base, part.run, halves.get(part.question(figure))))
            .map(change -> haveValues() ? change : change.unjudged())
            .filter(change -> change.base() != null || change.run() != null)
            .toList();
    LevelInfo level =
        part.matches.size() > 1 ? null : base.levels().get(matches.get(part.matches.get(0)).base);
    return new ComparedPlace(
        level == null ? Sentence.text("compare.pooled", part.matches.size()) : named(level),
        level,
        part.base,
        part.run,
        changes);
  }

  /** The change of a figure; {@code half} is null where it gets no interval. */
  static Change change(ComparedFigure of, Figures base, Figures run, @Nullable Double half) {
    Figure figure = of.figure();
    Double before = figure.of(base);
    Double after = figure.of(run);
    Double change = of.change(before, after);
    if (change == null || half == null) {
      // If both are 0, their ratio has no logarithm.
      boolean isSame = change == null && before != null && before.equals(after);
      boolean isRatio = before != null && after != null && before > 0;
      Double percent =
          change != null
              ? (Double) of.inPercent(change)
              : isSame ? (Double) 0.0 : isRatio ? (Double) ((after / before - 1) * 100) : null;
      Outcome outcome =
          !of.isKnown(base, run)
              ? Outcome.TOO_FEW_VALUES
              : isSame ? Outcome.NO_CLEAR_CHANGE : Outcome.NOT_JUDGED;
      return new Change(figure, before, after, percent, null, outcome);
    }
    boolean isClear =
        Math.abs(change) > half
            && of.isRelevant(change, requireNonNull(after) - requireNonNull(before));
    boolean isBetter = (change < 0) == (figure.metric().better() == Metric.Better.LOWER);
    return new Change(
        figure,
        before,
        after,
        of.inPercent(change),
        new Interval(of.inPercent(change - half), of.inPercent(change + half)),
        !isClear ? Outcome.NO_CLEAR_CHANGE : isBetter ? Outcome.BETTER : Outcome.WORSE);
  }

  /**
   * How far figures of two runs would differ by chance alone.
   *
   * <p>The standard error of a figure of a run is that of its time slices' {@linkplain Pulls
   * pulls}, by {@link TimeSlice#spread}, as in the confidence intervals of a load level (Woodruff
   * 1952 for percentiles). Degrees of freedom are those of the run that has fewer; for a percentile
   * they are less than the effective number of slices that its values come from.
   *
   * <p>The bound is simultaneous: the {@value #CONFIDENCE} quantile of the largest change ÷
   * standard error over all figures, where each slice pulls all of them by the same random normal
   * factor (Chernozhukov, Chetverikov and Kato 2013), widened to Student's t. Runs compared with
   * one base share the 5 % (Bonferroni).
   *
   * <p>Where both runs repeat their load levels, the standard error and the degrees of freedom are
   * those {@linkplain Spread between} repeats, and the figures share the 5 % (Bonferroni) unless
   * the simultaneous bound is narrower.
   *
   * @see <a href="https://doi.org/10.1080/01621459.1952.10483443">Woodruff 1952</a>
   * @see <a href="https://doi.org/10.1214/13-AOS1161">Chernozhukov, Chetverikov, Kato 2013</a>
   */
  private static final class ChangeNoise {

    /** Probability that no figure is called changed although nothing changed. */
    private static final double CONFIDENCE = 0.95;

    private static final int DRAWS = 1_000;
    private static final int SEED = 1;
    private static final double MANY = 1e4;

    private final List<Pair<SliceSample>> pairs;

    /** A figure over the load levels at these positions; {@code between} if they are repeated. */
    private record Question(
        ComparedFigure figure, List<Integer> levels, @Nullable Spread between) {}

    private static Spread noise(Pair<Pulls> of) {
      Spread base = of.base.noise();
      Spread run = of.run.noise();
      return new Spread(
          0, Math.hypot(base.error(), run.error()), Math.min(base.freedom(), run.freedom()));
    }

    ChangeNoise(List<Pair<SliceSample>> pairs) {
      this.pairs = pairs;
    }

    /** Half the widths of the confidence intervals of changes, simultaneous over all runs. */
    Map<Question, Double> halves(List<Question> questions, int runs) {
      Map<Question, Pair<Pulls>> known = new LinkedHashMap<>();
      for (Question question : questions) {
        Pulls base = pulls(question, Pair::base);
        Pulls run = pulls(question, Pair::run);
        if (base != null && run != null) {
          known.put(question, new Pair<>(base, run));
        }
      }
      double alpha = (1 - CONFIDENCE) / runs;
      double bound = farthest(known)[(int) TokenGaps.rank(100 * (1 - alpha), DRAWS) - 1];
      double simultaneous = 2 * TDistribution.of(MANY).survivalProbability(bound);
      double beyond = Math.max(simultaneous, alpha / Math.max(1, questions.size()));
      Map<Question, Double> halves = new HashMap<>();
      known.forEach(
          (question, both) -> {
            Spread noise = question.between() == null ? noise(both) : question.between();
            TDistribution student = TDistribution.of(noise.freedom());
            halves.put(question, noise.error() * student.inverseSurvivalProbability(beyond / 2));
          });
      return halves;
    }

    private @Nullable Pulls pulls(Question question, Function<Pair<SliceSample>, SliceSample> of) {
      return SliceSample.pulls(
          question.levels().stream().map(pairs::get).map(of).toList(), question.figure());
    }

    /** The largest change ÷ standard error in each draw, the smallest first. */
    private double[] farthest(Map<Question, Pair<Pulls>> known) {
      SplittableRandom random = new SplittableRandom(SEED);
      double[][] base = new double[pairs.size()][TimeSlice.COUNT];
      double[][] run = new double[pairs.size()][TimeSlice.COUNT];
      double[] farthest = new double[DRAWS];
      for (int draw = 0; draw < DRAWS; draw++) {
        for (int i = 0; i < pairs.size(); i++) {
          Arrays.setAll(base[i], slice -> random.nextGaussian());
          Arrays.setAll(run[i], slice -> random.nextGaussian());
        }
        for (Map.Entry<Question, Pair<Pulls>> each : known.entrySet()) {
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
}
