package io.github.gatlingllm.action;

import io.gatling.core.CoreComponents;
import io.gatling.core.structure.PopulationBuilder;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.load.Injector;
import io.github.gatlingllm.load.LoadPlan;
import io.github.gatlingllm.record.ConfigKey;
import io.github.gatlingllm.record.InjectorRun.InjectorShare;
import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.run.Run;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import scala.jdk.javaapi.CollectionConverters;

/** The start of the load, and the planned starts that injectors that share it have in common. */
final class CommonStart {

  /** Key in {@code run.json}: the delay of a load that started, or would have started, too late. */
  private static final String LATE = ConfigKey.LATE.name;

  /** Time from the end of the warm-up to Gatling's injection. */
  private static final long READY_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

  private static final long MAX_AHEAD_NANOS = TimeUnit.DAYS.toNanos(7);

  private final Injector injector;
  private final List<PopulationBuilder> roots;

  private final @Nullable Instant start;

  private long unbuiltPlans;

  private CommonStart(Injector injector, List<PopulationBuilder> roots, long plans) {
    this.injector = injector;
    this.roots = roots;
    this.unbuiltPlans = Math.max(1, plans);
    this.start = injector.startAt();
  }

  static CommonStart of(CoreComponents core, Injector injector) {
    boolean isAlone = injector.startAt() == null && !injector.isPart();
    if (isAlone || LlmProtocol.isDryRun()) {
      return new CommonStart(new Injector(injector.share(), null), List.of(), 0);
    }
    if (injector.startAt() == null) {
      throw InvalidSimulation.because(
          ("injector %s needs %s, an instant at which all injectors are ready and start together;"
                  + " expected %s")
              .formatted(injector.share(), Injector.START_PROPERTY, Injector.START_EXPECTED));
    }
    List<PopulationBuilder> populations = InjectionPlans.populations(core);
    if (populations.isEmpty()) {
      throw InvalidSimulation.because(
          describe(injector)
              + ": this Gatling does not show its scenarios, so none can be started at an instant;"
              + " use Gatling 3.14 or 3.15");
    }
    long plans = 0;
    for (PopulationBuilder each : populations) {
      if (LoadInjection.planOf(each.injectionProfile()) != null) {
        plans++;
      } else if (each.shard()) {
        throw InvalidSimulation.because(
            ("%s: scenario '%s' is injected by Gatling itself, which offers all of it in every"
                    + " injector, whenever it is ready; use openLoop or closedLoop, or set"
                    + " .noShard() where that is intended")
                .formatted(describe(injector), each.scenarioBuilder().name()));
      }
    }
    return new CommonStart(injector, InjectionPlans.rootPopulations(core), plans);
  }

  private static String describe(Injector injector) {
    return injector.isPart()
        ? "injector " + injector.share()
        : Injector.START_PROPERTY + "=" + injector.startAt();
  }

  void requireInTime(Run run) {
    if (start == null) {
      return;
    }
    long remaining = Injector.unixNanos(start) - run.unixNanos(System.nanoTime());
    if (remaining > MAX_AHEAD_NANOS) {
      throw InvalidSimulation.because(
          "%s=%s is %s away; expected an instant within a week"
              .formatted(Injector.START_PROPERTY, start, duration(remaining)));
    }
    if (remaining < READY_NANOS) {
      String late = duration(Math.max(0, -remaining));
      run.describe(info -> info.config(LATE, late));
      throw InvalidSimulation.because(
          ("LLM: %s=%s has passed: this injector was ready %s after it and sends nothing. Start all"
                  + " injectors again with a later instant")
              .formatted(Injector.START_PROPERTY, start, late));
    }
  }

  /** Called per scenario that is built; with the last one the start of the load becomes known. */
  synchronized void scenarioReady(Run run) {
    unbuiltPlans--;
    if (unbuiltPlans == 0 && start != null) {
      PrintableText.print(
          "LLM: %sready; the load starts at %s, in %s"
              .formatted(
                  injector.isPart() ? "injector " + injector.share() + " is " : "",
                  start,
                  duration(Injector.unixNanos(start) - run.unixNanos(System.nanoTime()))));
    }
  }

  private static String duration(long nanos) {
    return NumberText.duration(Math.round(nanos / 1e8) / 10.0);
  }

  IntFunction<@Nullable Long> starts(String population, LoadPlan plan, Run run) {
    Long before = roots.isEmpty() ? null : offsetOf(population);
    if (before == null) {
      return level -> null;
    }
    List<Long> offsets = plan.startOffsets(injector.part());
    return level -> {
      if (start == null || level >= offsets.size()) {
        return null;
      }
      long first = run.nanoTime(Injector.unixNanos(start)) + before;
      if (level == 0) {
        reportIfLate(run, System.nanoTime() - first);
      }
      return first + offsets.get(level);
    };
  }

  private static void reportIfLate(Run run, long nanos) {
    if (nanos > 0) {
      String late = duration(nanos);
      PrintableText.print(
          "LLM: the load starts " + late + " late; arrivals planned before are sent immediately");
      run.describe(info -> info.config(LATE, late));
    }
  }

  /** The planned start of a population after the common start; null where it is unknown. */
  private @Nullable Long offsetOf(String population) {
    Long[] found = {null};
    for (PopulationBuilder root : roots) {
      var unused = end(root, 0L, population, found);
    }
    if (found[0] == null && injector.isPart()) {
      throw InvalidSimulation.because(
          ("injector %s cannot know when scenario '%s' starts, as requests alone bound the one"
                  + " before it; set a duration too")
              .formatted(injector.share(), population));
    }
    return found[0];
  }

  /** The latest end of a population and all that follow it; null where it is unknown. */
  private @Nullable Long end(
      PopulationBuilder each, @Nullable Long begin, String population, @Nullable Long[] found) {
    if (each.scenarioBuilder().name().equals(population)) {
      found[0] = begin;
    }
    Long at = begin == null ? null : after(each, begin);
    for (var group : CollectionConverters.asJava(each.children())) {
      Long last = at;
      for (PopulationBuilder child : CollectionConverters.asJava(group)) {
        Long end = end(child, at, population, found);
        last = last == null || end == null ? null : (Long) Math.max(last, end);
      }
      at = last;
    }
    return at;
  }

  /** The latest end of a population; one without a load plan ends at the common start. */
  private @Nullable Long after(PopulationBuilder each, long begin) {
    LoadPlan plan = LoadInjection.planOf(each.injectionProfile());
    if (plan == null) {
      return begin;
    }
    InjectorShare part = injector.part();
    List<Long> offsets = plan.startOffsets(part);
    return plan instanceof LoadPlan.Sweep sweep && offsets.size() > sweep.levels().size()
        ? (Long) (begin + offsets.get(sweep.levels().size()))
        : null;
  }
}
