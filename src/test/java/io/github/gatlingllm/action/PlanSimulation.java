package io.github.gatlingllm.action;

import static io.gatling.javaapi.core.CoreDsl.exec;
import static io.gatling.javaapi.core.CoreDsl.scenario;
import static io.gatling.javaapi.http.HttpDsl.http;
import static io.github.gatlingllm.javaapi.LlmDsl.closedLoop;

import io.gatling.javaapi.core.ScenarioBuilder;
import io.gatling.javaapi.core.Session;
import io.gatling.javaapi.core.Simulation;
import io.github.gatlingllm.load.LoadPlan;
import io.github.gatlingllm.load.RunningLevel;
import io.github.gatlingllm.record.LevelInfo.Phase;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;

/** A plan over plain HTTP; at the end it prints what it saw of itself. */
public final class PlanSimulation extends Simulation {
  private final Queue<String> lines = new ConcurrentLinkedQueue<>();

  private final AtomicLong spins = new AtomicLong();

  private final RunningLevel.Listener listener =
      new RunningLevel.Listener() {
        @Override
        public void levelStarted(RunningLevel stage, long nanoTime) {
          lines.add("started " + stage + " " + nanoTime);
        }

        @Override
        public void phaseStarted(RunningLevel stage, Phase phase, long nanoTime) {
          lines.add(phase.key() + " " + stage + " " + nanoTime);
        }

        @Override
        public void levelEnded(RunningLevel stage, long nanoTime, int running) {
          lines.add("ended " + stage + " " + nanoTime + " " + running);
        }
      };

  private final ScenarioBuilder scenario =
      scenario("Visit")
          .exec(PlanSimulation::begin)
          .exec(http("visit").get(System.getProperty("url") + "/#{label}/#{phase}"))
          .doIf(session -> Boolean.getBoolean("exits") && session.userId() % 2 == 0)
          .then(exec(Session::markAsFailed).exitHereIfFailed());

  /** An iteration that never waits. */
  private final ScenarioBuilder spin =
      scenario("Spin")
          .exec(
              session -> {
                spins.incrementAndGet();
                return session;
              });

  private static Session begin(Session session) {
    RunningLevel stage = session.get(RunningLevel.KEY);
    return session.set("label", stage.label()).set("phase", stage.phaseAt(System.nanoTime()).key());
  }

  private static LoadPlan plan() {
    return switch (System.getProperty("plan")) {
      case "rounds" -> closedLoop(32, 8, 1).requests(96).plan();
      case "count" -> closedLoop(4).requests(48).plan();
      case "spin" -> closedLoop(2).requests(100_000).plan();
      default -> throw new IllegalArgumentException(System.getProperty("plan"));
    };
  }

  {
    ScenarioBuilder looped = System.getProperty("plan").equals("spin") ? spin : scenario;
    setUp(
        LoadInjection.population(
                plan(),
                looped.wrapped,
                looped.wrapped.name(),
                context -> new PlanWorkload.PlanLoop.Place(1, level -> null, listener))
            .andThen(
                closedLoop(1)
                    .requests(1)
                    .inject(scenario("After").exec(session -> note(session, "after")))));
  }

  private Session note(Session session, String line) {
    lines.add(line);
    return session;
  }

  @Override
  public void after() {
    System.out.println("> spins all " + spins);
    lines.forEach(line -> System.out.println("> " + line));
  }
}
