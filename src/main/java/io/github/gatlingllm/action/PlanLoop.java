package io.github.gatlingllm.action;

import io.gatling.core.CoreComponents;
import io.gatling.core.action.Action;
import io.gatling.core.action.SessionHook;
import io.gatling.core.action.builder.ActionBuilder;
import io.gatling.core.session.Session;
import io.gatling.core.stats.StatsEngine;
import io.gatling.core.structure.ScenarioBuilder;
import io.gatling.core.structure.ScenarioContext;
import io.github.gatlingllm.load.PlanDriver;
import io.github.gatlingllm.load.RunningLevel;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The loop around a scenario under a load plan: the first action of every user, and the one after
 * the last action of each iteration. {@link PlanUser} asks the plan for the next iteration.
 */
final class PlanLoop extends SessionHook {
  private final String scenario;
  private final Place place;
  private @Nullable Action body;

  /** A load plan in its run. */
  record Place(int number, PlanDriver.Starts starts, RunningLevel.Listener listener) {}

  private PlanLoop(StatsEngine statsEngine, Action exit, String scenario, Place place) {
    // No function, as execute is overridden: SessionHook is extended for its Scala members only.
    super(null, "plan", statsEngine, exit);
    this.scenario = scenario;
    this.place = place;
  }

  /** Builds the loop around a scenario. */
  static ActionBuilder around(ScenarioBuilder body, Function<ScenarioContext, Place> place) {
    return (context, exit) -> {
      StatsEngine statsEngine = context.coreComponents().statsEngine();
      PlanLoop loop = new PlanLoop(statsEngine, exit, body.name(), place.apply(context));
      // The body cannot be built without the loop, nor the loop be complete without the body.
      loop.body = body.build(withExit(context, new Exit(statsEngine, exit)), loop);
      return loop;
    };
  }

  /** Users that exit within the scenario pass our exit, so that the plan replaces them at once. */
  private static ScenarioContext withExit(ScenarioContext context, Action exit) {
    CoreComponents core = context.coreComponents();
    return new ScenarioContext(
        new CoreComponents(
            core.actorSystem(),
            core.eventLoopGroup(),
            core.controller(),
            core.throttler(),
            core.statsEngine(),
            core.clock(),
            exit,
            core.configuration()),
        context.protocolComponentsRegistry(),
        context.pauseType(),
        context.throttled());
  }

  /** The scenario's name in the simulation. */
  String scenario() {
    return scenario;
  }

  Place place() {
    return place;
  }

  @Override
  public void execute(Session session) {
    PlanUser.of(session).iterate(session, Objects.requireNonNull(body), next());
  }

  /** The exit of users within an iteration, by {@code exitHereIfFailed} and the like. */
  private static final class Exit extends SessionHook {

    private Exit(StatsEngine statsEngine, Action exit) {
      super(null, "plan-exit", statsEngine, exit);
    }

    @Override
    public void execute(Session session) {
      PlanUser.of(session).left();
      next().$bang(session);
    }
  }
}
