package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.level.RunStatistics.RunFigures;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.RunOutcome.SingleStream;
import io.github.gatlingllm.record.Slo;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/** A sweep for tests: levels of one second each, one after the other. */
public final class Levels {

  private final List<LevelInfo> stages = new ArrayList<>();
  private final List<RequestRecord> records = new ArrayList<>();
  private String target = "a";
  private Map<String, SingleStream> alone = Map.of();

  /**
   * A level of {@code users} whose {@code requests} have one token each at {@code e2eMs}, and all
   * but {@code late} of them a TTFT of that, the late ones ten times it.
   */
  public Levels level(int users, int requests, double e2eMs, int late) {
    return level("c=" + users, users, requests, e2eMs, late);
  }

  /** The same load once more. */
  public Levels again(int users, int requests, double e2eMs, int late) {
    return level("c=" + users + LevelInfo.AGAIN, users, requests, e2eMs, late);
  }

  private Levels level(String label, int users, int requests, double e2eMs, int late) {
    double from = stages.size() * 1_000.0;
    stages.add(
        Recorded.stage(label, target, "closed loop", (double) users, "users", from, from + 1_000));
    RequestRecord one = Recorded.at(from).target(target).stage(label).tokens(e2eMs).record();
    RequestRecord slow = Recorded.at(from).target(target).stage(label).tokens(e2eMs * 10).record();
    records.addAll(Collections.nCopies(late, slow));
    records.addAll(Collections.nCopies(Math.max(0, requests - late), one));
    return this;
  }

  /** So many more requests of the last level, which fail. */
  public Levels failing(int requests) {
    double from = (stages.size() - 1) * 1_000.0;
    String label = stages.get(stages.size() - 1).label();
    for (int i = 0; i < requests; i++) {
      records.add(
          Recorded.at(from)
              .target(target)
              .stage(label)
              .failed(RequestStatus.HTTP_ERROR, "HTTP 500")
              .record());
    }
    return this;
  }

  /** A level whose requests were all scheduled before its window, and end in it. */
  public Levels waiting(int users, int requests) {
    double from = stages.size() * 1_000.0;
    String label = "c=" + users;
    stages.add(Recorded.stage(target, users, from, from + 1_000));
    for (int i = 0; i < requests; i++) {
      records.add(
          Recorded.at(from - 500)
              .target(target)
              .stage(label)
              .phase(Phase.STABILIZE)
              .tokens(1_400)
              .record());
    }
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

  public RunFigures figures(Slo slo) {
    RunInfo info = Recorded.run(stages.size(), stages.toArray(LevelInfo[]::new));
    return Recorded.figures(info.slo(slo).singleStreams(alone), records);
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
