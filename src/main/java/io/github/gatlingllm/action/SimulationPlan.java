package io.github.gatlingllm.action;

import io.gatling.core.CoreComponents;
import io.gatling.core.session.Session;
import io.gatling.core.structure.PopulationBuilder;
import io.github.gatlingllm.client.GenerationRequest;
import io.github.gatlingllm.client.Secrets;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.load.Injector;
import io.github.gatlingllm.load.LoadLevel.Injection;
import io.github.gatlingllm.load.LoadPlan;
import io.github.gatlingllm.load.PlanText;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.run.Run;
import io.github.gatlingllm.workload.PromptPrefix;
import io.github.gatlingllm.workload.RunSeed;
import io.netty.channel.EventLoop;
import java.util.ArrayList;
import java.util.IntSummaryStatistics;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import scala.runtime.BoxedUnit;

/**
 * The plan of a simulation, printed instead of a run by the setting {@code dryRun}: when the last
 * scenario is built, or when a user starts, if some scenarios send no LLM requests.
 */
final class SimulationPlan {

  private static final int SAMPLES = 200;

  private final CoreComponents core;
  private final Run run;
  private final Set<LlmProtocol> protocols = new LinkedHashSet<>();
  private final Map<String, String> requests = new LinkedHashMap<>();
  private int built;

  SimulationPlan(CoreComponents core, Run run) {
    this.core = core;
    this.run = run;
  }

  synchronized void add(LlmComponents components, LlmRequest request, EventLoop eventLoop) {
    LlmProtocol protocol = components.protocol;
    protocols.add(protocol);
    String name = request.name.constant();
    String target = protocols.size() > 1 ? components.target + ": " : "";
    requests.put(
        target + (name == null ? "(a name per user)" : name),
        description(
            request,
            components,
            UserSessions.with(
                UserSessions.fresh("dry run", 0, over -> BoxedUnit.UNIT, eventLoop),
                protocol.warmUpSession)));
  }

  /** Counts a scenario with LLM requests as built. */
  synchronized void scenarioBuilt() {
    built++;
    if (built == InjectionPlans.populations(core).size()) {
      end();
    }
  }

  /** Prints the plan and ends the JVM, as Gatling runs no simulation without load. */
  @SuppressWarnings("SystemExitOutsideMain") // main is Gatling's
  synchronized void end() {
    System.out.println("LLM dry run");
    lines().forEach(System.out::println);
    System.out.println("Dry run: nothing was sent");
    System.out.flush();
    run.ending().refuse();
    System.exit(0);
  }

  private List<String> lines() {
    List<String> lines = new ArrayList<>();
    InjectionPlans injections = InjectionPlans.of(core);
    for (PopulationBuilder population : InjectionPlans.populations(core)) {
      String scenario = population.scenarioBuilder().name();
      row(lines, "scenario", scenario);
      LoadPlan plan = LoadInjection.planOf(population.injectionProfile());
      if (plan == null) {
        row(lines, "load", injected(injections, scenario));
        continue;
      }
      PlanText words = new PlanText(plan);
      words.levels((name, value) -> row(lines, name, value));
      words.stops((name, value) -> row(lines, name, value));
      words.phases((name, value) -> row(lines, name, value));
    }
    protocols.forEach(protocol -> target(lines, protocol));
    requests.forEach((name, text) -> row(lines, "request", name + ": " + text));
    row(lines, "seed", Long.toString(seed()));
    Injector injector = InvalidSimulation.checked(Injector::ofProcess);
    if (injector.isPart()) {
      row(lines, "injector", injector + "; its part is shown");
    }
    return lines;
  }

  private long seed() {
    for (LlmProtocol protocol : protocols) {
      if (protocol.seed != null) {
        return protocol.seed;
      }
    }
    return RunSeed.ofProcess().value();
  }

  private static void target(List<String> lines, LlmProtocol protocol) {
    List<String> urls = protocol.baseUrls.stream().map(Secrets::redactUrl).toList();
    row(lines, "target", protocol.label() + ": " + String.join(", ", urls));
    row(lines, "API key", protocol.apiKey == null ? "none" : "set");
    int warmUp = protocol.warmUpRequests;
    row(lines, "warm-up", warmUp == 0 ? "none" : NumberText.counted(warmUp, "request"));
    if (!(protocol.prefix instanceof PromptPrefix.None)) {
      row(lines, "prefix", protocol.prefix.toString());
    }
    row(lines, "tokenizer", protocol.tokenizer.name());
    row(lines, "SLO", slo(protocol.slo));
    protocol.sloByName.forEach((name, slo) -> row(lines, "", name + ": " + slo(slo)));
    row(
        lines,
        "limits",
        PlanText.time(protocol.requestTimeout)
            + " per request, "
            + PlanText.time(protocol.idleTimeout)
            + " between events"
            + limit(protocol.maxInFlight, "in flight")
            + limit(protocol.maxRequestsPerMinute, "requests a minute")
            + limit(protocol.maxTokensPerMinute, "tokens a minute"));
  }

  private static String limit(@Nullable Integer limit, String unit) {
    return limit == null ? "" : ", " + limit + " " + unit;
  }

  private static String slo(Slo slo) {
    return slo.isEmpty() ? "none" : slo + PlanText.held(slo);
  }

  private static String injected(InjectionPlans injections, String scenario) {
    Injection injection = injections.injection(scenario);
    if (injection == null) {
      return "injected by Gatling";
    }
    long arrivals = 0;
    for (Iterator<?> all = injections.planned(scenario); all.hasNext(); all.next()) {
      arrivals++;
    }
    String steps = injections.description(scenario);
    return "injected by Gatling for "
        + PlanText.of(injection)
        + (arrivals == 0 ? "" : ", " + NumberText.counted(arrivals, "user"))
        + (steps.isEmpty() ? "" : ": " + steps);
  }

  /** A request and the lengths of its prompts, as far as they are known without a user. */
  private static String description(LlmRequest request, LlmComponents components, Session session) {
    LlmProtocol protocol = components.protocol;
    try {
      IntSummaryStatistics tokens = new IntSummaryStatistics();
      GenerationRequest body = null;
      for (int i = 0; i < SAMPLES; i++) {
        body =
            PreparedRequest.of(
                    request, protocol, components.pinsOutput(), components.prefixes, session)
                .body();
        tokens.accept(protocol.tokenizer.count(String.join("", body.promptTexts())));
      }
      GenerationRequest last = Objects.requireNonNull(body);
      return "%s%s%s; prompts of %s; %s"
          .formatted(
              last.api().key(),
              last.model() == null ? "" : " of " + last.model(),
              last.stream() ? ", streamed" : ", not streamed",
              tokens.getMin() == tokens.getMax()
                  ? NumberText.counted(tokens.getMin(), "token")
                  : tokens.getMin() + " to " + tokens.getMax() + " tokens",
              last.maxTokens() == null
                  ? "answers as long as the model likes"
                  : "answers of "
                      + (last.ignoreEos() ? "exactly " : "at most ")
                      + NumberText.counted(last.maxTokens(), "token"));
    } catch (Dynamic.Unresolved | IllegalArgumentException e) {
      return request.api.key() + "; made for each user (" + e.getMessage() + ")";
    }
  }

  private static void row(List<String> lines, String name, String value) {
    lines.add(String.format(Locale.ROOT, "%-15s%s", name, value));
  }
}
