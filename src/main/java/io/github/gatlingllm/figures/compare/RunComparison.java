package io.github.gatlingllm.figures.compare;

import static java.util.Objects.requireNonNull;

import io.github.gatlingllm.figures.compare.ChangeNoise.ComparedPair;
import io.github.gatlingllm.figures.compare.ChangeNoise.Question;
import io.github.gatlingllm.figures.compare.ComparedFigure.Scale;
import io.github.gatlingllm.figures.compare.Comparison.Change;
import io.github.gatlingllm.figures.compare.Comparison.ComparedPlace;
import io.github.gatlingllm.figures.compare.Comparison.ComparedRun;
import io.github.gatlingllm.figures.compare.Comparison.Outcome;
import io.github.gatlingllm.figures.level.RunStatistics.OtherTool;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.level.TimeSlice.Autocorrelation;
import io.github.gatlingllm.figures.metric.Distribution.Interval;
import io.github.gatlingllm.figures.metric.Figure;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.Sentence;
import io.github.gatlingllm.record.LevelInfo;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
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
  private final boolean haveScenarios;
  private final List<ComparedFigure> figures =
      Figure.compared().stream().map(ComparedFigure::new).toList();
  private final List<Match> matches = new ArrayList<>();
  private final List<String> unmatched = new ArrayList<>();
  private final List<String> shortWindows = new ArrayList<>();

  private record Match(int base, int run) {}

  private record Part(List<Integer> matches, Figures base, Figures run) {
    Question question(ComparedFigure figure) {
      return new Question(figure, matches, figure.between(base, run));
    }
  }

  RunComparison(ComparedRun base, ComparedRun run) {
    this.base = base;
    this.run = run;
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
    match();
  }

  /** Without places if the runs have no load level in common. */
  Comparison compare(int runs) throws IOException {
    if (matches.isEmpty()) {
      return new Comparison(List.of(), unmatched, List.of());
    }
    List<ComparedPair> pairs = matches.stream().map(this::pair).toList();
    List<Part> parts = new ArrayList<>();
    parts.add(
        new Part(
            IntStream.range(0, pairs.size()).boxed().toList(),
            base.pooled(positions(Match::base)),
            run.pooled(positions(Match::run))));
    for (int i = 0; pairs.size() > 1 && i < pairs.size(); i++) {
      Match match = matches.get(i);
      parts.add(new Part(List.of(i), base.figuresOf(match.base), run.figuresOf(match.run)));
    }
    List<Question> questions = new ArrayList<>();
    for (Part part : parts) {
      for (ComparedFigure figure : figures) {
        if (figure.isKnown(part.base, part.run)) {
          questions.add(part.question(figure));
        }
      }
    }
    Map<Question, Double> halves = new ChangeNoise(pairs).halves(questions, runs);
    return new Comparison(
        parts.stream().map(part -> place(part, halves)).toList(), unmatched, notes());
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

  private boolean isRepeated(Match match) {
    return !base.figuresOf(match.base).repeats().isEmpty()
        && !run.figuresOf(match.run).repeats().isEmpty();
  }

  private boolean haveValues() {
    return base.hasValues() && run.hasValues();
  }

  private Set<Integer> positions(Function<Match, Integer> of) {
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
        matches.add(new Match(b, found));
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
        one.label().equals(LevelInfo.WHOLE_RUN) || other.label().equals(LevelInfo.WHOLE_RUN);
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

  private ComparedPair pair(Match match) {
    SliceSample ours = requireNonNull(base.sampleOf(match.base));
    SliceSample theirs = requireNonNull(run.sampleOf(match.run));
    double request = Math.max(base.requestSeconds(match.base), run.requestSeconds(match.run));
    double batch = Autocorrelation.LONGEST * Math.min(ours.seconds(), theirs.seconds());
    if (haveValues() && batch < request && !isRepeated(match)) {
      shortWindows.add(named(base.levels().get(match.base)));
    }
    return new ComparedPair(ours, theirs);
  }

  private ComparedPlace place(Part part, Map<Question, Double> halves) {
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
    Scale scale = of.scale();
    Double change = scale.change(before, after);
    if (change == null || half == null) {
      // If both are 0, their ratio has no logarithm.
      boolean isSame = change == null && before != null && before.equals(after);
      boolean isRatio = before != null && after != null && before > 0;
      Double percent =
          change != null
              ? (Double) scale.inPercent(change)
              : isSame ? (Double) 0.0 : isRatio ? (Double) ((after / before - 1) * 100) : null;
      Outcome outcome =
          !of.isKnown(base, run)
              ? Outcome.TOO_FEW_VALUES
              : isSame ? Outcome.NO_CLEAR_CHANGE : Outcome.NOT_JUDGED;
      return new Change(figure, before, after, percent, null, outcome);
    }
    boolean isClear =
        Math.abs(change) > half
            && scale.isRelevant(change, requireNonNull(after) - requireNonNull(before));
    boolean isBetter = (change < 0) == (figure.metric().better() == Metric.Better.LOWER);
    return new Change(
        figure,
        before,
        after,
        scale.inPercent(change),
        new Interval(scale.inPercent(change - half), scale.inPercent(change + half)),
        !isClear ? Outcome.NO_CLEAR_CHANGE : isBetter ? Outcome.BETTER : Outcome.WORSE);
  }
}
