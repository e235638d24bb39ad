package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.level.RunStatistics.RunFigures;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.Objectives.Assertion;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.RunOutcome.SingleStream;
import io.github.gatlingllm.record.Slo;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A sweep for tests: levels of one second each, one after the other. */
public final class Levels {

  private final List<LevelInfo> stages = new ArrayList<>();
  private final List<RequestRecord> records = new ArrayList<>();
  private String target = "a";
  private Map<String, SingleStream> alone = Map.of();

  /**
   * Levels in the form {@code users:requests:ms:late+failing}, of 100 ms, with none late and none
   * failing where it ends before; another word is the target of the levels after it.
   */
  public static Levels of(String text) {
    Levels levels = new Levels();
    for (String word : text.split(" ", -1)) {
      if (word.contains(":")) {
        String[] parts = word.split("\\+", -1);
        int[] of = Stream.of(parts[0].split(":", -1)).mapToInt(Integer::parseInt).toArray();
        levels.level(of[0], of[1], of.length > 2 ? of[2] : 100, of.length > 3 ? of[3] : 0);
        levels.failing(parts.length > 1 ? Integer.parseInt(parts[1]) : 0);
      } else {
        levels.target(word);
      }
    }
    return levels;
  }

  /**
   * A level of {@code users} whose {@code requests} have one token each at {@code e2eMs}, and all
   * but {@code late} of them a TTFT of that, the late ones ten times it.
   */
  public Levels level(int users, int requests, double e2eMs, int late) {
    return level("c=" + users, users, requests, e2eMs, late);
  }

  Levels level(String label, int users, int requests, double e2eMs, int late) {
    double from = stages.size() * 1_000.0;
    stages.add(
        Runs.stage(label, target, "closed loop", (double) users, "users", from, from + 1_000));
    RequestRecord one = Recorded.at(from).target(target).stage(label).tokens(e2eMs).record();
    RequestRecord slow = Recorded.at(from).target(target).stage(label).tokens(e2eMs * 10).record();
    records.addAll(Collections.nCopies(late, slow));
    records.addAll(Collections.nCopies(Math.max(0, requests - late), one));
    return this;
  }

  public Levels failing(int requests) {
    double from = (stages.size() - 1) * 1_000.0;
    String label = stages.get(stages.size() - 1).label();
    Recorded failed =
        Recorded.at(from).target(target).stage(label).failed(RequestStatus.HTTP_ERROR, "HTTP 500");
    records.addAll(Collections.nCopies(requests, failed.record()));
    return this;
  }

  /** A level whose requests were all scheduled before its window, and end in it. */
  public Levels waiting(int users, int requests) {
    double from = stages.size() * 1_000.0;
    String label = "c=" + users;
    stages.add(Runs.stage(target, users, from, from + 1_000));
    Recorded early =
        Recorded.at(from - 500).target(target).stage(label).phase(Phase.STABILIZE).tokens(1_400);
    records.addAll(Collections.nCopies(requests, early.record()));
    return this;
  }

  public Levels level(int users, int requests, double e2eMs) {
    return level(users, requests, e2eMs, 0);
  }

  public Levels target(String name) {
    target = name;
    return this;
  }

  /** With a warm-up request of that many tokens in a second, the third of the target. */
  public Levels alone(int tokens) {
    alone = Map.of(target, new SingleStream(tokens, 1, 2));
    return this;
  }

  /**
   * So many requests a second for one second against a gate of 8; each holds its place for 2 s and
   * has its first token after 200 ms. The k-th is admitted with group g = ⌊k ÷ 8⌋, g × (2 s − 8 ÷
   * rate) after its arrival.
   *
   * <pre>
   * rate   longest wait           TTFT from schedule p99
   *  4, 8  0                                      200 ms
   *   16   1 × (2 − 8/16) =  1.5 s              1,700 ms
   *   32   3 × (2 − 8/32) =  5.25 s             5,450 ms
   *   64   7 × (2 − 8/64) = 13.125 s           13,325 ms
   * </pre>
   */
  public static Summary gated(Slo slo, int... rates) {
    Levels levels = new Levels();
    for (int rate : rates) {
      double from = levels.stages.size() * 100_000.0;
      levels.stages.add(Runs.rate(rate, from, from + 1_000));
      for (int k = 0; k < rate; k++) {
        double wait = Math.floorDiv(k, 8) * (2_000 - 8_000.0 / rate);
        double at = from + k * 1_000.0 / rate;
        levels.records.add(
            Recorded.at(at).lag(0).gate(wait).stage("r=" + rate).tokens(200, 2_000).record());
      }
    }
    RunInfo info = Runs.run(100 * rates.length, levels.stages.toArray(LevelInfo[]::new));
    return Runs.summary(info.slo(slo), levels.records);
  }

  /** An SLO by how {@code verdicts.csv} calls it. */
  public static Slo slo(@Nullable String name) {
    Slo slo = Slo.parse("ttft<200ms,tpot<50ms");
    return switch (Objects.requireNonNullElse(name, "")) {
      case "each" -> slo;
      case "together" -> slo.judgedBy(99, Slo.Rule.REQUESTS);
      case "median" -> Slo.parse("ttft<200ms", 50, Slo.Rule.PERCENTILES);
      default -> Slo.NONE;
    };
  }

  public RunFigures figures(Slo slo) {
    return Runs.figures(run().slo(slo).singleStreams(alone), records);
  }

  /** Of a run with these objectives. */
  public RunFigures figures(UnaryOperator<RunInfo> goals) {
    return Runs.figures(goals.apply(run()), records);
  }

  RunFigures figures(Assertion... assertions) {
    return Runs.figures(run().assertions(List.of(assertions)), records);
  }

  private RunInfo run() {
    return Runs.run(stages.size(), stages.toArray(LevelInfo[]::new));
  }

  String verdict(Slo slo) {
    return figures(slo).summary().verdict();
  }

  String verdict() {
    return verdict(Slo.NONE);
  }

  public Summary summary() {
    return figures(Slo.NONE).summary();
  }
}
