package io.github.gatlingllm.simulations;

import static io.gatling.javaapi.core.CoreDsl.scenario;
import static io.github.gatlingllm.javaapi.LlmDsl.closedLoop;
import static io.github.gatlingllm.javaapi.LlmDsl.llm;
import static io.github.gatlingllm.javaapi.LlmDsl.openLoop;

import io.gatling.javaapi.core.PopulationBuilder;
import io.gatling.javaapi.core.ScenarioBuilder;
import io.gatling.javaapi.core.Session;
import io.gatling.javaapi.core.Simulation;
import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.javaapi.ClosedLoop;
import io.github.gatlingllm.javaapi.LlmProtocolBuilder;
import io.github.gatlingllm.javaapi.LlmRequestBuilder;
import io.github.gatlingllm.javaapi.OpenLoop;
import io.github.gatlingllm.wire.Api;
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
    setUp(population(settings.load(), settings.seed(), chat(settings)))
        .protocols(protocol(settings, engine));
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

  private static ScenarioBuilder chat(BenchmarkSettings settings) {
    Ask ask = settings.ask();
    AtomicLong next = new AtomicLong();
    Function<Session, String> prompt =
        session -> ask.prompts().pick(settings.seed(), next.getAndIncrement());
    return scenario("Benchmark")
        .exec(
            settings.api() == Api.CHAT
                ? asked(llm("chat").chat().user(prompt), ask)
                : asked(llm("completion").completion().prompt(prompt), ask));
  }

  private static <T extends LlmRequestBuilder<T>> T asked(T request, Ask ask) {
    T limited = request.maxTokens(ask.maxTokens()).stream(ask.stream());
    T warm = ask.temperature() == null ? limited : limited.temperature(ask.temperature());
    return ask.topP() == null ? warm : warm.topP(ask.topP());
  }

  private static PopulationBuilder population(Load load, long seed, ScenarioBuilder chat) {
    if (load.arrival() == null) {
      ClosedLoop loop = closedLoop(load.concurrencies()).drain(load.drain());
      return (load.requests() == null
              ? loop.measure(load.duration())
              : loop.requests(load.requests()))
          .inject(chat);
    }
    return open(load, load.arrival()).seed(seed).drain(load.drain()).inject(chat);
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
      BenchmarkSettings settings, @Nullable EmbeddedEngine engine) {
    LlmProtocolBuilder protocol = target(settings, engine);
    Ask ask = settings.ask();
    Transport transport = settings.transport();
    protocol =
        protocol
            .headers(ask.headers())
            .requestTimeout(transport.timeout())
            .idleTimeout(transport.idleTimeout())
            .slo(settings.slo())
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
    if (transport.connections() == Transport.Connections.PER_USER) {
      protocol = protocol.disableShareConnections();
    }
    if (settings.recordText()) {
      protocol = protocol.recordText();
    }
    if (!settings.recordTokens()) {
      protocol = protocol.disableRecordTokens();
    }
    if (!settings.indexBlock()) {
      protocol = protocol.disableIndexBlock();
    }
    return settings.config().entrySet().stream()
        .reduce(
            protocol,
            (noted, setting) -> noted.note(setting.getKey(), setting.getValue()),
            (a, b) -> b);
  }

  private static LlmProtocolBuilder target(
      BenchmarkSettings settings, @Nullable EmbeddedEngine engine) {
    if (engine != null) {
      return llm.baseUrl(engine.baseUrl()).target("embedded engine").model("embedded");
    }
    Target target = settings.targets().get(0);
    LlmProtocolBuilder protocol = llm.baseUrl(target.endpoint().url()).apiKey(target.apiKey());
    return target.model() == null ? protocol : protocol.model(target.model());
  }
}
