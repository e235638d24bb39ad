package io.github.gatlingllm.figures.compare;

import io.github.gatlingllm.figures.level.Recorded;
import io.github.gatlingllm.figures.level.RunStatistics.RunFigures;
import io.github.gatlingllm.figures.level.Runs;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.record.Components;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunInfo;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * Runs of two classes of traffic in virtual time: alone, and together on a server that serves one
 * request at a time, those of chat first. With rates λ and service times S of chat and batch, ρ = λ
 * S and R = Σ λ S² ÷ 2, the mean waits are known (Cobham 1954):
 *
 * <pre>
 * chat alone   λ₁ S₁² ÷ 2 ÷ (1 − ρ₁)    together   R ÷ (1 − ρ₁)
 * batch alone  λ₂ S₂² ÷ 2 ÷ (1 − ρ₂)    together   R ÷ (1 − ρ₁) ÷ (1 − ρ₁ − ρ₂)
 * </pre>
 */
public final class ClassRuns {

  private ClassRuns() {}

  private static final Load CHAT = new Load("chat", 2, 0.1);
  private static final Load BATCH = new Load("batch", 1, 0.4);

  static final int REPEATS = 5;
  private static final double BEFORE = 30;
  private static final double SECONDS = 100;
  private static final double STEP = 200;

  private record Load(String name, int perSecond, double service) {
    private String label(boolean isAlone, int repeat) {
      return LevelInfo.numbered("r=" + perSecond + (isAlone ? LevelInfo.ALONE : ""), repeat);
    }

    private Queue<Double> arrivals(long seed, int repeat) {
      SplittableRandom random = new SplittableRandom(31 * seed + 7L * perSecond + repeat);
      Queue<Double> all = new ArrayDeque<>();
      for (double at = 0;
          at < BEFORE + SECONDS;
          at += -Math.log(1 - random.nextDouble()) / perSecond) {
        all.add(at);
      }
      return all;
    }
  }

  private record Served(Load of, double at, double ttft) {}

  /** Those of the first load before those of the second, without interrupting a service. */
  private static List<Served> served(List<Load> loads, long seed, int repeat) {
    List<Queue<Double>> queues = loads.stream().map(load -> load.arrivals(seed, repeat)).toList();
    List<Served> all = new ArrayList<>();
    double now = 0;
    while (queues.stream().anyMatch(queue -> !queue.isEmpty())) {
      double free = now;
      int next =
          IntStream.range(0, loads.size())
              .filter(i -> !queues.get(i).isEmpty() && queues.get(i).element() <= free)
              .findFirst()
              .orElse(-1);
      if (next < 0) {
        now =
            queues.stream()
                .filter(q -> !q.isEmpty())
                .mapToDouble(Queue::element)
                .min()
                .orElseThrow();
        continue;
      }
      double at = queues.get(next).remove();
      now += loads.get(next).service;
      all.add(new Served(loads.get(next), at, now - at));
    }
    return all;
  }

  /** A run of {@value #REPEATS} repeats; the classes share one server, or have one each. */
  public static Summary run(long seed, boolean isShared) {
    List<RequestRecord> records = new ArrayList<>();
    List<LevelInfo> levels = new ArrayList<>();
    double from = 0;
    for (int repeat = 1; repeat <= REPEATS; repeat++) {
      for (List<Load> loads : List.of(List.of(CHAT), List.of(CHAT, BATCH), List.of(BATCH))) {
        boolean isAlone = loads.size() == 1;
        List<Served> served = new ArrayList<>();
        for (Load load : isShared ? List.of(CHAT) : loads) {
          served.addAll(
              isShared ? served(loads, seed, repeat) : served(List.of(load), seed, repeat));
        }
        for (Served each : served) {
          boolean isMeasured = each.at >= BEFORE;
          records.add(
              Recorded.at((from + each.at) * 1e3)
                  .scenario(each.of.name)
                  .name(each.of.name)
                  .stage(each.of.label(isAlone, repeat))
                  .phase(isMeasured ? Phase.MEASURE : Phase.STABILIZE)
                  .tokens(each.ttft * 1e3)
                  .record());
        }
        for (Load load : loads) {
          double start = (from + BEFORE) * 1e3;
          levels.add(
              Components.with(
                  Runs.rate(load.perSecond, start, start + SECONDS * 1e3),
                  "label",
                  load.label(isAlone, repeat),
                  "scenario",
                  load.name));
        }
        from += STEP;
      }
    }
    Collections.shuffle(records, new Random(seed));
    RunInfo info = Runs.run(from, levels.toArray(LevelInfo[]::new));
    RunFigures figures = Comparison.interference(Runs.figures(info, records));
    return figures.summary();
  }
}
