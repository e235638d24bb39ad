package io.github.gatlingllm.action;

import io.gatling.core.CoreComponents;
import io.gatling.core.action.Action;
import io.gatling.core.action.builder.ActionBuilder;
import io.gatling.core.structure.ScenarioBuilder;
import io.gatling.core.structure.ScenarioContext;
import io.github.gatlingllm.load.StageListener;
import java.util.function.Function;

/** Builds the loop around a scenario. */
final class PlanLoopBuilder implements ActionBuilder {
  private final ScenarioBuilder body;
  private final Function<ScenarioContext, StageListener> listener;

  /**
   * @param listener finds out who is told about stages and phases
   */
  PlanLoopBuilder(ScenarioBuilder body, Function<ScenarioContext, StageListener> listener) {
    this.body = body;
    this.listener = listener;
  }

  @Override
  public Action build(ScenarioContext ctx, Action exit) {
    CoreComponents core = ctx.coreComponents();
    PlanLoop loop = new PlanLoop(core.statsEngine(), exit, body.name(), listener.apply(ctx));
    loop.around(body.build(withExit(ctx, new PlanExit(core.statsEngine(), exit)), loop));
    return loop;
  }

  /** What exits inside the scenario passes our exit, so that its seat is free at that instant. */
  private static ScenarioContext withExit(ScenarioContext ctx, Action exit) {
    CoreComponents core = ctx.coreComponents();
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
        ctx.protocolComponentsRegistry(),
        ctx.pauseType(),
        ctx.throttled());
  }
}
