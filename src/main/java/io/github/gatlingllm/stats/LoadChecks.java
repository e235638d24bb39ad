package io.github.gatlingllm.stats;

import io.github.gatlingllm.metric.Distribution;
import io.github.gatlingllm.metric.Figures;
import io.github.gatlingllm.metric.Metric;
import io.github.gatlingllm.metric.NumberText;
import io.github.gatlingllm.record.ReadReport;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.stats.Check.Level;
import io.github.gatlingllm.stats.Summary.Arrivals;
import io.github.gatlingllm.stats.Summary.Stage;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Checks of how the run was made: its load, its windows, its records, its laws. */
final class LoadChecks {

  private static final double LAG_MS = 20;

  private final List<Check> checks = new ArrayList<>();

  /** In-flight mean against arrival rate × time in the system, of one stage. */
  record Little(String label, double inFlight, double rateTimesStay, double stayOverWindow) {

    double residual() {
      return inFlight == 0 ? 0 : Math.abs(inFlight - rateTimesStay) / inFlight;
    }

    /** What requests that cross an edge of the window can make of it, and 5 %. */
    double tolerance() {
      return 0.05 + stayOverWindow;
    }
  }

  List<Check> checks() {
    return checks;
  }

  /** Of the stage where the law is missed by most. */
  void littlesLaw(List<Little> stages) {
    Little worst = null;
    for (Little stage : stages) {
      if (worst == null
          || stage.residual() - stage.tolerance() > worst.residual() - worst.tolerance()) {
        worst = stage;
      }
    }
    if (worst == null) {
      return;
    }
    add(
        "littles_law",
        worst.residual() > worst.tolerance() ? Level.WARNING : Level.OK,
        worst.residual(),
        worst.tolerance(),
        worst.label()
            + ": "
            + NumberText.number(worst.inFlight())
            + " in flight on average, rate × time in the system says "
            + NumberText.number(worst.rateTimesStay())
            + "; requests across an edge of the window may make a difference of "
            + NumberText.percent(worst.tolerance())
            + ".",
        "The load was not steady: measure longer, stabilize first, or look for lost records.");
  }

  /** Of the stage that drifts most, by name; left out when no stage can be judged. */
  void steadyState(List<Map.Entry<String, SteadyState.Judged>> stages) {
    if (stages.isEmpty()) {
      return;
    }
    String label = "";
    SteadyState.Drift worst = null;
    for (Map.Entry<String, SteadyState.Judged> stage : stages) {
      SteadyState.Drift drift = stage.getValue().drift();
      if (drift != null && (worst == null || drift.change() > worst.change())) {
        label = stage.getKey();
        worst = drift;
      }
    }
    add(
        "steady_state",
        worst != null && worst.isLarge() ? Level.WARNING : Level.OK,
        worst == null ? null : (Double) worst.change(),
        SteadyState.LEAST_CHANGE,
        worst == null
            ? "TTFT, E2E and output tok/s have no trend over a measure window."
            : label + ": " + worst.sentence(),
        "A mean of what still changes: stabilize longer, or offer less where queues still grow.");
  }

  void identity(Evidence e) {
    if (e.e2eNanos > 0) {
      double residual = Math.abs(e.e2eNanos - e.modelledNanos) / e.e2eNanos;
      add(
          "e2e_identity",
          residual > 0.01 ? Level.WARNING : Level.OK,
          residual,
          0.01,
          "E2E differs from TTFT + TPOT × (N − 1) by " + NumberText.percent(residual) + ".",
          "Token counts do not fit the times: see token_counts.");
    }
  }

  void arrivals(@Nullable Arrivals arrivals) {
    if (arrivals == null || arrivals.plannedPerS() == null || arrivals.realisedPerS() == null) {
      return;
    }
    double planned = arrivals.plannedPerS();
    double realised = arrivals.realisedPerS();
    double residual = planned == 0 ? 0 : Math.abs(realised - planned) / planned;
    add(
        "arrivals",
        residual > 0.02 ? Level.WARNING : Level.OK,
        residual,
        0.02,
        "Planned "
            + NumberText.number(planned)
            + "/s, realised "
            + NumberText.number(realised)
            + "/s; index of dispersion "
            + NumberText.number(arrivals.plannedDispersion())
            + " planned, "
            + NumberText.number(arrivals.realisedDispersion())
            + " realised.",
        "The generator did not keep up: more injectors, or less load on this machine.");
    Double lag = arrivals.lagP99Ms();
    if (lag != null) {
      add(
          "start_lag",
          lag > LAG_MS ? Level.WARNING : Level.OK,
          lag,
          LAG_MS,
          "Starts lagged their plan by p50 "
              + NumberText.ms(arrivals.lagP50Ms())
              + ", p99 "
              + NumberText.ms(lag)
              + ", at most "
              + NumberText.ms(arrivals.lagMaxMs())
              + ".",
          "Figures from schedule include the lag; give the generator more CPU.");
    }
  }

  void lowN(Figures run, List<Stage> stages) {
    List<String> low = new ArrayList<>();
    long fewest = Long.MAX_VALUE;
    for (Metric metric : List.of(Metric.TTFT_MS, Metric.ITL_MS, Metric.TPOT_MS, Metric.E2E_MS)) {
      Distribution d = run.metric(metric);
      if (d.isLowN("p99")) {
        low.add(metric.title());
        fewest = Math.min(fewest, d.count());
      }
    }
    long lowStages =
        stages.stream().filter(s -> s.figures().metric(Metric.E2E_MS).isLowN("p99")).count();
    boolean few = !low.isEmpty() || lowStages > 0;
    add(
        "low_n",
        few ? Level.WARNING : Level.OK,
        (double) run.metric(Metric.E2E_MS).count(),
        1_000.0,
        !few
            ? "p99 rests on at least 1,000 values everywhere."
            : low.isEmpty()
                ? "In "
                    + lowStages
                    + " of "
                    + stages.size()
                    + " stages p99 has under 1,000 requests."
                : "p99 of "
                    + String.join(", ", low)
                    + " rests on "
                    + NumberText.count(fewest)
                    + " values.",
        "p99 needs 1,000 values, p95 200: measure longer, or quote p50 and p90.");
  }

