package io.github.gatlingllm.action;

import io.gatling.core.CoreComponents;
import io.gatling.core.controller.inject.InjectionProfile;
import io.gatling.core.controller.inject.closed.ClosedInjectionProfile;
import io.gatling.core.controller.inject.closed.ClosedInjectionStep;
import io.gatling.core.controller.inject.closed.ConstantConcurrentUsersInjection;
import io.gatling.core.controller.inject.open.AtOnceOpenInjection;
import io.gatling.core.controller.inject.open.ConstantRateOpenInjection;
import io.gatling.core.controller.inject.open.HeavisideOpenInjection;
import io.gatling.core.controller.inject.open.NothingForOpenInjection;
import io.gatling.core.controller.inject.open.OpenInjectionProfile;
import io.gatling.core.controller.inject.open.OpenInjectionStep;
import io.gatling.core.controller.inject.open.PoissonOpenInjection;
import io.gatling.core.controller.inject.open.RampOpenInjection;
import io.gatling.core.controller.inject.open.RampRateOpenInjection;
import io.gatling.core.scenario.SimulationParams;
import io.gatling.core.session.Session;
import io.gatling.core.structure.PopulationBuilder;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.load.Arrival;
import io.github.gatlingllm.load.Arrival.OpenSchedule;
import io.github.gatlingllm.load.Arrivals;
import io.github.gatlingllm.load.Arrivals.Planned;
import io.github.gatlingllm.load.LoadLevel.Injection;
import io.github.gatlingllm.load.LoadPlan;
import io.github.gatlingllm.load.PlanText;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.run.Run;
import java.lang.reflect.Field;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.collection.Iterator;
import scala.collection.Iterator$;
import scala.collection.immutable.List;
import scala.collection.immutable.List$;
import scala.concurrent.duration.FiniteDuration;
import scala.jdk.javaapi.CollectionConverters;
import scala.jdk.javaapi.StreamConverters;

/** The plans of Gatling's own injection, by scenario, read from fields of its controller. */
final class InjectionPlans {
  private static final Logger LOGGER = LoggerFactory.getLogger(InjectionPlans.class);

  private final Map<String, Injected> injected = new HashMap<>();

  /** After that time Gatling stops all load; null for no limit. */
  final @Nullable Duration maxDuration;

  @SuppressWarnings("unchecked") // the steps are declared so in both profiles
  InjectionPlans(CoreComponents core) {
    maxDuration = maxDuration(core);
    long max = maxDuration == null ? Long.MAX_VALUE : maxDuration.toNanos();
    for (PopulationBuilder population : populations(core)) {
      String scenario = population.scenarioBuilder().name();
      InjectionProfile profile = population.injectionProfile();
      if (profile instanceof ClosedInjectionProfile
          && field(profile, "steps") instanceof List<?> some) {
        List<ClosedInjectionStep> steps = (List<ClosedInjectionStep>) some;
        Stream<Step> all = CollectionConverters.asJava(steps).stream().map(InjectionPlans::step);
        injected.put(scenario, new Injected(injection(all, Injection.USERS, max), null));
      } else if (profile instanceof OpenInjectionProfile
          && field(profile, "steps") instanceof List<?> some) {
        List<OpenInjectionStep> steps = (List<OpenInjectionStep>) some;
        Stream<Step> all = CollectionConverters.asJava(steps).stream().map(InjectionPlans::step);
        OpenSchedule schedule =
            new OpenSchedule(
                words(steps), () -> planned(steps).filter(each -> each.offsetNanos() < max));
        injected.put(scenario, new Injected(injection(all, Injection.RATE, max), schedule));
      }
    }
  }

  /** A user of Gatling's own injection, with its planned arrival if that is known. */
  Session arriving(Session session, String target, Run run) {
    Injected plan = injected.get(session.scenario());
    if (plan == null) { // under a load plan, or this version of Gatling does not show its steps
      return session;
    }
    LevelInfo.Key level = new LevelInfo.Key(LevelInfo.ENTIRE_RUN, target, session.scenario());
    OpenSchedule schedule = plan.schedule;
    long now = System.nanoTime();
    Arrival arrival = schedule == null ? null : schedule.next(now);
    if (arrival == null) {
      if (plan.isFirstUser()) {
        run.levels().injectionStarted(level, plan.injection, now, null);
      }
      return session;
    }
    if (arrival.isAnchor()) {
      long start = arrival.plannedNanos() - arrival.scheduledOffsetNanos();
      run.levels().injectionStarted(level, plan.injection, start, schedule);
    }
    return UserSessions.withArrival(session, arrival);
  }

