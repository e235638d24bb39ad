package io.github.gatlingllm.engine;

import io.github.gatlingllm.engine.EmbeddedEngine.GroundTruth;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.LevelInfo.PhaseWindow;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.SelfTest;
import io.github.gatlingllm.record.TokenGaps;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * Compares recorded arrival times of tokens with the times at which the engine wrote them. A delay
 * of the engine itself is not an error: the time at which it wrote a token counts, not the time at
 * which it should have written it.
 *
 * <pre>
 * written   100.0  120.0  145.0 ms
 * recorded  100.3  120.1  145.9 ms    TTFT error 0.3, ITL errors |19.8 − 20| = 0.2 and 0.8 ms
 * </pre>
 *
 * <p>Recorded times after the first token have a resolution of 1 µs.
 */
final class DeliveryErrors {

  private final Map<String, GroundTruth> answers = new HashMap<>();
  private final Map<String, LongStream.Builder> ttft = new HashMap<>();
  private final Map<String, LongStream.Builder> itl = new HashMap<>();
  private final long ttftNanos;
  private final long itlNanos;

  /** {@code all} has times of the clock that records use; the planned times are the engine's. */
  DeliveryErrors(Collection<GroundTruth> all, long ttftNanos, long itlNanos) {
    all.forEach(answer -> answers.put(answer.requestId(), answer));
    this.ttftNanos = ttftNanos;
    this.itlNanos = itlNanos;
  }

  void add(RequestRecord record) {
    GroundTruth answer = answers.get(record.identity().requestId());
    Long admitted = record.timing().admittedUnixNanos();
    Long first = record.timing().ttftNanos();
    int[] offsets = record.events().offsetsMicros();
    if (answer == null
        || admitted == null
        || first == null
        || record.identity().phase() != Phase.MEASURE
        || record.outcome().status() != RequestStatus.COMPLETE
        || offsets.length != answer.tokenNanos().length) {
      return;
    }
    String level = record.identity().stage();
    ttft.computeIfAbsent(level, l -> LongStream.builder())
        .add(Math.abs(admitted + first - answer.tokenNanos()[0]));
    LongStream.Builder gaps = itl.computeIfAbsent(level, l -> LongStream.builder());
    for (int i = 1; i < offsets.length; i++) {
      long recorded = 1_000L * (offsets[i] - offsets[i - 1]);
      gaps.add(Math.abs(recorded - (answer.tokenNanos()[i] - answer.tokenNanos()[i - 1])));
    }
  }

  Optional<SelfTest.TestedLoad> level(LevelInfo level) {
    PhaseWindow window = level.window(Phase.MEASURE).orElse(null);
    LongStream.Builder errorsOfFirst = ttft.get(level.label());
    Long until = window == null ? null : window.endUnixNanos();
    if (window == null || until == null || errorsOfFirst == null || level.offered() == null) {
      return Optional.empty();
    }
    long from = window.startUnixNanos();
    double seconds = (until - from) / 1e9;
    long[] ttftErrors = sorted(errorsOfFirst);
    return Optional.of(
        new SelfTest.TestedLoad(
            level.offered().intValue(),
            ttftErrors.length,
            written(from, until).count() / seconds,
            completed(from, until) / seconds,
            errors(ttftErrors),
            errors(sorted(itl.get(level.label()))),
            millis(late(from, until), 99)));
  }

  private LongStream written(long from, long until) {
    return answers.values().stream()
        .flatMapToLong(answer -> Arrays.stream(answer.tokenNanos()))
        .filter(at -> at >= from && at < until);
  }

  private long completed(long from, long until) {
    return answers.values().stream()
        .mapToLong(answer -> answer.tokenNanos()[answer.tokenNanos().length - 1])
        .filter(at -> at >= from && at < until)
        .count();
  }

  /** The engine's delays against its plan, of the tokens that it wrote in this period; sorted. */
  private long[] late(long from, long until) {
    LongStream.Builder late = LongStream.builder();
    for (GroundTruth answer : answers.values()) {
      for (int i = 0; i < answer.tokenNanos().length; i++) {
        long at = answer.tokenNanos()[i];
        if (at >= from && at < until) {
          late.add(at - (answer.receivedNanos() + ttftNanos + i * itlNanos));
        }
      }
    }
    return sorted(late);
  }

  private static long[] sorted(LongStream.@Nullable Builder values) {
    return values == null ? new long[0] : values.build().sorted().toArray();
  }

  private static SelfTest.Errors errors(long[] sorted) {
    return new SelfTest.Errors(millis(sorted, 50), millis(sorted, 99), millis(sorted, 100));
  }

  private static double millis(long[] sorted, int percent) {
    return sorted.length == 0 ? 0 : sorted[(int) TokenGaps.rank(percent, sorted.length) - 1] / 1e6;
  }

  List<SelfTest.TestedLoad> levels(List<LevelInfo> all) {
    return all.stream().map(this::level).flatMap(Optional::stream).toList();
  }
}
