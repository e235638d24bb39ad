package io.github.gatlingllm.figures.compare;

import static java.util.Objects.requireNonNull;

import io.github.gatlingllm.figures.compare.BlockBootstrap.Pair;
import io.github.gatlingllm.figures.compare.BlockBootstrap.Question;
import io.github.gatlingllm.figures.compare.ComparedFigure.Scale;
import io.github.gatlingllm.figures.compare.Comparison.Change;
import io.github.gatlingllm.figures.compare.Comparison.Outcome;
import io.github.gatlingllm.figures.compare.Comparison.Place;
import io.github.gatlingllm.figures.level.Autocorrelation;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.level.TimeSlice;
import io.github.gatlingllm.figures.metric.Distribution.Interval;
import io.github.gatlingllm.figures.metric.Figure;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.record.LevelInfo;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Compares two recorded runs, by load level and with all load levels pooled.
 *
 * <p>A change is clear where its interval excludes no change, and the change is at least {@value
 * Comparison#MIN_PERCENT} % of the base (for a share: {@value Comparison#MIN_POINTS} percentage
 * point; for a time also {@value Comparison#MIN_MS} ms). The intervals are simultaneous: with 95 %
 * confidence all of them hold, see {@link BlockBootstrap}. They cover the noise within a run; a
 * pair of runs cannot show the noise between days, machines or GPU temperatures.
 *
 * <p>Load levels are matched by label, scenario and target; if each run has one target, its name
 * does not matter. Deterministic: the same records give the same outcome.
 */
final class RunComparison {

  private static final long SEED = 1;

  private final ComparedRun base;
  private final ComparedRun run;
  private final int runs;
  private final List<ComparedFigure> figures = ComparedFigure.all();
  private final List<Match> matches = new ArrayList<>();
  private final List<String> unmatched = new ArrayList<>();
  private final List<String> shortWindows = new ArrayList<>();

  /** The positions of a load level in the base and in the other run. */
  private record Match(int base, int run) {}

  RunComparison(ComparedRun base, ComparedRun run, int runs) {
    this.base = base;
    this.run = run;
    this.runs = runs;
  }

  /** The comparison; without places if the runs have no load level in common. */
  Comparison compare() throws IOException {
    match();
    if (matches.isEmpty()) {
      return new Comparison(List.of(), unmatched, notes());
    }
    List<Pair> pairs = matches.stream().map(this::pair).toList();
    List<List<Integer>> places = new ArrayList<>();
    places.add(IntStream.range(0, pairs.size()).boxed().toList());
    List<Figures> ofBase = new ArrayList<>();
    List<Figures> ofRun = new ArrayList<>();
    ofBase.add(base.pooled(positions(Match::base)));
    ofRun.add(run.pooled(positions(Match::run)));
    for (int i = 0; pairs.size() > 1 && i < pairs.size(); i++) {
      places.add(List.of(i));
      ofBase.add(base.figuresOf(matches.get(i).base()));
      ofRun.add(run.figuresOf(matches.get(i).run()));
    }
    List<Question> questions = new ArrayList<>();
    for (int p = 0; p < places.size(); p++) {
      for (ComparedFigure figure : figures) {
        if (figure.isKnown().test(ofBase.get(p)) && figure.isKnown().test(ofRun.get(p))) {
          questions.add(new Question(figure, places.get(p)));
        }
      }
    }
    List<@Nullable Double> halves = new BlockBootstrap(pairs, runs, SEED).halves(questions);
    List<Place> compared = new ArrayList<>();
    for (int p = 0; p < places.size(); p++) {
      compared.add(place(places.get(p), ofBase.get(p), ofRun.get(p), questions, halves));
    }
    return new Comparison(compared, unmatched, notes());
  }

  private List<String> notes() {
    return shortWindows.isEmpty()
        ? List.of()
        : List.of(
            "Measure windows are short compared with the requests in them, so intervals are wide: "
                + String.join(", ", shortWindows)
                + ". Measure longer.");
  }

  private Set<Integer> positions(Function<Match, Integer> of) {
    return new TreeSet<>(matches.stream().map(of).toList());
  }

  private void match() {
    boolean byLabel = hasOneTarget(base) && hasOneTarget(run);
    List<LevelInfo> theirs = run.stages();
    Set<Integer> taken = new TreeSet<>();
    for (int b = 0; b < base.stages().size(); b++) {
      LevelInfo stage = base.stages().get(b);
      int found = -1;
      for (int r = 0; r < theirs.size() && found < 0; r++) {
        LevelInfo other = theirs.get(r);
        boolean same =
            stage.label().equals(other.label())
                && Objects.equals(stage.scenario(), other.scenario())
                && (byLabel || stage.target().equals(other.target()));
        found = same && !taken.contains(r) ? r : -1;
      }
      if (found < 0) {
        unmatched.add(named(stage) + " is only in the base");
      } else {
        taken.add(found);
        if (base.sampleOf(b) == null || run.sampleOf(found) == null) {
          unmatched.add(named(stage) + " was not measured in both");
        } else {
          matches.add(new Match(b, found));
        }
      }
    }
    for (int r = 0; r < theirs.size(); r++) {
      if (!taken.contains(r)) {
        unmatched.add(named(theirs.get(r)) + " is only in the other run");
      }
    }
  }

  /** A load level as reports name it: with target and scenario only where a run has several. */
  private String named(LevelInfo stage) {
    boolean scenarios =
        Stream.concat(base.stages().stream(), run.stages().stream())
                .map(LevelInfo::scenario)
                .distinct()
                .count()
            > 1;
    return Summary.named(
        stage.label(),
        hasOneTarget(base) && hasOneTarget(run) ? null : stage.target(),
        scenarios ? stage.scenario() : null);
  }

  private static String inRequests(double windows) {
    return windows < 1
        ? "less than one request long"
        : NumberText.number(Math.floor(windows))
            + (windows < 2 ? " request long" : " requests long");
  }

  private static boolean hasOneTarget(ComparedRun run) {
    return run.stages().stream().map(LevelInfo::target).distinct().count() == 1;
  }

  private Pair pair(Match match) {
    SliceSample ours = requireNonNull(base.sampleOf(match.base()));
    SliceSample theirs = requireNonNull(run.sampleOf(match.run()));
    double request = Math.max(base.requestSeconds(match.base()), run.requestSeconds(match.run()));
    double slice = Math.min(ours.sliceSeconds(), theirs.sliceSeconds());
    double phi = Autocorrelation.of(ours.slices(), theirs.slices());
    int length = BlockBootstrap.blockLength(request / slice);
    if (length * slice < request) {
      shortWindows.add(
          named(base.stages().get(match.base()))
              + " ("
              + inRequests(slice * TimeSlice.COUNT / request)
              + ")");
    }
    return new Pair(ours, theirs, length, Autocorrelation.missedBy(length, phi));
  }

  private Place place(
      List<Integer> stages,
      Figures ofBase,
      Figures ofRun,
      List<Question> questions,
      List<@Nullable Double> halves) {
    List<Change> changes = new ArrayList<>();
    for (ComparedFigure figure : figures) {
      Double before = figure.figure().of(ofBase);
      Double after = figure.figure().of(ofRun);
      if ((before != null || after != null) && !repeatsAnother(figure, ofBase, ofRun)) {
        int question = questions.indexOf(new Question(figure, stages));
        Double half = question < 0 ? null : halves.get(question);
        changes.add(change(figure, before, after, half));
      }
    }
    LevelInfo stage =
        stages.size() == 1 ? base.stages().get(matches.get(stages.get(0)).base()) : null;
    return new Place(
        stage == null ? null : stage.label(),
        stage == null ? null : stage.target(),
        stage == null ? null : stage.scenario(),
        ofBase,
        ofRun,
        changes);
  }

  /** Whether the figure equals TTFT or E2E: no queue wait in the client, no reasoning. */
  private static boolean repeatsAnother(ComparedFigure figure, Figures base, Figures run) {
    String name = figure.figure().name();
    if (name.startsWith("ttft_from_schedule.") || name.startsWith("ttfo.")) {
      Metric metric = name.startsWith("ttfo.") ? Metric.TTFO_MS : Metric.TTFT_FROM_SCHEDULE_MS;
      return isSame(metric, Metric.TTFT_MS, base) && isSame(metric, Metric.TTFT_MS, run);
    }
    return name.startsWith("e2e_from_schedule.")
        && isSame(Metric.E2E_FROM_SCHEDULE_MS, Metric.E2E_MS, base)
        && isSame(Metric.E2E_FROM_SCHEDULE_MS, Metric.E2E_MS, run);
  }

  private static boolean isSame(Metric a, Metric b, Figures figures) {
    Double first = figures.metric(a).mean();
    Double second = figures.metric(b).mean();
    return first == null || second == null || Math.abs(first - second) < Comparison.MIN_MS;
  }

  private static Change change(
      ComparedFigure figure,
      @Nullable Double before,
      @Nullable Double after,
      @Nullable Double half) {
    Scale scale = figure.scale();
    Double change = scale.change(before, after);
    boolean isSame = before != null && before.equals(after);
    Interval interval =
        change == null || half == null
            ? null
            : new Interval(scale.inPercent(change - half), scale.inPercent(change + half));
    return new Change(
        figure.figure(),
        before,
        after,
        isSame ? (Double) 0.0 : change == null ? null : (Double) scale.inPercent(change),
        interval,
        change == null || interval == null || before == null || after == null
            ? isSame && half != null ? Outcome.NO_CLEAR_CHANGE : Outcome.TOO_FEW
            : outcome(figure.figure(), change, interval, after - before));
  }

  private static Outcome outcome(
      Figure figure, double change, Interval interval, double difference) {
    Scale scale = Scale.of(figure);
    boolean isClear =
        (interval.low() > 0 || interval.high() < 0)
            && isRelevant(scale, Math.abs(scale.inPercent(change)), difference);
    return !isClear
        ? Outcome.NO_CLEAR_CHANGE
        : (change < 0) == (figure.metric().better() == Metric.Better.LOWER)
            ? Outcome.BETTER
            : Outcome.WORSE;
  }

  /** The measured change of a figure that gets no interval. */
  static @Nullable Change measured(Figure figure, Place place) {
    Scale scale = Scale.of(figure);
    Double before = figure.of(place.base());
    Double after = figure.of(place.run());
    Double change = scale.change(before, after);
    Double percent = change == null ? null : (Double) scale.inPercent(change);
    return percent == null
        ? null
        : new Change(figure, before, after, percent, null, Outcome.NOT_JUDGED);
  }

  private static boolean isRelevant(Scale scale, double percent, double difference) {
    return switch (scale) {
      case POINTS -> percent >= Comparison.MIN_POINTS;
      case RELATIVE -> percent >= Comparison.MIN_PERCENT;
      case TIME -> percent >= Comparison.MIN_PERCENT && Math.abs(difference) >= Comparison.MIN_MS;
    };
  }
}
