package io.github.gatlingllm.action;

import static io.gatling.javaapi.core.CoreDsl.constantConcurrentUsers;
import static io.gatling.javaapi.core.CoreDsl.constantUsersPerSec;
import static io.gatling.javaapi.core.CoreDsl.nothingFor;
import static io.gatling.javaapi.core.CoreDsl.scenario;

import io.gatling.javaapi.core.ScenarioBuilder;
import io.gatling.javaapi.core.Session;
import io.gatling.javaapi.core.Simulation;
import io.github.gatlingllm.javaapi.PoissonArrivals;
import io.github.gatlingllm.load.Arrival;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Our steps and Gatling's in {@code injectOpen}, several scenarios at once. */
public final class OpenSimulation extends Simulation {
  private final Queue<String> lines = new ConcurrentLinkedQueue<>();
  private final HeldBuilder held = new HeldBuilder();

  private ScenarioBuilder chat(String name) {
    return scenario(name).exec(held).exec(session -> note(name, session));
  }

  private Session note(String name, Session session) {
    if (session.contains(Arrival.KEY)) {
      Arrival arrival = session.get(Arrival.KEY);
      lines.add("lag " + name + " " + arrival.startLagNanos());
      lines.add("offset " + name + " " + arrival.scheduledOffsetNanos());
    } else {
      lines.add("unplanned " + name + " 1");
    }
    return session;
  }

  {
    setUp(
        chat("r=10").injectOpen(PoissonArrivals.of(10).seed(1).during(1)),
        chat("r=100").injectOpen(nothingFor(1), PoissonArrivals.of(100).seed(2).during(1)),
        chat("r=1000")
            .injectOpen(
                nothingFor(2),
                PoissonArrivals.of(1000).seed(3).during(1),
                constantUsersPerSec(20).during(1)),
        chat("gatling").injectOpen(constantUsersPerSec(20).during(1).randomized()),
        chat("closed").injectClosed(constantConcurrentUsers(1).during(1)));
  }

  @Override
  public void after() {
    lines.forEach(line -> System.out.println("> " + line));
  }
}
