package io.github.gatlingllm.action;

import io.gatling.core.CoreComponents;
import io.github.gatlingllm.load.Injector;
import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.record.SelfTest.JvmOptions;
import io.github.gatlingllm.run.Observers;
import io.github.gatlingllm.run.Run;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/** What all LLM requests of a run share, whatever their scenario and protocol. */
record RunParts(
    Run run,
    Injector injector,
    CommonStart start,
    Targets targets,
    InjectionPlans injections,
    SimulationPlan plan,
    InFlight inFlight,
    RequestTotals totals,
    TokenCounting counting,
    AtomicInteger plans) {

  private static final Duration COUNTING = Duration.ofSeconds(30);

  private static final Duration COUNTING_INTERRUPTED = Duration.ofMillis(500);

  static RunParts open(CoreComponents core) {
    JvmOptions.spareProcessors();
    Injector injector = InvalidSimulation.checked(Injector::ofProcess);
    CommonStart start = CommonStart.of(core, injector);
    Observers observers = InvalidSimulation.checked(Observers::ofProcess);
    Run run =
        InvalidSimulation.checked(
            () ->
                Run.open(
                    core.statsEngine(), injector.nameOn(host()), observers, core.eventLoopGroup()));
    run.describe(info -> info.share(injector.share()));
    InjectionPlans injections = new InjectionPlans(core);
    run.endsAfter(injections.maxDuration);
    InFlight inFlight = new InFlight();
    RequestTotals totals = new RequestTotals();
    TokenCounting counting = new TokenCounting();
    run.onInterruption(
        atMost -> {
          cancel(inFlight, counting, atMost);
          run.describe(info -> totals.addTo(info, counting));
        },
        inFlight::size);
    core.actorSystem()
        .registerOnTermination(
            () -> {
              run.complete(
                  () -> {
                    close(counting, COUNTING);
                    run.describe(info -> totals.addTo(info, counting));
                  });
              return null;
            });
    return new RunParts(
        run,
        injector,
        start,
        new Targets(run, injector),
        injections,
        new SimulationPlan(core, run),
        inFlight,
        totals,
        counting,
        new AtomicInteger());
  }

  private static String host() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      return "localhost";
    }
  }

  /**
   * Cancels all requests. Counting of tokens may take a part of the time; then records are written
   * without counts, so that none is lost. The rest of the time is for slow event loops.
   */
  private static void cancel(InFlight inFlight, TokenCounting counting, Duration atMost) {
    long now = System.nanoTime();
    inFlight.close(InFlight.INTERRUPTED);
    inFlight.await(now + COUNTING_INTERRUPTED.toNanos());
    close(counting, Duration.ZERO);
    inFlight.await(now + atMost.toNanos());
  }

  private static void close(TokenCounting counting, Duration atMost) {
    long lost = counting.close(atMost);
    if (lost > 0) {
      PrintableText.print(
          "LLM: the tokens of "
              + lost
              + (lost == 1 ? " request" : " requests")
              + " were not counted; the tokenizer was too slow");
    }
  }

  /** Parts that count requests before the load apart from the run. */
  RunParts rehearsal() {
    return new RunParts(
        run,
        injector,
        start,
        targets,
        injections,
        plan,
        new InFlight(),
        new RequestTotals(),
        new TokenCounting(),
        plans);
  }
}
