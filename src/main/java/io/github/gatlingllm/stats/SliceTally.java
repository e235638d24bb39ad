package io.github.gatlingllm.stats;

import io.github.gatlingllm.metric.Metric;
import io.github.gatlingllm.record.Phase;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.TokenGaps;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The requests of a run by stage and slice of time, counted as {@link RunStatistics} counts them: a
 * request belongs to the instant it was scheduled at, a token to that of its arrival. About 4 MiB
 * per stage, whatever the number of requests.
 */
final class SliceTally {

  private final Windows windows;
  private final SloTally slo;
  private final Map<Integer, StageSlices> stages = new LinkedHashMap<>();

  /**
   * An empty one.
   *
   * @param info with all stages and their windows
   */
  SliceTally(RunInfo info) {
    Long end = info.endUnixNanos();
    windows = new Windows(info.stages(), end == null ? info.startUnixNanos() : end);
    slo = new SloTally(info);
  }

  void add(RequestRecord record) {
    RequestRecord.Identity id = record.identity();
    StageWindow stage = windows.of(id);
    RequestStatus verdict = record.outcome().status();
    List<String> missed = slo.of(id.target(), id.name()).missed(record);
    Boolean met = slo.of(id.target(), id.name()).met(verdict, missed);
    boolean inSlo = Boolean.TRUE.equals(met);
    TokenArrivals.visit(record, (at, tokens) -> tokens(stage, at, tokens, inSlo));
    Long closed = record.timing().closedUnixNanos();
    StageWindow endedIn = closed == null ? null : windows.at(closed, stage);
    if (closed != null && endedIn != null) {
      TimeSlice slice = of(endedIn).at(closed);
      slice.completed += record.outcome().ok() ? 1 : 0;
      slice.completedInSlo += inSlo ? 1 : 0;
    }
    if (id.phase() == Phase.MEASURE) {
      TimeSlice slice = of(stage).at(record.timing().scheduledUnixNanos());
      boolean cancelled = verdict == RequestStatus.CANCELLED;
      slice.started++;
      slice.ended += cancelled ? 0 : 1;
      slice.failed += cancelled || record.outcome().ok() ? 0 : 1;
      slice.attempted += met == null ? 0 : 1;
      slice.met += inSlo ? 1 : 0;
      if (record.outcome().ok()) {
        for (Metric metric : Metric.ofRequests()) {
          Double value = metric.of(record);
          if (value != null) {
            slice.add(metric, value, 1);
          }
        }
        TokenGaps.visit(
            record.events(),
            record.tokens(),
            (i, chunkMicros, tokenMicros, tokens) -> {
              slice.add(Metric.ICL_MS, chunkMicros / 1e3, 1);
              slice.add(Metric.ITL_MS, tokenMicros / 1e3, tokens);
            });
      }
    }
  }

  private void tokens(StageWindow guess, long unixNanos, double tokens, boolean inSlo) {
    StageWindow window = windows.at(unixNanos, guess);
    if (window != null) {
      TimeSlice slice = of(window).at(unixNanos);
      slice.tokens += tokens;
      slice.sloTokens += inSlo ? tokens : 0;
    }
  }

  private StageSlices of(StageWindow stage) {
    return stages.computeIfAbsent(stage.index(), i -> new StageSlices(stage));
  }

  /** The slices of a stage; null where nothing belongs to it. */
  @Nullable StageSlices of(int stageIndex) {
    return stages.get(stageIndex);
  }
}
