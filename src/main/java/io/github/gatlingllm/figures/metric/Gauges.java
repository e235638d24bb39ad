package io.github.gatlingllm.figures.metric;

import io.github.gatlingllm.figures.metric.EngineFigures.EngineState;
import io.github.gatlingllm.record.ServerSample.EngineMetric;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Gauges of a window, of an entire engine or of one GPU; null where they were not read. */
interface Gauges {

  Map<EngineMetric, EngineState> states();

  default @Nullable Double mean(EngineMetric gauge) {
    EngineState state = states().get(gauge);
    return state == null ? null : (Double) state.mean();
  }

  default @Nullable Double max(EngineMetric gauge) {
    EngineState state = states().get(gauge);
    return state == null ? null : (Double) state.max();
  }
}
