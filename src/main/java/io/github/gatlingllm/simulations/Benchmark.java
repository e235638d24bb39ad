package io.github.gatlingllm.simulations;

import static io.github.gatlingllm.javaapi.LlmDsl.llm;
import static io.github.gatlingllm.javaapi.LlmDsl.oneAfterTheOther;

import io.gatling.app.Gatling;
import io.gatling.javaapi.core.PopulationBuilder;
import io.gatling.javaapi.core.ScenarioBuilder;
import io.gatling.javaapi.core.Simulation;
import io.gatling.javaapi.http.HttpDsl;
import io.gatling.javaapi.http.HttpProtocolBuilder;
import io.github.gatlingllm.action.Dynamic.Draft;
import io.github.gatlingllm.action.InvalidSimulation;
import io.github.gatlingllm.action.LlmProtocol;
import io.github.gatlingllm.action.LoadInjection;
import io.github.gatlingllm.action.ProtocolPart;
import io.github.gatlingllm.client.Api;
import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.engine.SelfTestResults;
import io.github.gatlingllm.javaapi.LlmProtocolBuilder;
import io.github.gatlingllm.javaapi.LoadProfile;
import io.github.gatlingllm.load.Injector;
import io.github.gatlingllm.load.Seed;
import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.record.SelfTest;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.record.StartCommand;
import io.github.gatlingllm.settings.Setting;
import io.github.gatlingllm.settings.SettingValue.Slos;
import io.github.gatlingllm.settings.SettingValue.WeightedModel;
import io.github.gatlingllm.settings.Settings;
import io.github.gatlingllm.settings.TargetSpec;
import io.github.gatlingllm.simulations.ModelTokenizers.Servers;
import io.github.gatlingllm.workload.PromptPrefix;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The ready-made load test, which is configured by settings only.
 *
 * <pre>
 * mvn gatling:test -Dgatling.simulationClass=io.github.gatlingllm.simulations.Benchmark \
 *     -Dllm.endpoint=http://localhost:8000/v1 -Dllm.model=llama-8b -Dllm.concurrency=1,2,4,8,16
 * </pre>
 *
 * <p>Without {@code llm.endpoint} it loads the embedded engine. {@code docs/settings.md} and {@code
 * -Dllm.help=true} list all settings.
 */
public final class Benchmark extends Simulation {

  private static final Set<TargetSpec> UP = new HashSet<>();
  private static final Map<TargetSpec, ServedModels> SERVED = new HashMap<>();

  /** Made by {@link #main} for the simulation that Gatling then creates. */
  private static @Nullable BenchmarkPlan planned;

  /** Reads the settings of this process and sets up the load. */
  public Benchmark() {
    InvalidSimulation.coverCrashes();
    BenchmarkPlan plan = planned == null ? InvalidSimulation.checked(Benchmark::plan) : planned;
    LoadProfile load = plan::load;
    if (!plan.classes().isEmpty()) {
      setUp(classes(plan)).protocols(http(plan));
    } else if (plan.targets().size() > 1) {
      List<PopulationBuilder> all = populations(plan, load);
      setUp(plan.get(Setting.INTERLEAVE) ? all : List.of(oneAfterTheOther(all)))
          .protocols(http(plan));
    } else {
      setUp(oneAfterTheOther(scenarios(plan, plan.api()).stream().map(load::inject).toList()))
          .protocols(
              http(plan),
              protocol(
                  plan,
                  plan.isEmbedded() ? "" : plan.labels().get(0),
                  plan.counters().get(0),
                  onlyTarget(plan)));
    }
  }

  /**
   * The main class of the jar's runs: a mistake or a dry run ends the process before Gatling
   * starts, which takes longer than all else that they need.
   *
   * @param gatling its arguments
   */
  public static void main(String[] gatling) {
    try {
      planned = InvalidSimulation.checked(Benchmark::plan);
    } catch (RuntimeException | Error e) {
      InvalidSimulation.end(e);
    }
    Gatling.main(gatling);
  }

  /** Prints the plan of this process; a dry run ends here. */
  private static BenchmarkPlan plan() {
    Settings settings = Settings.read();
    if (settings.get(Setting.HELP)) {
      InvalidSimulation.endAfter(Setting.help());
    }
    if (StartCommand.isProbe()) {
      BenchmarkPlan.probe(settings);
    }
    settings.passOn();
    BenchmarkPlan plan =
        BenchmarkPlan.of(
            settings, () -> InvalidSimulation.checked(Seed::ofProcess).value(), servers(settings));
    settings.warnings().forEach(line -> PrintableText.print(StartCommand.typed(line)));
    Injector injector = InvalidSimulation.checked(Injector::ofProcess);
    var unused = InvalidSimulation.checked(() -> plan.load().part(injector.part()));
    PrintableText.print(StartCommand.typed(BenchmarkText.of(plan).stripTrailing()));
    plan.close();
    if (injector.isPart()) {
      PrintableText.print(
          "injector       " + injector + "; automatic phases take their longest time");
    }
    settings.save();
    if (settings.get(Setting.DRY_RUN)) {
      InvalidSimulation.endAfterDryRun();
    }
    return plan;
  }