  void levels(List<LoadCurve> curves) {
    int most = curves.stream().mapToInt(c -> c.levels().size()).max().orElse(0);
    if (most == 0) {
      return;
    }
    boolean single =
        curves.stream()
            .flatMap(c -> c.levels().stream())
            .allMatch(s -> "closed loop".equals(s.kind()) && Double.valueOf(1).equals(s.offered()));
    add(
        "load_levels",
        most < 3 ? Level.WARNING : Level.OK,
        (double) most,
        3.0,
        single
            ? "Only one request at a time: this is latency without load, not capacity."
            : most + (most == 1 ? " load level" : " load levels") + " per target and scenario.",
        "For a curve and its knee name several, e.g. concurrency=1,2,4,8,16,32.");
    if (most >= 3) {
      long open =
          curves.stream().map(LoadCurve::knee).filter(k -> k == null || !k.reached()).count();
      add(
          "knee",
          open > 0 ? Level.WARNING : Level.OK,
          (double) open,
          0.0,
          open == 0
              ? "The knee lies inside the loads tried."
              : "The knee was not reached: output tok/s ÷ median E2E is best at the highest load.",
          "Add higher load levels.");
    }
  }

  /** What load plans found; a check each. */
  void conclusions(List<RunInfo.Conclusion> conclusions) {
    boolean several =
        conclusions.stream().map(c -> List.of(c.target(), "" + c.scenario())).distinct().count()
            > 1;
    for (RunInfo.Conclusion found : conclusions) {
      boolean search = found.topic().equals("search");
      String where = several ? " (" + found.target() + ", " + found.scenario() + ")" : "";
      add(
          search ? "search" : "stopped_early",
          found.sound() ? Level.OK : Level.WARNING,
          found.value(),
          found.threshold(),
          (search ? "Search" : "Stopped early") + where + ": " + found.text() + ".",
          search
              ? "Measure each level longer, or start the search nearer to what the server holds."
              : "The last level is cut short: its figures cover the time before. Look at its"
                  + " errors.");
    }
  }

  /**
   * Of runs against several targets: whether a token is the same at each.
   *
   * @param sameTokenizer whether all targets were given the same one
   */
  void sameModel(List<Set<String>> modelsOfTargets, boolean sameTokenizer) {
    if (modelsOfTargets.size() < 2) {
      return;
    }
    boolean sameModel =
        modelsOfTargets.stream().distinct().count() == 1 && !modelsOfTargets.get(0).contains("");
    boolean same = sameModel && sameTokenizer;
    add(
        "same_model",
        same ? Level.OK : Level.WARNING,
        null,
        null,
        same
            ? "All targets were asked for the same model."
            : (sameTokenizer
                    ? "The targets were not asked for the same model by name"
                    : "The targets have different tokenizers")
                + ": their tokens may not be the same amount of text.",
        "Compare tok/s only where models share a tokenizer; else requests/s, TTFT and E2E.");
  }

  void windows(boolean inferred, List<Stage> stages, RunInfo info) {
    boolean planned = !info.stages().isEmpty();
    long unplanned = stages.stream().filter(s -> s.kind().equals(Windows.UNPLANNED)).count();
    add(
        "windows",
        inferred || unplanned > 0 ? Level.WARNING : Level.OK,
        (double) unplanned,
        null,
        inferred
            ? "Measure windows were inferred from the records: first schedule to last close."
            : unplanned > 0
                ? unplanned + " stages of the records are in no plan: they have no rates."
                : planned
                    ? "Measure windows are those of the load plan."
                    : "No load plan: all was measured, from the first schedule to the last close.",
        "Keep run.json beside requests.jsonl.");
    if (info.state() != RunInfo.State.COMPLETE) {
      add(
          "complete",
          Level.WARNING,
          null,
          null,
          "The run was interrupted: figures cover what was measured until then.",
          "Run it to its end before comparing.");
    }
  }

  void records(RunInfo info, ReadReport file) {
    if (info.dropped() > 0 || file.badLines() > 0) {
      long lost = info.dropped() + file.badLines();
      add(
          "records_dropped",
          Level.INVALID,
          (double) lost,
          0.0,
          NumberText.count(info.dropped())
              + " records were dropped, "
              + NumberText.count(file.badLines())
              + " lines are damaged.",
          "Figures miss these requests: write to a faster disk, or run less on this machine.");
    } else {
      add("records_dropped", Level.OK, 0.0, 0.0, "No record was dropped.", "");
    }
    if (file.cutTailBytes() > 0) {
      add(
          "cut_tail",
          Level.WARNING,
          (double) file.cutTailBytes(),
          0.0,
          "The last line of the records is cut off ("
              + NumberText.count(file.cutTailBytes())
              + " bytes).",
          "The run died while writing; that request is in no figure.");
    }
  }

  private void add(
      String id,
      Level level,
      @Nullable Double value,
      @Nullable Double threshold,
      String message,
      String remedy) {
    checks.add(new Check(id, level, value, threshold, message, level == Level.OK ? "" : remedy));
  }
}
