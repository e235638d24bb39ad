package io.github.gatlingllm.action;

import io.gatling.core.CoreComponents;
import io.gatling.core.session.Session;
import io.gatling.core.structure.PopulationBuilder;
import io.github.gatlingllm.client.Api;
import io.github.gatlingllm.client.GenerationRequest;
import io.github.gatlingllm.load.Injector;
import io.github.gatlingllm.load.LoadPlan;
import io.github.gatlingllm.load.PlanText;
import io.github.gatlingllm.load.Seed;
import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.run.Run;
import io.github.gatlingllm.settings.DryRun;
import io.github.gatlingllm.settings.Setting;
import io.github.gatlingllm.settings.SettingValue.WeightedModel;
import io.github.gatlingllm.workload.PromptPrefix;
import io.netty.channel.EventLoop;
import java.util.IntSummaryStatistics;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import scala.runtime.BoxedUnit;

/** The plan of a simulation, printed instead of a run by the setting {@code dryRun}. */
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

  synchronized void add(Target of, LlmRequest request, EventLoop eventLoop) {
    LlmProtocol protocol = of.protocol;
    protocols.add(protocol);
    String name = request.name.constant();
    String target = protocols.size() > 1 ? of.name + ": " : "";
    requests.put(
        target + (name == null ? "(a name per user)" : name),
        description(
            request,
            of,
            UserSessions.with(
                UserSessions.fresh("dry run", 0, over -> BoxedUnit.UNIT, eventLoop),
                protocol.get(ProtocolPart.WARM_UP_SESSION))));
  }

  synchronized void scenarioBuilt() {
    built++;
    if (built == InjectionPlans.populations(core).size()) {
      end();
    }
  }

  /** Prints the plan and ends the JVM, as Gatling runs no simulation without load. */
  synchronized void end() {
    PrintableText.print("LLM dry run");
    PrintableText.print(text().stripTrailing());
    run.ending().refuse();
    InvalidSimulation.endAfterDryRun();
  }

  private String text() {
    DryRun text = new DryRun();
    InjectionPlans injections = new InjectionPlans(core);
    for (PopulationBuilder population : InjectionPlans.populations(core)) {
      String scenario = population.scenarioBuilder().name();
      text.row("scenario", scenario);
      LoadPlan plan = LoadInjection.planOf(population.injectionProfile());
      if (plan == null) {
        text.row("load", injections.words(scenario));
      } else {
        text.load(new PlanText(plan), "");
      }
    }
    protocols.forEach(protocol -> target(text, protocol));
    requests.forEach((name, body) -> text.row("request", name + ": " + body));
    text.row("seed", Long.toString(seed()));
    Injector injector = InvalidSimulation.checked(Injector::ofProcess);
    if (injector.isPart()) {
      text.row("injector", injector + "; its part is shown");
    }
    return text.toString();
  }

  private long seed() {
    for (LlmProtocol protocol : protocols) {
      if (protocol.seed() != null) {
        return protocol.seed();
      }
    }
    return Seed.ofProcess().value();
  }

  private static void target(DryRun plan, LlmProtocol protocol) {
    plan.target(protocol.label(), protocol.baseUrls());
    plan.row("API key", protocol.apiKey() == null ? "none" : "set");
    plan.beforeLoad(
        protocol::get, WeightedModel.tries(protocol.models(), protocol.baseUrls().size()));
    if (protocol.prefix() != PromptPrefix.NONE) {
      plan.row("prefix", protocol.prefix().toString());
    }
    plan.lines(protocol::get, "gaps", "sessions begin", "history");
    plan.row("tokenizer", protocol.tokenizer().name());
    plan.slos(protocol.get(Setting.SLO), protocol.slo().toString());
    protocol.sloByName().forEach((name, slo) -> plan.slo(name + ": ", slo.toString(), slo));
    plan.lines(protocol::get, "limits", "connections");
  }

  /** The distribution that lengths of outputs are drawn from, as a setting has it. */
  private static String drawn(LlmRequest request) {
    String text = request.maxTokens == null ? null : request.maxTokens.text();
    return text == null ? "" : " (" + text + ")";
  }

  private static String models(LlmRequest request, LlmProtocol protocol, String drawn) {
    boolean isDrawn = request.model == null && !protocol.models().isEmpty();
    return isDrawn ? WeightedModel.shares(protocol.models()) : drawn;
  }

  /** A request and the lengths of its prompts, as far as they are known without a user. */
  private static String description(LlmRequest request, Target target, Session session) {
    LlmProtocol protocol = target.protocol;
    try {
      IntSummaryStatistics tokens = new IntSummaryStatistics();
      IntSummaryStatistics limits = new IntSummaryStatistics();
      GenerationRequest body = null;
      for (int i = 0; i < SAMPLES; i++) {
        body = target.prepared(request, session).body();
        tokens.accept(protocol.tokenizer().count(String.join("", body.promptTexts())));
        if (body.maxTokens() != null) {
          limits.accept(body.maxTokens());
        }
      }
      GenerationRequest last = Objects.requireNonNull(body);
      return "%s%s%s; prompts of %s; %s"
          .formatted(
              last.api().key(),
              last.model() == null ? "" : " of " + models(request, protocol, last.model()),
              last.stream() ? ", streamed" : ", not streamed",
              PlanText.sizes(tokens, "token"),
              limits.getCount() == 0
                  ? "answers as long as the model likes"
                  : "answers of "
                      + (last.ignoreEos() && !last.api().is(Api.Trait.IGNORES_PINNING)
                          ? "exactly "
                          : "at most ")
                      + PlanText.spread(limits, "token")
                      + (limits.getMin() == limits.getMax() ? "" : drawn(request)));
    } catch (IllegalArgumentException e) {
      return request.api.key()
          + "; made for each user ("
          + e.getMessage()
          + ")"
          + (drawn(request).isEmpty() ? "" : "; answers" + drawn(request));
    }
  }
}
