package io.github.gatlingllm.action;

import io.gatling.core.action.Action;
import io.gatling.core.action.SessionHook;
import io.gatling.core.session.Session;
import io.gatling.core.stats.StatsEngine;
import io.gatling.core.structure.ScenarioContext;
import io.gatling.javaapi.core.ActionBuilder;
import io.github.gatlingllm.load.Arrival;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Holds users until their planned instants, as the first LLM action of a scenario does. */
final class HeldBuilder implements ActionBuilder {
  private final Map<Object, InjectionPlans> perRun = new HashMap<>();

  @Override
  public io.gatling.core.action.builder.ActionBuilder asScala() {
    return this::build;
  }

  private Action build(ScenarioContext ctx, Action next) {
    InjectionPlans schedules =
        perRun.computeIfAbsent(
            ctx.coreComponents(), core -> InjectionPlans.of(ctx.coreComponents()));
    return new Held(schedules, ctx.coreComponents().statsEngine(), next);
  }

  private static final class Held extends SessionHook {
    private final InjectionPlans schedules;

    private Held(InjectionPlans schedules, StatsEngine statsEngine, Action next) {
      super(null, "held", statsEngine, next);
      this.schedules = schedules;
    }

    @Override
    public void execute(Session session) {
      long now = System.nanoTime();
      @Nullable Arrival arrival = schedules.next(session.scenario(), now);
      if (arrival == null) {
        next().$bang(session);
      } else if (arrival.untilPlannedNanos(now) > 0) {
        EventLoops.at(
            session.eventLoop(),
            arrival.plannedNanos(),
            () -> {
              arrival.started(System.nanoTime());
              next().$bang(session.set(Arrival.KEY, arrival));
            });
      } else {
        next().$bang(session.set(Arrival.KEY, arrival));
      }
    }
  }
}
