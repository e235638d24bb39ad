package io.github.gatlingllm.simulations;

import static io.github.gatlingllm.javaapi.LlmDsl.llm;
import static io.github.gatlingllm.javaapi.LlmDsl.oneAfterTheOther;

import io.gatling.javaapi.core.PopulationBuilder;
import io.gatling.javaapi.core.ScenarioBuilder;
import io.gatling.javaapi.core.Simulation;
import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.javaapi.LlmAssertion;
import io.github.gatlingllm.javaapi.LlmProtocolBuilder;
import io.github.gatlingllm.javaapi.LoadProfile;
import io.github.gatlingllm.javaapi.TargetLoad;
import io.github.gatlingllm.wire.Api;
import io.github.gatlingllm.workload.PromptPrefix;
import io.github.gatlingllm.workload.Tokenizer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The ready-made load test: no code to write, everything by settings.
 *
 * <pre>
 * mvn gatling:test -Dgatling.simulationClass=io.github.gatlingllm.simulations.Benchmark \
 *     -Dllm.endpoint=http://localhost:8000/v1 -Dllm.model=llama-8b -Dllm.concurrency=1,2,4,8,16
 * </pre>
 *
 * <p>Without {@code llm.endpoint} it starts the embedded engine. All settings: {@code
 * docs/contract.md}.
 */
public final class Benchmark extends Simulation {

  private final @Nullable EmbeddedEngine engine;

  /** Reads the settings of this process; what is wrong with them ends it with one line. */
  public Benchmark() {
    BenchmarkSettings settings = settingsOrExit();
    settings.warnings().forEach(System.out::println);
    System.out.print(DryRun.text(settings));
    if (settings.dryRun()) {
      System.out.println("Dry run: nothing was sent");
      System.exit(0);
    }
    engine = settings.embedded() ? EmbeddedEngine.builder().seed(settings.seed()).start() : null;
    LoadProfile load = settings.load()::plan;
    if (settings.targets().size() > 1) {
      List<PopulationBuilder> all = populations(settings, load);
      setUp(settings.interleave() ? all : List.of(oneAfterTheOther(all)));
    } else {
      setUp(
              oneAfterTheOther(
                  scenarios(settings, settings.api()).stream().map(load::inject).toList()))
          .protocols(
              protocol(
                  settings,
                  settings.tokenizers().get(0),
                  engine == null ? target(settings.targets().get(0)) : embedded(engine)));
    }
  }

  @Override
  public void after() {
    if (engine != null) {
      engine.close();
    }
  }

  @SuppressWarnings("SystemExitOutsideMain") // an exception would print Gatling's stack trace
  private static BenchmarkSettings settingsOrExit() {
    try {
      return BenchmarkSettings.ofProcess();
    } catch (InvalidSetting e) {
      System.out.println(e.getMessage());
      System.exit(1);
      throw e;
    }
  }

  /** A population per target and scenario; each target is asked the same in the same order. */
  private static List<PopulationBuilder> populations(BenchmarkSettings settings, LoadProfile load) {
    List<PopulationBuilder> populations = new ArrayList<>();
    for (int i = 0; i < settings.targets().size(); i++) {
      Target target = settings.targets().get(i);
      TargetLoad each =
          load.target(
              settings.labels().get(i),
              protocol(settings, settings.tokenizers().get(i), target(target)));
      scenarios(settings, target.endpoint().api()).stream()
          .map(each::inject)
          .forEach(populations::add);
    }
    return populations;
  }

  private static List<ScenarioBuilder> scenarios(BenchmarkSettings settings, Api api) {
    return new WorkloadScenarios(settings.ask(), settings.seed(), api).list();
  }

  private static LlmProtocolBuilder protocol(
      BenchmarkSettings settings, Tokenizer tokenizer, LlmProtocolBuilder target) {
    LlmProtocolBuilder protocol = target;
    Ask ask = settings.ask();
    Transport transport = settings.transport();
    protocol =
        protocol
            .headers(ask.headers())
            .requestTimeout(transport.timeout())
            .idleTimeout(transport.idleTimeout())
            .slo(settings.slo())
            .assertions(settings.assertions().stream().map(LlmAssertion::of).toList())
            .warmUp(settings.load().warmup())
            .seed(settings.seed())
            .tokenizer(tokenizer);
    if (!ask.body().isEmpty()) {
      protocol = protocol.body(ask.body().toString());
    }
    if (ask.prefix() instanceof PromptPrefix.Unique) {
      protocol = protocol.uniquePrompts();
    } else if (ask.prefix() instanceof PromptPrefix.Shared shared) {
      protocol = protocol.sharedPrefix(shared.groups(), shared.tokens());
    }
    if (!ask.ignoreEos()) {
      protocol = protocol.disableIgnoreEos();
    } else if (settings.config().containsKey("ignoreEos")) {
      protocol = protocol.ignoreEos();
    }
    protocol = transport.verifyTls() ? protocol.verifyTls() : protocol.disableVerifyTls();
    if (transport.maxInFlight() != null) {
      protocol = protocol.maxInFlight(transport.maxInFlight());
    }
    if (transport.connections() == Transport.Connections.PER_USER) {
      protocol = protocol.disableShareConnections();
    }
    if (settings.recordText()) {
      protocol = protocol.recordText();
    }
    if (!settings.recordTokens()) {
      protocol = protocol.disableRecordTokens();
    }
    if (settings.csv()) {
      protocol = protocol.csv();
    }
    if (!settings.indexBlock()) {
      protocol = protocol.disableIndexBlock();
    }
    if (!settings.failBuild()) {
      protocol = protocol.disableFailBuild();
    }
    return settings.config().entrySet().stream()
        .reduce(
            protocol,
            (noted, setting) -> noted.note(setting.getKey(), setting.getValue()),
            (a, b) -> b);
  }

  private static LlmProtocolBuilder embedded(EmbeddedEngine engine) {
    return llm.baseUrl(engine.baseUrl()).target("embedded engine").model("embedded");
  }

  private static LlmProtocolBuilder target(Target target) {
    LlmProtocolBuilder protocol = llm.baseUrl(target.endpoint().url()).apiKey(target.apiKey());
    return target.model() == null ? protocol : protocol.model(target.model());
  }
}
