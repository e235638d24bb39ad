package io.github.gatlingllm.action;

import io.gatling.core.CoreComponents;
import io.github.gatlingllm.load.Arrival.DrawOrder;
import io.github.gatlingllm.load.Injector;
import io.github.gatlingllm.record.InjectorRun.InjectorShare;
import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.run.Observers;
import io.github.gatlingllm.run.Run;
import io.github.gatlingllm.settings.Setting;
import io.github.gatlingllm.workload.PromptPrefix;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What all LLM requests of a run share, whatever their scenario and target. There is one for the
 * load; requests before it are of runs with the same clock, whose records only their recorder gets.
 * Thread-safe.
 */
final class LlmRun {

  private static final Duration COUNTING = Duration.ofSeconds(30);

  private static final Duration COUNTING_INTERRUPTED = Duration.ofMillis(500);

  /** First number of warm-up prompts: half of all nonces, beyond the numbers of any load. */
  private static final long WARM_UP_PROMPTS = 1L << 58;

  final Run run;
  final InFlight inFlight = new InFlight();
  final TokenCounting counting = new TokenCounting();
  final RequestTotals totals = new RequestTotals();

  /** One for all: a server has the prompts of its warm-up in its cache too. */
  final SentPrompts sent;

  private final InjectorShare share;
  private final DrawOrder prompts;

  /** Their own, as their number depends on time. */
  private final DrawOrder warmUpPrompts;

  /** Several for one call in turn, so that its compiled code depends on the class of none. */
  private final List<Consumer<RequestRecord>> recorders;

  /** Numbers requests outside the load; null for those of the load, which the run numbers. */
  private final @Nullable AtomicLong numbers;

  /** Part of the ids of requests outside the load. */
  private final String kind;

  /**
   * Whether started requests count, as those of the load do; some of the warm-up may outlast it.
   */
  private final boolean isCounted;

  /** Those outside the load that have not ended; the same list for all of them. */
  private final List<LlmRun> warmUps;

  /** Those outside the load share its parts; {@code load} is null for its own. */
  private LlmRun(
      @Nullable LlmRun load,
      Run run,
      InjectorShare share,
      List<Consumer<RequestRecord>> recorders,
      String kind,
      boolean isCounted) {
    this.run = run;
    this.share = share;
    this.recorders = recorders;
    this.kind = kind;
    this.isCounted = isCounted;
    warmUpPrompts = load == null ? new DrawOrder(share) : load.warmUpPrompts;
    prompts = load == null ? new DrawOrder(share) : warmUpPrompts;
    numbers = load == null ? null : new AtomicLong();
    warmUps = load == null ? new CopyOnWriteArrayList<>() : load.warmUps;
    sent = load == null ? new SentPrompts() : load.sent;
  }

  static LlmRun open(CoreComponents core, Injector injector) {
    Observers observers =
        InvalidSimulation.checked(
            () ->
                new Observers(
                        Setting.LIVE.processValue(),
                        Setting.OTLP.processValue(),
                        Setting.OTLP_TRACES.processValue(),
                        Setting.UPLOAD.processValue())
                    .checked());
    Run run =
        InvalidSimulation.checked(
            () ->
                Run.open(
                    core.statsEngine(), injector.nameOn(host()), observers, core.eventLoopGroup()));
    run.describe(info -> info.share(injector.share()));
    LlmRun load = new LlmRun(null, run, injector.part(), List.of(run::record), "", true);
    run.ending().onInterruption(load::cancel, load.inFlight::size);
    core.actorSystem()
        .registerOnTermination(
            () -> {
              run.ending()
                  .complete(
                      () -> {
                        load.count(COUNTING);
                        run.describe(load.totals::addTo);
                      });
              return null;
            });
    return load;
  }

  private static String host() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      return "localhost";
    }
  }

  /** A run before the load. */
  LlmRun forWarmUp(List<Consumer<RequestRecord>> recorders) {
    return outside(recorders, "warmup", false);
  }

  /** A run beside the load, for the setting {@code answers}. */
  LlmRun forAnswers() {
    return outside(List.of(run::record), "answers", true);
  }

  private LlmRun outside(
      List<Consumer<RequestRecord>> recordersOfIt, String kindOfIt, boolean counts) {
    LlmRun added = new LlmRun(this, run, share, recordersOfIt, kindOfIt, counts);
    warmUps.add(added);
    return added;
  }

  boolean isLoad() {
    return numbers == null;
  }

  /** The first texts of prompts, by their numbers in this run. */
  PreparedRequest.Prefixes prefixes(PromptPrefix.Texts texts) {
    return new PreparedRequest.Prefixes(texts, share, prompts, isLoad() ? 0 : WARM_UP_PROMPTS);
  }

  /** Requests that took a number. */
  long numbered() {
    return numbers == null ? 0 : numbers.get();
  }

  /** Takes the number of the next request, from 0. */
  long nextRequest() {
    return numbers == null ? run.nextRequest() : numbers.getAndIncrement();
  }

  String requestId(long number) {
    return numbers == null ? run.requestId(number) : run.id() + "-" + kind + "-" + number;
  }

  void started() {
    if (isCounted) {
      run.started();
    }
  }

  /** In flight is what is in the records of the load: warm-up and checked answers are not. */
  void admitted() {
    if (isLoad()) {
      run.admitted();
    }
  }

  void closed() {
    if (isLoad()) {
      run.ended();
    }
  }

  void record(RequestRecord record) {
    int turn = (int) (record.identity().requestIndex() % recorders.size());
    recorders.get(turn).accept(record);
  }

  boolean isAnyOpen() {
    return inFlight.isAnyOpen() || warmUps.stream().anyMatch(each -> each.inFlight.isAnyOpen());
  }

  /** Lets no request start any more, and cancels all, also those outside the load. */
  void stop(String reason) {
    inFlight.close(reason);
    warmUps.forEach(each -> each.inFlight.close(reason));
  }

  /**
   * Cancels all requests. Counting of tokens may take a part of the time; then records are written
   * without counts, so that none is lost. The rest of the time is for slow event loops.
   */
  private void cancel(Duration max) {
    long now = System.nanoTime();
    stop(InFlight.INTERRUPTED);
    inFlight.await(now + COUNTING_INTERRUPTED.toNanos());
    count(Duration.ZERO);
    inFlight.await(now + max.toNanos());
    warmUps.forEach(each -> each.inFlight.await(now + max.toNanos()));
    run.describe(totals::addTo);
  }

  /** Counts the tokens that are pending, and no more after them. */
  private void count(Duration max) {
    long lost = counting.close(max);
    for (LlmRun outside : warmUps) {
      lost += outside.counting.close(max);
    }
    if (lost > 0) {
      PrintableText.print(
          "LLM: the tokens of "
              + lost
              + (lost == 1 ? " request" : " requests")
              + " were not counted; the tokenizer was too slow");
    }
  }

  /** The warm-up is over: nothing of it remains during the load. */
  void end() {
    warmUps.remove(this);
    counting.close(Duration.ZERO);
  }
}