  private static Servers servers(Settings settings) {
    return !settings.get(Setting.DRY_RUN) && settings.get(Setting.WARMUP) > 0
        ? new QueriedServers(settings)
        : Servers.SILENT;
  }

  /** Asked once they are up. */
  private record QueriedServers(Settings settings) implements Servers {

    @Override
    public @Nullable ModelTokenizers counting(TargetSpec target) {
      awaited(settings, target);
      return ModelTokenizers.ofServer(
          target, model(target), settings.headers(), settings.get(Setting.VERIFY_TLS));
    }

    @Override
    public @Nullable String model(TargetSpec target) {
      return isUnnamed(settings, target) ? served(settings, target).only() : target.model();
    }

    @Override
    public @Nullable Integer context(TargetSpec target) {
      return served(settings, target).context(target.model());
    }
  }

  private static boolean isUnnamed(Settings settings, TargetSpec target) {
    return target.model() == null && settings.get(Setting.MODEL).mix().isEmpty();
  }

  /** Waits for a server before its first query. */
  private static void awaited(Settings settings, TargetSpec target) {
    if (UP.add(target)) {
      LlmProtocolBuilder awaited = llm.baseUrls(target.urls()).apiKey(target.apiKey());
      with(settings, awaited.protocol()).awaitReady();
    }
  }

  /** The models of a server, which is queried and printed once. */
  private static ServedModels served(Settings settings, TargetSpec target) {
    ServedModels known = SERVED.get(target);
    if (known == null) {
      awaited(settings, target);
      known = ServedModels.of(target, settings.headers(), settings.get(Setting.VERIFY_TLS));
      SERVED.put(target, known);
      if (isUnnamed(settings, target)) {
        known.print();
      }
    }
    return known;
  }

  /**
   * For internal use only: the text of a setting in the files and the environment of a process with
   * these options; null where none, or where a mistake ends that process.
   */
  public static @Nullable String setting(String name, Map<String, String> options) {
    try {
      return Settings.ofProcess(options).text(Objects.requireNonNull(Setting.named(name)));
    } catch (IllegalArgumentException e) {
      return null;
    }
  }

  /** For internal use only: whether a process with these options sends headers that a user set. */
  public static boolean hasHeaders(Map<String, String> options) {
    try {
      return !Settings.ofProcess(options).headers().isEmpty();
    } catch (IllegalArgumentException e) {
      return true;
    }
  }

  /**
   * For internal use only: a server that answers at a port of this machine.
   *
   * @param usual the engine that has this port by default
   * @param models empty where it does not list any
   * @param refusal why it does not list its models; null where it does
   */
  public record LocalServer(
      String endpoint, String usual, List<String> models, @Nullable String refusal) {}

  /** For internal use only: the servers at ports of this machine, which get no key. */
  public static List<LocalServer> localServers(Map<Integer, String> ports) {
    return ServedModels.at(ports);
  }

  /** For internal use only: all settings, as options of the command line. */
  public static String help() {
    return Setting.help(true);
  }

  /** One population per class of traffic, all with the same target. */
  private static List<PopulationBuilder> classes(BenchmarkPlan plan) {
    LlmProtocolBuilder engine = plan.isEmbedded() ? onlyTarget(plan) : null;
    List<PopulationBuilder> populations = new ArrayList<>();
    for (BenchmarkPlan each : plan.classes()) {
      LlmProtocolBuilder target = engine == null ? target(each, each.targets().get(0)) : engine;
      String label = engine == null ? each.labels().get(0) : "";
      LoadProfile load = each::load;
      populations.add(
          load.inject(scenarios(each, each.api()).get(0))
              .protocols(
                  LlmProtocolBuilder.of(
                      with(each, label, each.counters().get(0), target.protocol())
                          .with(Setting.SLO, slos(plan.classes(), label)))));
    }
    return LoadInjection.inTurns(populations, plan.hasInterference(), plan.seed());
  }

  /** The objectives of each class, by the name of its requests. */
  private static Slos slos(List<BenchmarkPlan> classes, String label) {
    Map<String, Slo> named = new LinkedHashMap<>();
    for (BenchmarkPlan each : classes) {
      Slo own = each.slo().named().getOrDefault(each.named(""), each.slo().of(label));
      if (!own.isEmpty()) {
        named.put(each.named(""), own);
      }
    }
    return new Slos(Slo.NONE, named);
  }

