package io.github.gatlingllm.figures.check;

import static io.github.gatlingllm.figures.metric.NumberText.number;
import static io.github.gatlingllm.figures.metric.NumberText.percent;
import static java.util.Objects.requireNonNull;

import io.github.gatlingllm.figures.metric.EngineFigures.AtLimit;
import io.github.gatlingllm.figures.metric.EngineFigures.Gpu;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.record.ServerSample.EngineMetric;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Checks of the GPUs one by one, in the measure windows of load levels. */
final class GpuChecks {

  /** Share of time in which a kernel ran; below it GPUs wait for work, and differ by chance. */
  private static final double BUSY = 0.5;

  /** Share of its memory that a GPU uses at least if the server uses it. */
  private static final double IN_USE = 0.05;

  private static final List<EngineMetric> COMPARED =
      List.of(EngineMetric.GPU_UTILIZATION, EngineMetric.GPU_CLOCK_MHZ, EngineMetric.GPU_POWER_W);

  private GpuChecks() {}

  private record At(LevelFigures level, String name, Gpu gpu) {

    boolean isUsed() {
      Double used = gpu.mean(EngineMetric.GPU_MEMORY_USED_BYTES);
      Double total = gpu.mean(EngineMetric.GPU_MEMORY_TOTAL_BYTES);
      return used == null || total == null || used >= IN_USE * total;
    }
  }

  private static Stream<At> gpus(LevelFigures level) {
    return level.serverMetrics() == null
        ? Stream.of()
        : level.serverMetrics().gpus().entrySet().stream()
            .map(gpu -> new At(level, gpu.getKey(), gpu.getValue()));
  }

  static @Nullable Finding throttling(CheckInput in) {
    List<At> all = in.levels().stream().flatMap(GpuChecks::gpus).toList();
    return CheckInput.atWorst(
        all,
        at -> fall(at, all),
        (at, fall) -> {
          AtLimit limit = at.gpu.atLimit();
          return limit == null
              ? Finding.of(fall, "gpu_throttling.none")
              : Finding.at(
                  at.level,
                  fall,
                  "gpu_throttling.found",
                  at.name,
                  limit.clockMhz(),
                  limit.atS(),
                  fall,
                  limit.limit(),
                  limit.value(),
                  limit.limit().equals("power") ? "W" : "°C");
        });
  }

  /** How far the clock was below the GPU's highest of all levels while the GPU was at a limit. */
  private static @Nullable Double fall(At at, List<At> all) {
    double highest =
        all.stream()
            .filter(other -> other.name.equals(at.name))
            .map(other -> other.gpu.max(EngineMetric.GPU_CLOCK_MHZ))
            .filter(Objects::nonNull)
            .mapToDouble(Double::doubleValue)
            .max()
            .orElse(0);
    AtLimit limit = at.gpu.atLimit();
    return highest == 0
        ? null
        : (Double) (limit == null ? 0 : Math.max(0, 1 - limit.clockMhz() / highest));
  }

  private record Lowest(At at, EngineMetric gauge, double value, double median, int gpus) {}

  static @Nullable Finding imbalance(CheckInput in) {
    List<Lowest> all =
        in.levels().stream()
            .map(level -> gpus(level).filter(At::isUsed).toList())
            .filter(gpus -> median(gpus, EngineMetric.GPU_UTILIZATION) >= BUSY)
            .flatMap(gpus -> COMPARED.stream().map(gauge -> lowest(gpus, gauge)))
            .filter(Objects::nonNull)
            .toList();
    return CheckInput.atWorst(
        all,
        of -> -of.value / of.median,
        (of, share) ->
            Finding.at(
                of.at.level,
                -share,
                "gpu_imbalance.found",
                of.gauge.title().replace("GPU ", ""),
                of.at.name,
                text(of.gauge, of.value),
                -share,
                of.gpus,
                text(of.gauge, of.median)));
  }

  private static String text(EngineMetric gauge, double value) {
    return gauge.unit().equals("share") ? percent(value) : number(value) + " " + gauge.unit();
  }

  private static @Nullable Lowest lowest(List<At> gpus, EngineMetric gauge) {
    double median = median(gpus, gauge);
    List<At> known = gpus.stream().filter(at -> at.gpu.mean(gauge) != null).toList();
    return median == 0 || known.size() < 2
        ? null
        : known.stream()
            .map(
                at ->
                    new Lowest(at, gauge, requireNonNull(at.gpu.mean(gauge)), median, known.size()))
            .min(Comparator.comparingDouble(Lowest::value))
            .orElseThrow();
  }

  private static double median(List<At> gpus, EngineMetric gauge) {
    List<Double> values =
        gpus.stream().map(at -> at.gpu.mean(gauge)).filter(Objects::nonNull).sorted().toList();
    int n = values.size();
    return n == 0 ? 0 : (values.get((n - 1) / 2) + values.get(n / 2)) / 2;
  }
}
