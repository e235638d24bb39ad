package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.check.CheckCatalogue;
import io.github.gatlingllm.figures.level.RunStatistics.RecordSource;
import io.github.gatlingllm.figures.level.RunStatistics.RunFigures;
import io.github.gatlingllm.figures.metric.Figures.Check;
import io.github.gatlingllm.record.Components;
import io.github.gatlingllm.record.GeneratorSecond;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.LevelInfo.PhaseWindow;
import io.github.gatlingllm.record.LevelInfo.PlannedArrival;
import io.github.gatlingllm.record.RecordFile.ReadReport;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.ServerSample;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Makes runs of {@link Recorded} requests for tests: their levels, plans and figures. */
public final class Runs {

  private Runs() {}

  private static long unixNanos(double ms) {
    return Recorded.ORIGIN + Recorded.nanos(ms);
  }

  /** Stage {@code c=<users>} of target {@code a}, measured from {@code fromMs}. */
  public static LevelInfo stage(int users, double fromMs, double toMs) {
    return stage("a", users, fromMs, toMs);
  }

  public static LevelInfo stage(String target, int users, double fromMs, double toMs) {
    return stage("c=" + users, target, "closed loop", (double) users, "users", fromMs, toMs);
  }

  /** Stage {@code r=<perSecond>} of target {@code a} in an open loop. */
  public static LevelInfo rate(int perSecond, double fromMs, double toMs) {
    String label = "r=" + perSecond;
    return stage(label, "a", "open loop", (double) perSecond, "requests/s", fromMs, toMs);
  }

  public static LevelInfo stage(
      String label,
      String target,
      String kind,
      @Nullable Double offered,
      String unit,
      double fromMs,
      double toMs) {
    PhaseWindow window = new PhaseWindow(Phase.MEASURE, unixNanos(fromMs), unixNanos(toMs));
    return new LevelInfo(label, target, null, kind, offered, unit, List.of(window));
  }

  public static LevelInfo planned(long requests, LevelInfo level) {
    return Components.with(level, "planned", requests);
  }

  public static RunInfo run(double seconds, LevelInfo... stages) {
    return RunInfo.started("run", "sim", "local", Recorded.ORIGIN)
        .ended(unixNanos(seconds * 1e3), RunInfo.State.COMPLETE)
        .stages(List.of(stages));
  }

  public record Source(
      List<RequestRecord> records,
      List<PlannedArrival> plan,
      List<GeneratorSecond> seconds,
      List<ServerSample> readings)
      implements RecordSource {
    @Override
    public ReadReport replay(Consumer<RequestRecord> sink) {
      records.forEach(sink);
      return ReadReport.of(records.size());
    }

    @Override
    public void arrivals(Consumer<PlannedArrival> sink) {
      plan.forEach(sink);
    }

    @Override
    public void generator(Consumer<GeneratorSecond> sink) {
      seconds.forEach(sink);
    }

    @Override
    public void server(Consumer<ServerSample> sink) {
      readings.forEach(sink);
    }
  }

  public static Source source(List<RequestRecord> records) {
    return new Source(records, List.of(), List.of(), List.of());
  }

  /** An arrival of target {@code a} that was planned this number of milliseconds into the run. */
  public static PlannedArrival arrival(String stage, double ms) {
    return new PlannedArrival("scn", "a", stage, 0, null, unixNanos(ms), null, null);
  }

  public static RunFigures figures(
      RunInfo info, List<PlannedArrival> plan, List<RequestRecord> records) {
    return figures(info, new Source(records, plan, List.of(), List.of()));
  }

  public static RunFigures figures(RunInfo info, Recorded... records) {
    return figures(info, Arrays.stream(records).map(Recorded::record).toList());
  }

  public static Summary summary(RunInfo info, RequestRecord... records) {
    return summary(info, List.of(records));
  }

  public static Summary summary(RunInfo info, Recorded... records) {
    return figures(info, records).summary();
  }

  public static Summary summary(RunInfo info, List<RequestRecord> records) {
    return figures(info, records).summary();
  }

  public static RunFigures figures(RunInfo info, List<RequestRecord> records) {
    return figures(info, source(records));
  }

  public static Check check(Summary summary, String id) {
    return summary.checks().stream().filter(c -> c.id().equals(id)).findFirst().orElseThrow();
  }

  public static RunFigures figures(RunInfo info, RecordSource source) {
    try {
      return CheckCatalogue.judged(RunStatistics.of(info, source));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }
}