  /** One population per target and scenario, with the same requests for each target. */
  private static List<PopulationBuilder> populations(BenchmarkPlan plan, LoadProfile load) {
    List<PopulationBuilder> populations = new ArrayList<>();
    for (int i = 0; i < plan.targets().size(); i++) {
      TargetSpec target = plan.targets().get(i);
      LoadProfile each =
          load.target(
              plan.labels().get(i),
              protocol(plan, plan.labels().get(i), plan.counters().get(i), target(plan, target)));
      scenarios(plan, target.api()).stream().map(each::inject).forEach(populations::add);
    }
    return populations;
  }

  private static List<ScenarioBuilder> scenarios(BenchmarkPlan plan, Api api) {
    return new WorkloadScenarios(plan, api).list();
  }

  static LlmProtocolBuilder protocol(
      BenchmarkPlan plan, String label, ModelTokenizers counter, LlmProtocolBuilder target) {
    return LlmProtocolBuilder.of(with(plan, label, counter, target.protocol()));
  }

  /** With all settings, set or by default, but for what a server decides where nothing is set. */
  private static LlmProtocol with(Settings settings, LlmProtocol target) {
    LlmProtocol set = target.with(Setting.VERIFY_TLS, settings.get(Setting.VERIFY_TLS));
    for (Setting<?> row : Setting.all()) {
      if (row.scope == Setting.SettingScope.PROTOCOL
          && (settings.isSet(row) || !row.isOpenInCode())) {
        set = set.with(settings, row);
      }
    }
    return set.with(ProtocolPart.HEADERS, Draft.andHeaders(set.headers(), settings.headers()));
  }

  private static LlmProtocol with(
      BenchmarkPlan plan, String label, ModelTokenizers counter, LlmProtocol target) {
    Map<String, Slo> named = new LinkedHashMap<>(plan.slo().named());
    named.keySet().removeAll(plan.labels());
    Map<String, String> notes = new LinkedHashMap<>(target.notes());
    notes.putAll(plan.config());
    LlmProtocol set =
        with(plan.settings(), target)
            .with(Setting.SEED, plan.seed())
            .with(Setting.TOKENIZER, List.of(counter.tokenizer()))
            .with(ProtocolPart.TEMPLATE_TOKENS, counter.template())
            .with(ProtocolPart.WARM_UP_SESSION, Map.copyOf(WorkloadScenarios.firstSession(plan)))
            .with(Setting.METRICS_URL, plan.settings().metricsPages(label))
            .with(Setting.SLO, new Slos(plan.slo().of(label), named, plan.slo().tiers()))
            .with(
                Setting.ASSERT,
                plan.assertions().stream()
                    .filter(gate -> gate.target() == null || gate.target().equals(label))
                    .toList())
            .with(
                ProtocolPart.LIMIT_NAMED,
                plan.settings().isSet(Setting.MAX_TOKENS) && !StartCommand.isProbe())
            .with(ProtocolPart.NOTES, notes)
            .with(ProtocolPart.PLANNED, true);
    return plan.prefix() instanceof PromptPrefix.Shared shared
        ? set.with(Setting.SHARED_PREFIX, shared)
        : set.with(Setting.UNIQUE_PROMPTS, plan.prefix() instanceof PromptPrefix.Unique);
  }

  /** The HTTP protocol, whose connection settings our requests use. */
  private static HttpProtocolBuilder http(BenchmarkPlan plan) {
    return plan.get(Setting.HTTP2) ? HttpDsl.http.enableHttp2() : HttpDsl.http;
  }

  private static LlmProtocolBuilder onlyTarget(BenchmarkPlan plan) {
    if (plan.get(Setting.SELF_TEST)) {
      return selfTest();
    }
    if (!plan.isEmbedded()) {
      return target(plan, plan.targets().get(0));
    }
    EmbeddedEngine engine = EmbeddedEngine.builder().seed(plan.seed()).start();
    return embedded(engine.baseUrl()).closeAfterRun(engine);
  }

  private static LlmProtocolBuilder embedded(String baseUrl) {
    return llm.baseUrl(baseUrl).target("embedded engine").model("embedded");
  }

  private static LlmProtocolBuilder selfTest() {
    try {
      String baseUrl = SelfTestResults.startEngine();
      return embedded(baseUrl).note(SelfTest.ENGINE, baseUrl);
    } catch (IOException e) {
      throw InvalidSimulation.because(e.getMessage());
    }
  }

  private static LlmProtocolBuilder target(BenchmarkPlan plan, TargetSpec target) {
    LlmProtocolBuilder protocol = llm.baseUrls(target.urls()).apiKey(target.apiKey());
    protocol = target.name() == null ? protocol : protocol.target(target.name());
    for (WeightedModel one : plan.get(Setting.MODEL).mix()) {
      protocol = protocol.model(one.name(), one.weight());
    }
    String model = servers(plan.settings()).model(target);
    return model == null ? protocol : protocol.model(model);
  }
}
