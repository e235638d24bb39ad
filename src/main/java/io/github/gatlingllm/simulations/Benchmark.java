package io.github.gatlingllm.simulations;

import static io.gatling.javaapi.core.CoreDsl.scenario;
import static io.github.gatlingllm.javaapi.LlmDsl.batch;
import static io.github.gatlingllm.javaapi.LlmDsl.closedLoop;
import static io.github.gatlingllm.javaapi.LlmDsl.llm;
import static io.github.gatlingllm.javaapi.LlmDsl.maxGoodput;
import static io.github.gatlingllm.javaapi.LlmDsl.oneAfterTheOther;
import static io.github.gatlingllm.javaapi.LlmDsl.openLoop;

import io.gatling.javaapi.core.PopulationBuilder;
import io.gatling.javaapi.core.ScenarioBuilder;
import io.gatling.javaapi.core.Session;
import io.gatling.javaapi.core.Simulation;
import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.javaapi.ClosedLoop;
import io.github.gatlingllm.javaapi.LlmAssertion;
import io.github.gatlingllm.javaapi.LlmProtocolBuilder;
import io.github.gatlingllm.javaapi.LlmRequestBuilder;
import io.github.gatlingllm.javaapi.LoadProfile;
import io.github.gatlingllm.javaapi.MaxGoodput;
import io.github.gatlingllm.javaapi.OpenLoop;
import io.github.gatlingllm.wire.Api;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
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
    LoadProfile load = load(settings.load(), settings.seed());
    if (settings.targets().size() > 1) {
      List<PopulationBuilder> all = populations(settings, load);
      setUp(settings.interleave() ? all : List.of(oneAfterTheOther(all)));
    } else {
      setUp(load.inject(chat(settings, settings.api())))
          .protocols(
              protocol(
                  settings, engine == null ? target(settings.targets().get(0)) : embedded(engine)));
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

  /** A population per target, each asked the same prompts in the same order. */
  private static List<PopulationBuilder> populations(BenchmarkSettings settings, LoadProfile load) {
    List<PopulationBuilder> populations = new ArrayList<>();
    for (int i = 0; i < settings.targets().size(); i++) {
      Target target = settings.targets().get(i);
      populations.add(
          load.target(settings.labels().get(i), protocol(settings, target(target)))
              .inject(chat(settings, target.endpoint().api())));
    }
    return populations;
  }

  private static ScenarioBuilder chat(BenchmarkSettings settings, Api api) {
    Ask ask = settings.ask();
    AtomicLong next = new AtomicLong();
    Function<Session, String> prompt =
        session -> ask.prompts().pick(settings.seed(), next.getAndIncrement());
    return scenario("Benchmark")
        .exec(
            api == Api.CHAT
                ? asked(llm("chat").chat().user(prompt), ask)
                : asked(llm("completion").completion().prompt(prompt), ask));
  }

  private static <T extends LlmRequestBuilder<T>> T asked(T request, Ask ask) {
    T limited = request.maxTokens(ask.maxTokens()).stream(ask.stream());
    T warm = ask.temperature() == null ? limited : limited.temperature(ask.temperature());
    return ask.topP() == null ? warm : warm.topP(ask.topP());
  }

  private static LoadProfile load(Load load, long seed) {
    if (load.search()) {
      MaxGoodput search =
          maxGoodput()
              .startingAt(load.rates()[0])
              .seed(seed)
              .stabilize(load.stabilize())
              .drain(load.drain());
      return load.requests() == null
          ? search.measure(load.duration())
          : search.requests(load.requests());
    }
    if (load.trials() != null) {
      return batch(load.concurrencies()).trials(load.trials()).drain(load.drain());
    }
    if (load.arrival() == null) {
      ClosedLoop loop =
          closedLoop(load.concurrencies())
              .fill(load.fill())
              .stabilize(load.stabilize())
              .drain(load.drain());
      ClosedLoop bounded =
          load.requests() == null ? loop.measure(load.duration()) : loop.requests(load.requests());
      return load.stopWhen().isEmpty() ? bounded : bounded.stopWhen(load.stopRules());
    }
    OpenLoop open =
        open(load, load.arrival()).seed(seed).stabilize(load.stabilize()).drain(load.drain());
    return load.stopWhen().isEmpty() ? open : open.stopWhen(load.stopRules());
  }

  private static OpenLoop open(Load load, Load.Arrival arrival) {
    Load.Level first = load.levels().get(0);
    if (first instanceof Load.Replay recorded) {
      return OpenLoop.of(recorded.replay());
    }
    OpenLoop bounded;
    if (first instanceof Load.Curve along) {
      bounded = openLoop(along.curve(), along.curve().length());
    } else {
      OpenLoop rates = openLoop(load.rates());
      bounded =
          load.requests() == null
              ? rates.measure(load.duration())
              : rates.requests(load.requests());
    }
    if (arrival instanceof Load.Gamma gamma) {
      return bounded.gamma(gamma.cv());
    }
    return arrival instanceof Load.Constant ? bounded.constant() : bounded;
  }

  private static LlmProtocolBuilder protocol(
      BenchmarkSettings settings, LlmProtocolBuilder target) {
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
            .seed(settings.seed());
    if (!ask.body().isEmpty()) {
      protocol = protocol.body(ask.body().toString());
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
