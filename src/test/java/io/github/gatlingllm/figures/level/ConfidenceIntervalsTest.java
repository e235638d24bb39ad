package io.github.gatlingllm.figures.level;

import static io.github.gatlingllm.figures.level.Runs.summary;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.gatlingllm.docs.SimulatedTable;
import io.github.gatlingllm.figures.level.MultiServerQueue.Truth;
import io.github.gatlingllm.figures.level.MultiServerQueue.Visit;
import io.github.gatlingllm.figures.metric.Amount;
import io.github.gatlingllm.figures.metric.Distribution;
import io.github.gatlingllm.figures.metric.Distribution.Interval;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.ValueRecorder;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.Slo;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.IntSummaryStatistics;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class ConfidenceIntervalsTest {

  private static final int RUNS = SimulatedTable.runs(20, 1_000);

  private static final List<String> FIGURES =
      List.of(
          "mean TTFT",
          "mean E2E",
          "p50 TTFT",
          "p50 E2E",
          "p99 TTFT",
          "p99 E2E",
          "TTFT 5%",
          "TTFT 1%",
          "E2E 5%",
          "E2E 1%");

  /** The first of these that is the range of a share. */
  private static final int SHARES = 6;

  /** How often an interval was shown, and how often the truth lay in it. */
  private static final class Coverage {
    private int shown;
    private int contained;

    private void add(@Nullable Interval interval, double truth) {
      if (interval != null) {
        shown++;
        contained += interval.low() <= truth && truth <= interval.high() ? 1 : 0;
      }
    }

    private void add(Coverage other) {
      shown += other.shown;
      contained += other.contained;
    }

    /** In percent; absent for what is shown in fewer than 1 of 50 runs. */
    private String text() {
      if (shown * 50 < RUNS) {
        return "–";
      }
      String share = String.valueOf(Math.round(100.0 * contained / shown));
      return shown == RUNS ? share : share + " (" + Math.round(100.0 * shown / RUNS) + ")";
    }

    /** No coverage below 90 %, none of an interval that is shown above one that rounds to 98 %. */
    private void mustHold(String where, boolean isRange) {
      double min = ConfidenceIntervals.MIN_COVERAGE / 100.0;
      // three standard errors: 190 cells are judged
      double low = min - 1.5 * SimulatedTable.chance(min, Math.max(1, shown));
      double high = 0.985 + 1.5 * SimulatedTable.chance(0.985, Math.max(1, shown));
      boolean isWithin = contained >= low * shown && (isRange || contained < high * shown);
      assertThat(shown * 50 < RUNS || isWithin).as(where + ": " + text()).isTrue();
    }
  }

  /**
   * Means and percentiles: 90 to 98 % in every cell where they are shown. Ranges of shares: 90 %
   * and more.
   */
  @Test
  @Tag("nightly")
  void coverTheTrueValuesOfABusyQueue() throws IOException {
    List<List<String>> rows = new ArrayList<>();
    Coverage all = new Coverage();
    for (double load : new double[] {0.5, 0.8, 0.9, 12, 20, 32}) {
      boolean isOpen = load < 1;
      MultiServerQueue queue =
          isOpen ? new MultiServerQueue(load) : MultiServerQueue.closed((int) load);
      String name = isOpen ? "" + load : "%.0f users".formatted(load);
      for (int seconds : new int[] {60, 150, 300, 600}) {
        Coverage[] of = coverage(queue, seconds, isOpen);
        List<String> row = new ArrayList<>(List.of(name, "" + seconds));
        for (int i = 0; i < of.length; i++) {
          of[i].mustHold(FIGURES.get(i) + " at " + name + " in " + seconds, i >= SHARES);
          row.add(of[i].text());
          all.add(i < SHARES ? of[i] : new Coverage());
        }
        rows.add(row);
      }
    }
    assertThat((double) all.contained / all.shown).isBetween(0.93, 0.98);
    List<String> header = new ArrayList<>(List.of("load", "window"));
    header.addAll(FIGURES);
    new SimulatedTable(getClass()).hasRows(header, rows);
  }

  /** The legend quotes the least and the highest of each window length in the table. */
  @Test
  void coverageByWindowLengthIsQuoted() throws IOException {
    Map<String, IntSummaryStatistics> byWindow = new LinkedHashMap<>();
    for (List<String> row : new SimulatedTable(getClass()).rows()) {
      for (String cell : row.subList(2, 2 + SHARES)) {
        if (!cell.equals("–")) {
          byWindow
              .computeIfAbsent(row.get(1), window -> new IntSummaryStatistics())
              .accept(Integer.parseInt(cell.split(" ", 2)[0]));
        }
      }
    }
    String quoted =
        byWindow.entrySet().stream()
            .map(
                e ->
                    e.getValue().getMin()
                        + " to "
                        + e.getValue().getMax()
                        + " % in windows of "
                        + e.getKey())
            .collect(Collectors.joining(", "));
    String legend = "src/main/resources/io/github/gatlingllm/report/metrics.peb";
    assertThat(Files.readString(Path.of(legend)).replaceAll("\\s+", " ")).contains(quoted);
  }

  private static Coverage[] coverage(MultiServerQueue queue, double seconds, boolean isOpen) {
    Truth truth = queue.truth();
    double openMs = isOpen ? seconds * 1e3 : Double.POSITIVE_INFINITY;
    double[] limits = {truth.ttftP95(), truth.ttftP99(), truth.p95(), truth.p99()};
    Coverage[] of = Stream.generate(Coverage::new).limit(FIGURES.size()).toArray(Coverage[]::new);
    for (int seed = 0; seed < RUNS; seed++) {
      List<Visit> visits = queue.visits(seed, seconds);
      List<Cell> slices = slices(visits, seconds);
      ConfidenceIntervals intervals = new ConfidenceIntervals(slices, openMs, List.of());
      Distribution ttft = distribution(intervals, Metric.TTFT_FROM_SCHEDULE_MS, visits);
      Distribution e2e = distribution(intervals, Metric.E2E_FROM_SCHEDULE_MS, visits);
      of[0].add(ttft.meanCi95(), truth.ttft() * 1e3);
      of[1].add(e2e.meanCi95(), truth.mean() * 1e3);
      of[2].add(varies(truth.ttftP50()) ? ttft.p50Ci95() : null, truth.ttftP50() * 1e3);
      of[3].add(e2e.p50Ci95(), truth.p50() * 1e3);
      of[4].add(varies(truth.ttftP99()) ? ttft.p99Ci95() : null, truth.ttftP99() * 1e3);
      of[5].add(e2e.p99Ci95(), truth.p99() * 1e3);
      for (int i = 0; i < 4; i++) {
        double limit = limits[i];
        boolean isTtft = i < 2;
        Predicate<Visit> met = visit -> (isTtft ? visit.ttft() : visit.e2e()) <= limit;
        List<Metric> limited =
            List.of(isTtft ? Metric.TTFT_FROM_SCHEDULE_MS : Metric.E2E_FROM_SCHEDULE_MS);
        if (varies(limit)) {
          slices.forEach(slice -> slice.add(Amount.MET, -slice.of(Amount.MET)));
          visits.stream().filter(met).forEach(v -> at(slices, v, seconds).add(Amount.MET, 1));
          long count = visits.stream().filter(met).count();
          Double worth =
              new ConfidenceIntervals(slices, openMs, limited).share(count, visits.size());
          double share = (double) count / visits.size();
          of[SHARES + i].add(
              worth == null ? null : Interval.ofShare(share, worth, 1), i % 2 == 0 ? 0.95 : 0.99);
        }
      }
    }
    return of;
  }

  /** Without a queue all TTFTs are equal: such a share of them is below no limit. */
  private static boolean varies(double seconds) {
    return seconds > 0.05;
  }

  private static List<Cell> slices(List<Visit> visits, double seconds) {
    List<Cell> slices = Stream.generate(Cell::ofSlice).limit(TimeSlice.COUNT).toList();
    for (Visit visit : visits) {
      Cell slice = at(slices, visit, seconds);
      slice.add(Metric.E2E_FROM_SCHEDULE_MS, visit.e2e() * 1e3, 1);
      slice.add(Metric.TTFT_FROM_SCHEDULE_MS, visit.ttft() * 1e3, 1);
      slice.add(Amount.ATTEMPTED, 1);
    }
    return slices;
  }

  private static Cell at(List<Cell> slices, Visit visit, double seconds) {
    return slices.get((int) (visit.at() / seconds * TimeSlice.COUNT));
  }

  private static Distribution distribution(
      ConfidenceIntervals intervals, Metric metric, List<Visit> visits) {
    ValueRecorder values = metric.recorder();
    boolean isTtft = metric == Metric.TTFT_FROM_SCHEDULE_MS;
    visits.forEach(visit -> values.add((isTtft ? visit.ttft() : visit.e2e()) * 1e3));
    return intervals.distribution(metric, values);
  }

  /** Of values that do not vary it is unknown whether there are rare others. */
  @Test
  void intervalsOfConstantValues() {
    Distribution e2e = stage("closed loop", 100).metric(Metric.E2E_MS);
    assertThat(e2e.meanCi95()).isNull();
    assertThat(e2e.p50Ci95()).isEqualTo(new Interval(100, 100));
  }

  @Test
  void fewValuesHaveNoInterval() {
    assertThat(stage("closed loop", 29).metric(Metric.E2E_MS).p50Ci95()).isNull();
    assertThat(stage("closed loop", 29).goodput().worth()).isNull();
    assertThat(stage("closed loop", 30).metric(Metric.E2E_MS).p50Ci95()).isNotNull();
    assertThat(stage("closed loop", 30).goodput().worth()).isNotNull();
  }

  /** Wilson's interval of 100 of 100, all alike: 1 − t² ÷ (100 + t²) with t = 2.0117. */
  @Test
  void allInSlo() {
    Interval share = stage("closed loop", 100).goodput().interval();
    assertThat(share.low()).isEqualTo(100 / (100 + 2.01174 * 2.01174), within(1e-5));
    assertThat(share.high()).isEqualTo(1);
  }

  @Test
  void loadsThatChangeByPlanHaveNoInterval() {
    for (String kind : List.of("rate curve", "trace", "batch")) {
      assertThat(stage(kind, 100).metric(Metric.E2E_MS).p50Ci95()).as(kind).isNull();
      assertThat(stage(kind, 100).goodput().worth()).as(kind).isNull();
    }
  }

  private static Figures stage(String kind, int requests) {
    LevelInfo stage = Runs.stage("c=1", "a", kind, 1.0, "users", 0, 60_000);
    return summary(info(60, stage), requests(0, requests, "ask")).stages().get(0).figures();
  }

  /** Pooled levels have no common distribution; nor do time slices separate requests by name. */
  @Test
  void pooledLevelsAndSingleNamesHaveNoInterval() {
    List<RequestRecord> records = new ArrayList<>(requests(0, 100, "ask"));
    records.addAll(requests(60_000, 100, "ask"));
    RunInfo two = info(120, Runs.stage(1, 0, 60_000), Runs.stage(2, 60_000, 120_000));
    Summary pooled = summary(two, records);
    assertThat(pooled.stages().get(0).figures().metric(Metric.E2E_MS).p50Ci95()).isNotNull();
    assertThat(pooled.figures().metric(Metric.E2E_MS).p50Ci95()).isNull();
    assertThat(pooled.figures().goodput().worth()).isNull();

    List<RequestRecord> named = new ArrayList<>(requests(0, 100, "ask"));
    named.addAll(requests(0, 100, "tell"));
    Summary parts = summary(info(60, Runs.stage(1, 0, 60_000)), named);
    assertThat(parts.figures().metric(Metric.E2E_MS).p50Ci95()).isNotNull();
    assertThat(parts.requests().get(0).figures().metric(Metric.E2E_MS).p50Ci95()).isNull();
  }

  private static RunInfo info(double seconds, LevelInfo... stages) {
    return Runs.run(seconds, stages).slo(Slo.parse("e2e<200ms", 95, Slo.Rule.PERCENTILES));
  }

  private static List<RequestRecord> requests(double fromMs, int count, String name) {
    return Recorded.requests(
        count,
        i ->
            Recorded.at(fromMs + i * 60_000.0 / count)
                .stage(fromMs == 0 ? "c=1" : "c=2")
                .name(name)
                .tokens(50, 100));
  }
}
