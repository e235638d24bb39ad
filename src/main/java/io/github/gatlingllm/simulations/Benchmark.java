package io.github.gatlingllm.simulations;

import static io.github.gatlingllm.javaapi.LlmDsl.llm;
import static io.github.gatlingllm.javaapi.LlmDsl.oneAfterTheOther;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gatling.javaapi.core.PopulationBuilder;
import io.gatling.javaapi.core.ScenarioBuilder;
import io.gatling.javaapi.core.Simulation;
import io.gatling.javaapi.http.HttpDsl;
import io.gatling.javaapi.http.HttpProtocolBuilder;
import io.github.gatlingllm.action.InvalidSimulation;
import io.github.gatlingllm.client.Api;
import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.engine.EngineProcess;
import io.github.gatlingllm.engine.SelfTestResults;
import io.github.gatlingllm.javaapi.LlmAssertion;
import io.github.gatlingllm.javaapi.LlmProtocolBuilder;
import io.github.gatlingllm.javaapi.LoadProfile;
import io.github.gatlingllm.javaapi.LoadProfile.TargetLoad;
import io.github.gatlingllm.load.Injector;
import io.github.gatlingllm.record.SelfTest;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.run.live.LiveView;
import io.github.gatlingllm.storage.S3Location;
import io.github.gatlingllm.workload.PromptPrefix;
import io.github.gatlingllm.workload.RunSeed;
import io.github.gatlingllm.workload.Tokenizer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.UnaryOperator;
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

  /** A change of the protocol that is made if a setting has a value other than its usual one. */
  private record Switch(
      SettingEntry<Boolean> setting, boolean value, UnaryOperator<LlmProtocolBuilder> change) {}

  private static final List<Switch> SWITCHES =
      List.of(
          new Switch(Setting.VERIFY_TLS, true, LlmProtocolBuilder::verifyTls),
          new Switch(Setting.VERIFY_TLS, false, LlmProtocolBuilder::disableVerifyTls),
          new Switch(Setting.JVM_WARM_UP, false, LlmProtocolBuilder::disableJvmWarmUp),
          new Switch(Setting.RECORD_TEXT, true, LlmProtocolBuilder::recordText),
          new Switch(Setting.RECORD_TOKENS, false, LlmProtocolBuilder::disableRecordTokens),
          new Switch(Setting.CSV, true, LlmProtocolBuilder::csv),
          new Switch(Setting.INDEX_BLOCK, false, LlmProtocolBuilder::disableIndexBlock),
          new Switch(Setting.FAIL_BUILD, false, LlmProtocolBuilder::disableFailBuild),
          new Switch(Setting.FAIL_ON_INVALID, false, LlmProtocolBuilder::disableFailOnInvalid));

  /** Reads the settings of this process and sets up the load. */
  public Benchmark() {
    Settings settings = Settings.ofProcess();
    if (settings.get(Setting.HELP)) {
      endAfter(SettingsHelp.text());
    }
    forRun(Injector.SHARE_PROPERTY, settings.get(Setting.INJECTOR));
    forRun(Injector.START_PROPERTY, settings.get(Setting.START_AT));
    BenchmarkPlan plan =
        BenchmarkPlan.of(settings, () -> InvalidSimulation.checked(RunSeed::ofProcess).value());
    settings.warnings().forEach(System.out::println);
    Injector injector = InvalidSimulation.checked(Injector::ofProcess);
    var unused = InvalidSimulation.checked(() -> plan.load().plan().part(injector.part()));
    System.out.print(DryRun.text(plan));
    if (injector.isPart()) {
      System.out.println(
          "injector       " + injector + "; automatic phases take their longest time");
    }
    if (settings.get(Setting.DRY_RUN)) {
      endAfter("Dry run: nothing was sent\n");
    }
    forRun(SelfTestResults.FILE_PROPERTY, plan.get(Setting.SELF_TEST_FILE));
    forRun(LiveView.Options.PAGE_PROPERTY, plan.get(Setting.LIVE));
    forRun(LiveView.Options.OTLP_PROPERTY, plan.get(Setting.OTLP));
    forRun(S3Location.UPLOAD_PROPERTY, plan.get(Setting.UPLOAD));
    LoadProfile load = plan.load()::plan;
    if (plan.targets().size() > 1) {
      List<PopulationBuilder> all = populations(plan, load);
      setUp(plan.get(Setting.INTERLEAVE) ? all : List.of(oneAfterTheOther(all)))
          .protocols(http(plan));
    } else {
      setUp(oneAfterTheOther(scenarios(plan, plan.api()).stream().map(load::inject).toList()))
          .protocols(
              http(plan),
              protocol(
                  plan,
                  plan.embedded() ? "" : plan.labels().get(0),
                  plan.tokenizers().get(0),
                  onlyTarget(plan)));
    }
  }

  /** Passes a setting on to the run, which reads system properties but not {@code .env}. */
  private static void forRun(String property, @Nullable Object value) {
    if (value != null) {
      System.setProperty(property, value.toString());
    }
  }

  /** Prints a text and ends the process, because Gatling refuses a simulation without load. */
  @SuppressWarnings("SystemExitOutsideMain") // main is Gatling's
  private static void endAfter(String text) {
    System.out.print(text);
    System.out.flush();
    System.exit(0);
  }

  /**
   * One population per target and scenario; each target gets the same requests in the same order.
   */
  private static List<PopulationBuilder> populations(BenchmarkPlan plan, LoadProfile load) {
    List<PopulationBuilder> populations = new ArrayList<>();
    for (int i = 0; i < plan.targets().size(); i++) {
      Target target = plan.targets().get(i);
      TargetLoad each =
          load.target(
              plan.labels().get(i),
              protocol(plan, plan.labels().get(i), plan.tokenizers().get(i), target(plan, target)));
      scenarios(plan, target.endpoint().api()).stream().map(each::inject).forEach(populations::add);
    }
    return populations;
  }

  private static List<ScenarioBuilder> scenarios(BenchmarkPlan plan, Api api) {
    return new WorkloadScenarios(plan, api).list();
  }

  static LlmProtocolBuilder protocol(
      BenchmarkPlan plan, String label, Tokenizer tokenizer, LlmProtocolBuilder target) {
    LlmProtocolBuilder protocol = target;
    protocol =
        protocol
            .headers(plan.settings().headers())
            .requestTimeout(plan.get(Setting.TIMEOUT))
            .idleTimeout(plan.get(Setting.IDLE_TIMEOUT))
            .slo(plan.slo().of(label))
            .assertions(
                plan.assertions().stream()
                    .filter(gate -> gate.target() == null || gate.target().equals(label))
                    .map(LlmAssertion::of)
                    .toList())
            .warmUp(plan.get(Setting.WARMUP), WorkloadScenarios.firstSession(plan))
            .seed(plan.seed())
            .tokenizer(tokenizer);
    for (Map.Entry<String, Slo> own : plan.slo().named().entrySet()) {
      if (!plan.labels().contains(own.getKey())) {
        protocol = protocol.slo(own.getKey(), own.getValue());
      }
    }
    ObjectNode body = plan.get(Setting.BODY);
    protocol = with(protocol, body.isEmpty() ? null : body.toString(), LlmProtocolBuilder::body);
    if (plan.prefix() instanceof PromptPrefix.Unique) {
      protocol = protocol.uniquePrompts();
    } else if (plan.prefix() instanceof PromptPrefix.Shared shared) {
      protocol = protocol.sharedPrefix(shared.groups(), shared.tokens());
    }
    if (!plan.get(Setting.IGNORE_EOS)) {
      protocol = protocol.disableIgnoreEos();
    } else if (plan.settings().isSet(Setting.IGNORE_EOS)) {
      protocol = protocol.ignoreEos();
    }
    protocol = with(protocol, plan.get(Setting.MAX_IN_FLIGHT), LlmProtocolBuilder::maxInFlight);
    Integer requests = plan.get(Setting.MAX_REQUESTS_PER_MINUTE);
    protocol = with(protocol, requests, LlmProtocolBuilder::maxRequestsPerMinute);
    Integer tokens = plan.get(Setting.MAX_TOKENS_PER_MINUTE);
    protocol = with(protocol, tokens, LlmProtocolBuilder::maxTokensPerMinute);
    protocol = with(protocol, plan.get(Setting.GPUS), LlmProtocolBuilder::gpus);
    protocol = with(protocol, plan.get(Setting.COST_PER_HOUR), LlmProtocolBuilder::costPerHour);
    if (plan.perUserConnections()) {
      protocol = protocol.disableShareConnections();
    }
    protocol = protocol.metricsUrls(plan.metricsUrls(label));
    for (Switch each : SWITCHES) {
      protocol = plan.get(each.setting) == each.value ? each.change.apply(protocol) : protocol;
    }
    protocol = protocol.readingSpeed(plan.get(Setting.READING_SPEED));
    for (Map.Entry<String, String> setting : plan.config().entrySet()) {
      protocol = protocol.note(setting.getKey(), setting.getValue());
    }
    return protocol;
  }

  private static <T> LlmProtocolBuilder with(
      LlmProtocolBuilder protocol,
      @Nullable T value,
      BiFunction<LlmProtocolBuilder, T, LlmProtocolBuilder> change) {
    return value == null ? protocol : change.apply(protocol, value);
  }

  /** The HTTP protocol, whose connection settings our requests use. */
  private static HttpProtocolBuilder http(BenchmarkPlan plan) {
    return plan.get(Setting.HTTP2) ? HttpDsl.http.enableHttp2() : HttpDsl.http;
  }

  private static LlmProtocolBuilder onlyTarget(BenchmarkPlan plan) {
    if (plan.get(Setting.SELF_TEST)) {
      return selfTest();
    }
    if (!plan.embedded()) {
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
      EngineProcess engine = EngineProcess.start();
      String port = Integer.toString(engine.controlPort());
      return embedded(engine.baseUrl()).note(SelfTest.ENGINE, port);
    } catch (IOException e) {
      throw InvalidSimulation.because(e.getMessage());
    }
  }

  private static LlmProtocolBuilder target(BenchmarkPlan plan, Target target) {
    LlmProtocolBuilder protocol = llm.baseUrl(target.endpoint().url()).apiKey(target.apiKey());
    protocol = target.name() == null ? protocol : protocol.target(target.name());
    boolean isAsked = target.model() == null && plan.get(Setting.WARMUP) > 0;
    String model =
        isAsked
            ? ServedModels.only(target, plan.settings().headers(), plan.get(Setting.VERIFY_TLS))
            : target.model();
    return model == null ? protocol : protocol.model(model);
  }
}