  /** What a scenario's injection plans, for the plan of a dry run. */
  String words(String scenario) {
    Injected plan = injected.get(scenario);
    if (plan == null) {
      return "injected by Gatling";
    }
    OpenSchedule schedule = plan.schedule;
    return "injected by Gatling for "
        + PlanText.of(plan.injection)
        + (schedule == null
            ? ""
            : ", "
                + NumberText.counted(schedule.planned().count(), "user")
                + ": "
                + schedule.description());
  }

  /** An arrival process as a step of Gatling's open injection. */
  static OpenInjectionStep step(Arrivals arrivals, long durationNanos) {
    return new ArrivalStep(arrivals, durationNanos, arrivals.countBefore(durationNanos));
  }

  private static String words(List<OpenInjectionStep> steps) {
    return CollectionConverters.asJava(steps).stream()
        .map(InjectionPlans::words)
        .collect(Collectors.joining(", then "));
  }

  private static String words(OpenInjectionStep step) {
    String during = " during " + NumberText.duration(step.duration().toNanos() / 1e9);
    String users = NumberText.counted(step.users(), "user");
    if (step instanceof ConstantRateOpenInjection constant) {
      return "evenly spaced " + rates(constant.rate(), constant.rate()) + during;
    }
    if (step instanceof RampRateOpenInjection ramp) {
      return rates(ramp.startRate(), ramp.endRate()) + during;
    }
    if (step instanceof AtOnceOpenInjection) {
      return users + " together";
    }
    if (step instanceof NothingForOpenInjection) {
      return "no users" + during;
    }
    if (step instanceof PoissonOpenInjection poisson) {
      return "randomized " + rates(poisson.startRate(), poisson.endRate()) + during;
    }
    return step instanceof RampOpenInjection || step instanceof HeavisideOpenInjection
        ? users + during
        : step.toString();
  }

  private static String rates(double from, double to) {
    return from == to ? "at " + perSecond(to) : "from " + perSecond(from) + " to " + perSecond(to);
  }

  private static String perSecond(double rate) {
    return NumberText.of(NumberText.plain(rate), "users/s");
  }

  /** The load is users per second or users; null where it varies. */
  private record Step(boolean hasUsers, FiniteDuration duration, @Nullable Double load) {}

  private static Step step(OpenInjectionStep step) {
    Double rate =
        step instanceof ArrivalStep ours && ours.arrivals() instanceof Arrivals.Steady steady
            ? (Double) steady.perSecond()
            : step instanceof ConstantRateOpenInjection constant ? (Double) constant.rate() : null;
    return new Step(step.users() > 0, step.duration(), rate);
  }

  private static Step step(ClosedInjectionStep step) {
    Double users =
        step instanceof ConstantConcurrentUsersInjection constant
            ? (Double) (double) constant.number()
            : null;
    return new Step(!step.isEmpty(), step.duration(), users);
  }

  /** Leading and trailing steps without users are not part of the load. */
  private static Injection injection(Stream<Step> steps, String unit, long max) {
    long at = 0;
    long from = -1;
    long until = 0;
    Set<@Nullable Double> loads = new HashSet<>();
    for (Step step : (Iterable<Step>) steps::iterator) {
      long end = at + step.duration.toNanos();
      if (step.hasUsers) {
        if (from >= 0 && at > until) {
          loads.add(null);
        }
        from = from < 0 ? at : from;
        until = end;
        loads.add(step.load);
      }
      at = end;
    }
    Double offered = loads.size() == 1 ? loads.iterator().next() : null;
    long began = Math.max(0, from);
    return new Injection(
        offered, offered == null ? "" : unit, began, Math.max(began, Math.min(until, max)));
  }

  /** The arrivals of all steps; each step begins where the one before ends. */
  private static Stream<Planned> planned(List<OpenInjectionStep> steps) {
    Stream<Planned> all = Stream.empty();
    long start = 0;
    long users = 0;
    for (OpenInjectionStep step : CollectionConverters.asJava(steps)) {
      long from = start;
      long before = users;
      all =
          Stream.concat(
              all,
              planned(step)
                  .map(
                      arrival ->
                          new Planned(
                              before + arrival.index(),
                              from + arrival.offsetNanos(),
                              arrival.lengths())));
      start += step.duration().toNanos();
      users += step.users();
    }
    return all;
  }

  private static Stream<Planned> planned(OpenInjectionStep step) {
    if (step instanceof ArrivalStep ours) {
      return ours.arrivals().plannedBefore(ours.durationNanos());
    }
    AtomicLong index = new AtomicLong();
    return StreamConverters.asJavaSeqStream(step.chain(Iterator$.MODULE$.empty()))
        .map(offset -> new Planned(index.getAndIncrement(), offset.toNanos(), null));
  }

  /** All populations of the simulation; none where this version of Gatling does not show them. */
  static java.util.List<PopulationBuilder> populations(CoreComponents core) {
    return CollectionConverters.asJava(PopulationBuilder.flatten(roots(core)));
  }

