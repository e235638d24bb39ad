package io.github.gatlingllm.action;

import io.gatling.core.CoreComponents;
import io.gatling.core.controller.inject.open.OpenInjectionProfile;
import io.gatling.core.controller.inject.open.OpenInjectionStep;
import io.gatling.core.scenario.SimulationParams;
import io.gatling.core.structure.PopulationBuilder;
import io.github.gatlingllm.load.Arrival;
import io.github.gatlingllm.load.Arrivals.Planned;
import io.github.gatlingllm.load.OpenSchedule;
import java.lang.reflect.Field;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.collection.Iterator$;
import scala.collection.immutable.List;
import scala.concurrent.duration.FiniteDuration;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The planned arrivals of every {@code injectOpen} of a run, by scenario. Gatling's steps draw
 * their schedule anew on each call, and the same one each time; so the plan is read off the steps
 * themselves: ours to the nanosecond, Gatling's own as exactly as it plans them, mixtures too.
 *
 * <p>Gatling has no API for the steps, so they are read from the fields of its controller. Where
 * another version lacks these fields, there are no schedules and a line in the log says so.
 */
final class OpenSchedules {
  private static final Logger LOGGER = LoggerFactory.getLogger(OpenSchedules.class);

  private final Map<String, OpenSchedule> byScenario;

  private OpenSchedules(Map<String, OpenSchedule> byScenario) {
    this.byScenario = byScenario;
  }

  /** Reads the schedules of the run that these components belong to; once per run. */
  static OpenSchedules of(CoreComponents core) {
    Map<String, OpenSchedule> schedules = new HashMap<>();
    try {
      for (PopulationBuilder population : populations(core)) {
        if (population.injectionProfile() instanceof OpenInjectionProfile profile) {
          @SuppressWarnings("unchecked") // declared so in OpenInjectionProfile
          List<OpenInjectionStep> steps = (List<OpenInjectionStep>) field(profile, "steps");
          schedules.put(
              population.scenarioBuilder().name(),
              new OpenSchedule(steps.mkString(", "), () -> planned(steps).iterator()));
        }
      }
    } catch (ReflectiveOperationException | ClassCastException e) {
      LOGGER.warn("This Gatling hides its arrival plan; open users have no planned instants", e);
      schedules.clear();
    }
    return new OpenSchedules(Map.copyOf(schedules));
  }

  /**
   * The arrival of a user that started just now.
   *
   * @return null for users of closed models and load plans
   */
  @Nullable Arrival next(String scenario, long nanoTime) {
    OpenSchedule schedule = byScenario.get(scenario);
    return schedule == null ? null : schedule.next(nanoTime);
  }

  /** How the users of that scenario arrive, seeds included. */
  String description(String scenario) {
    OpenSchedule schedule = byScenario.get(scenario);
    return schedule == null ? "" : schedule.description();
  }

  /** The arrivals of that scenario, drawn again; none for closed models and load plans. */
  Iterator<Planned> planned(String scenario) {
    OpenSchedule schedule = byScenario.get(scenario);
    return schedule == null ? Collections.emptyIterator() : schedule.planned();
  }

  /** One step after the other, each beginning where the one before ends, as Gatling chains them. */
  private static Stream<Planned> planned(List<OpenInjectionStep> steps) {
    Stream<Planned> all = Stream.empty();
    long start = 0;
    for (OpenInjectionStep step : CollectionConverters.asJava(steps)) {
      long from = start;
      all =
          Stream.concat(
              all,
              StreamSupport.stream(
                      Spliterators.spliteratorUnknownSize(planned(step), Spliterator.ORDERED),
                      false)
                  .map(arrival -> new Planned(from + arrival.offsetNanos(), arrival.lengths())));
      start += step.duration().toNanos();
    }
    return all;
  }

  private static Iterator<Planned> planned(OpenInjectionStep step) {
    if (step instanceof ArrivalStep ours) {
      return ours.planned();
    }
    scala.collection.Iterator<FiniteDuration> gatlings = step.chain(Iterator$.MODULE$.empty());
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        return gatlings.hasNext();
      }

      @Override
      public Planned next() {
        return new Planned(gatlings.next().toNanos(), null);
      }
    };
  }

  /**
   * All populations of the simulation.
   *
   * @throws ReflectiveOperationException where this Gatling keeps them elsewhere
   */
  static java.util.List<PopulationBuilder> populations(CoreComponents core)
      throws ReflectiveOperationException {
    Object controller = field(core.controller(), "actor");
    SimulationParams params = (SimulationParams) field(controller, "simulationParams");
    return CollectionConverters.asJava(PopulationBuilder.flatten(params.rootPopulationBuilders()));
  }

  private static Object field(Object owner, String name) throws ReflectiveOperationException {
    Field field = owner.getClass().getDeclaredField(name);
    field.setAccessible(true);
    return field.get(owner);
  }
}
