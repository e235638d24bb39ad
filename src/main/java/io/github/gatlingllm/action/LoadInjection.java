package io.github.gatlingllm.action;

import io.gatling.commons.util.Clock;
import io.gatling.core.action.builder.ActionBuilder;
import io.gatling.core.controller.inject.InjectionProfile;
import io.gatling.core.controller.inject.Workload;
import io.gatling.core.controller.inject.open.OpenInjectionStep;
import io.gatling.core.scenario.Scenario;
import io.gatling.core.stats.StatsEngine;
import io.gatling.core.structure.ScenarioBuilder;
import io.gatling.javaapi.core.PopulationBuilder;
import io.github.gatlingllm.load.Arrivals;
import io.github.gatlingllm.load.Injector;
import io.github.gatlingllm.load.LoadPlan;
import io.github.gatlingllm.load.Turns;
import io.netty.channel.EventLoopGroup;
import java.lang.reflect.Constructor;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import scala.Option;
import scala.collection.immutable.List$;

/** Converts our load to Gatling's: a load plan to a population, arrivals to a step. */
public final class LoadInjection {
  private LoadInjection() {}

  /**
   * The {@code target} is null if it is the only one, else a part of the population's name, as
   * Gatling allows no name twice.
   */
  public static PopulationBuilder population(
      LoadPlan plan, ScenarioBuilder scenario, @Nullable String target) {
    LoadPlan set = InvalidSimulation.checked(() -> SimulationSettings.ofProcess().applyTo(plan));
    return new PopulationBuilder(looped(set, scenario, target, null));
  }

  /**
   * Classes of traffic, whose load levels start together; with {@code alone} each is also measured
   * by itself.
   */
  public static List<PopulationBuilder> inTurns(
      List<PopulationBuilder> classes, boolean alone, long seed) {
    return InvalidSimulation.checked(
        () -> {
          List<Profile> profiles = classes.stream().map(LoadInjection::ours).toList();
          if (alone && classes.size() < 2) {
            throw new IllegalArgumentException(
                "one class of traffic has none that it could slow down; expected two or more");
          }
          if (alone && Injector.ofProcess().isPart()) {
            throw new IllegalArgumentException(
                "injectors cannot know when a class of traffic is alone; expected one injector");
          }
          List<LoadPlan.Sweep> plans =
              Turns.of(profiles.stream().map(Profile::set).toList(), alone, seed);
          return IntStream.range(0, plans.size())
              .mapToObj(
                  i ->
                      new PopulationBuilder(
                          looped(
                              plans.get(i),
                              profiles.get(i).scenario,
                              profiles.get(i).target,
                              classes.get(i).asScala())))
              .toList();
        });
  }

  private static Profile ours(PopulationBuilder population) {
    if (population.asScala().injectionProfile() instanceof Profile ours) {
      return ours;
    }
    throw new IllegalArgumentException(
        "scenario '%s' is injected by Gatling itself, which has no load levels; use openLoop or closedLoop"
            .formatted(population.asScala().scenarioBuilder().name()));
  }

  /** The population with a plan; with the protocols and pauses of another one, if there is one. */
  private static io.gatling.core.structure.PopulationBuilder looped(
      LoadPlan set,
      ScenarioBuilder scenario,
      @Nullable String target,
      io.gatling.core.structure.@Nullable PopulationBuilder like) {
    String name = scenario.name() + (target == null ? "" : " @ " + target);
    LoadPlan own = InvalidSimulation.checked(() -> set.part(Injector.ofProcess().part()));
    ActionBuilder loop =
        PlanWorkload.around(
            scenario,
            context -> LlmComponents.of(context).place(context, scenario.name(), name, own));
    ScenarioBuilder looped =
        new ScenarioBuilder(name, List$.MODULE$.<ActionBuilder>empty().$colon$colon(loop));
    Profile profile = new Profile(own, set, scenario, target);
    return like == null
        ? looped.inject(profile)
        : like.copy(
            looped,
            profile,
            like.scenarioProtocols(),
            like.scenarioThrottleSteps(),
            like.pauseType(),
            like.children(),
            like.shard());
  }

  /** The load plan of an injection profile; null for one of Gatling's own. */
  static @Nullable LoadPlan planOf(InjectionProfile profile) {
    return profile instanceof Profile ours ? ours.plan() : null;
  }

  /** An arrival process as a step for {@code injectOpen} of Gatling's Java API. */
  public static io.gatling.javaapi.core.OpenInjectionStep step(
      Arrivals arrivals, long durationNanos) {
    // The only constructor of Gatling's Java class is private.
    try {
      Constructor<io.gatling.javaapi.core.OpenInjectionStep> constructor =
          io.gatling.javaapi.core.OpenInjectionStep.class.getDeclaredConstructor(
              OpenInjectionStep.class);
      constructor.setAccessible(true);
      return constructor.newInstance(InjectionPlans.step(arrivals, durationNanos));
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(
          "This Gatling has no constructor OpenInjectionStep(scala step); use Gatling 3.14 or 3.15",
          e);
    }
  }

  /**
   * @param set what {@code plan} is this injector's part of
   */
  private record Profile(
      LoadPlan plan, LoadPlan set, ScenarioBuilder scenario, @Nullable String target)
      implements InjectionProfile {

    /** Unknown before the run: users loop, and a search chooses its load levels. */
    @Override
    public Option<Object> totalUserCount() {
      return Option.empty();
    }

    @Override
    public Workload workload(
        Scenario scenario,
        AtomicLong userIds,
        long startMillis,
        EventLoopGroup eventLoops,
        StatsEngine statsEngine,
        Clock clock) {
      return new PlanWorkload(plan, scenario, userIds, eventLoops, statsEngine);
    }
  }
}