  /** The populations that follow no other; none as for {@link #populations}. */
  static java.util.List<PopulationBuilder> rootPopulations(CoreComponents core) {
    return CollectionConverters.asJava(roots(core));
  }

  /** The labels of all load levels; null where a search chooses them, or Gatling hides them. */
  static @Nullable Set<String> levels(CoreComponents core) {
    Set<String> labels = new LinkedHashSet<>();
    for (PopulationBuilder population : populations(core)) {
      LoadPlan plan = LoadInjection.planOf(population.injectionProfile());
      if (plan instanceof LoadPlan.Sweep sweep) {
        sweep.levels().forEach(level -> labels.add(LevelInfo.unnumbered(level.label())));
      } else if (plan == null) {
        labels.add(LevelInfo.ENTIRE_RUN);
      } else {
        return null;
      }
    }
    return labels.isEmpty() ? null : labels;
  }

  /** The llm protocols that scenarios have; none as for {@link #populations}. */
  static java.util.List<LlmProtocol> protocols(CoreComponents core) {
    LlmProtocol common = commonProtocol(core);
    return populations(core).stream()
        .map(each -> each.scenarioProtocols().get(LlmProtocol.class).getOrElse(() -> common))
        .filter(Objects::nonNull)
        .map(LlmProtocol.class::cast)
        .distinct()
        .toList();
  }

  /** The llm protocol of the entire simulation; null where it has none. */
  static @Nullable LlmProtocol commonProtocol(CoreComponents core) {
    SimulationParams simulation = simulation(core);
    return simulation == null
        ? null
        : (LlmProtocol) simulation.globalProtocols().get(LlmProtocol.class).getOrElse(() -> null);
  }

  private static List<PopulationBuilder> roots(CoreComponents core) {
    SimulationParams simulation = simulation(core);
    return simulation == null ? List$.MODULE$.empty() : simulation.rootPopulationBuilders();
  }

  private static @Nullable Duration maxDuration(CoreComponents core) {
    SimulationParams simulation = simulation(core);
    return simulation == null || simulation.maxDuration().isEmpty()
        ? null
        : Duration.ofNanos(simulation.maxDuration().get().toNanos());
  }

  private static @Nullable SimulationParams simulation(CoreComponents core) {
    Object controller = field(core.controller(), "actor");
    return controller != null
            && field(controller, "simulationParams") instanceof SimulationParams simulation
        ? simulation
        : null;
  }

  private static @Nullable Object field(Object owner, String name) {
    try {
      Field field = owner.getClass().getDeclaredField(name);
      field.setAccessible(true);
      return field.get(owner);
    } catch (ReflectiveOperationException e) {
      LOGGER.warn(
          "This Gatling does not show its injection steps: times from schedule are missing; use"
              + " Gatling 3.14 or 3.15",
          e);
      return null;
    }
  }

  /** What a scenario's own injection plans; the schedule is null unless it is open. */
  private record Injected(
      Injection injection, @Nullable OpenSchedule schedule, AtomicBoolean hasStarted) {

    Injected(Injection injection, @Nullable OpenSchedule schedule) {
      this(injection, schedule, new AtomicBoolean());
    }

    /** Whether this is the first call. */
    boolean isFirstUser() {
      return !hasStarted.get() && hasStarted.compareAndSet(false, true);
    }
  }

  private record ArrivalStep(Arrivals arrivals, long durationNanos, long users)
      implements OpenInjectionStep {

    @Override
    public Iterator<FiniteDuration> chain(Iterator<FiniteDuration> chained) {
      Iterator<FiniteDuration> own =
          CollectionConverters.asScala(
              arrivals
                  .offsetsBefore(durationNanos)
                  .mapToObj(offset -> new FiniteDuration(offset, TimeUnit.NANOSECONDS))
                  .iterator());
      FiniteDuration duration = duration();
      return own.concat(() -> chained.map(later -> later.$plus(duration)));
    }

    @Override
    public FiniteDuration duration() {
      return new FiniteDuration(durationNanos, TimeUnit.NANOSECONDS);
    }

    @Override
    public int productArity() {
      return 2;
    }

    @Override
    public Object productElement(int n) {
      return switch (n) {
        case 0 -> arrivals;
        case 1 -> duration();
        default -> throw new IndexOutOfBoundsException(n);
      };
    }

    @Override
    public boolean canEqual(Object that) {
      return that instanceof ArrivalStep;
    }

    @Override
    public String toString() {
      BigDecimal seconds = BigDecimal.valueOf(durationNanos, 9).stripTrailingZeros();
      return arrivals + " during " + seconds.toPlainString() + " s";
    }
  }
}
