package io.github.gatlingllm.action;

import static java.time.Duration.ofNanos;

import io.gatling.core.CoreComponents;
import io.gatling.core.action.Action;
import io.gatling.core.action.SessionHook;
import io.gatling.core.session.Session;
import io.gatling.core.stats.StatsEngine;
import io.gatling.core.structure.ScenarioContext;
import io.gatling.http.protocol.HttpComponents;
import io.gatling.http.protocol.HttpProtocol;
import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.record.RecordCodec;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.stats.LiveStats;
import io.github.gatlingllm.wire.Api;
import io.github.gatlingllm.wire.ErrorBody;
import io.netty.channel.EventLoop;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * What is sent before the load starts, through the same code as everything after it: first against
 * an engine inside this JVM, so that classes are loaded and the hot path is compiled; then, where
 * it is asked for, real requests to the target. Blocks the thread that builds the simulation.
 */
final class WarmUpRounds {

  private static final int CONCURRENT = 32;

  /** Few, since code that runs once per request is compiled after some hundred requests. */
  private static final int TOKENS = 16;

  private static final long GRACE_NANOS = TimeUnit.SECONDS.toNanos(5);
  private static final String PROMPT = "Say hello.";
  private static final int REAL_TOKENS = 16;

  private final ScenarioContext context;
  private final CoreComponents core;
  private final HttpComponents http;
  private final WarmUpRequestLog requestLog;

  WarmUpRounds(ScenarioContext context, String runId) {
    this.context = context;
    this.core = context.coreComponents();
    this.http = context.protocolComponentsRegistry().components(HttpProtocol.HttpProtocolKey());
    this.requestLog = new WarmUpRequestLog(runId);
  }

  /**
   * Loads classes and has the hot path compiled, until compilers stand still; nothing leaves this
   * JVM.
   */
  void jvm(LlmComponents components) {
    try (EmbeddedEngine engine =
        EmbeddedEngine.builder().fixed(ofNanos(1_000_000), ofNanos(200_000)).seed(1).start()) {
      LlmProtocol inside = components.protocol().at(engine.baseUrl());
      Action action = action(components.forWarmUp(inside, requestLog), Api.CHAT, TOKENS);
      CompilerWatch compilers = CompilerWatch.ofThisJvm();
      for (int i = 0; i < CONCURRENT; i++) {
        send(action);
      }
      int pending = CONCURRENT;
      while (pending > 0) {
        RequestRecord record = requestLog.await(GRACE_NANOS);
        if (record == null || !record.outcome().ok()) {
          System.out.println(
              "LLM warm-up of the JVM did not work ("
                  + (record == null ? "no answer" : record.outcome().error())
                  + "); the first requests will be slower");
          return;
        }
        pending--;
        if (compilers.goesOn()) {
          send(action);
          pending++;
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Real requests to the target, one after the other; a failed one is named in one line. Where the
   * target rejects what pins output, the run goes on without.
   */
  void target(LlmComponents components) {
    LlmProtocol protocol = components.protocol();
    Action action =
        action(components.forWarmUp(protocol, requestLog), protocol.apiOfUrl(), REAL_TOKENS);
    try {
      for (int i = 0; i < protocol.warmUp.requests(); i++) {
        String error = errorOf(action, protocol);
        if (error != null && error.contains(ErrorBody.PINNING_REMEDY) && components.unpin()) {
          System.out.println(
              "LLM: "
                  + components.target()
                  + " rejects ignore_eos and min_tokens, so the run goes on without: answers may"
                  + " end early (llm.ignoreEos=false says so up front)");
          error = errorOf(action, protocol);
        }
        if (error != null) {
          System.out.println(
              "LLM warm-up request to "
                  + components.target()
                  + " failed: "
                  + error
                  + "; the run goes on");
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Sends one request and waits for its end; null when it is well. */
  private @Nullable String errorOf(Action action, LlmProtocol protocol)
      throws InterruptedException {
    send(action);
    RequestRecord record = requestLog.await(protocol.requestTimeout.toNanos() + GRACE_NANOS);
    if (record == null) {
      return "no answer";
    }
    return record.outcome().ok() ? null : record.outcome().error();
  }

  private Action action(LlmComponents components, Api api, int maxTokens) {
    LlmRequest request =
        LlmRequest.of(Dynamic.of("warm-up"), api)
            .edit(draft -> draft.maxTokens = Dynamic.of(maxTokens))
            .edit(draft -> draft.prompt = Dynamic.of(PROMPT));
    return new LlmAction(request, components, context, new EndOfUser(core.statsEngine()));
  }

  private void send(Action action) {
    EventLoop eventLoop = core.eventLoopGroup().next();
    Session session = UserSessions.fresh("warm-up", 0, http.onExit(), eventLoop);
    eventLoop.execute(() -> action.$bang(http.onStart().apply(session)));
  }

  /** What follows a warm-up request. */
  private static final class EndOfUser extends SessionHook {
    EndOfUser(StatsEngine statsEngine) {
      super(null, "warm-up-end", statsEngine, null);
    }

    @Override
    public void execute(Session session) {
      session.exit();
    }
  }

  /**
   * Requests that only warm up: their records pass the codec and the live figures, so that these
   * are warm too, and are then dropped.
   */
  private static final class WarmUpRequestLog implements RequestLog {

    private final String runId;
    private final AtomicLong numbers = new AtomicLong();
    private final LiveStats live = new LiveStats(System::nanoTime);
    private final BlockingQueue<RequestRecord> ended = new LinkedBlockingQueue<>();

    WarmUpRequestLog(String runId) {
      this.runId = runId;
    }

    @Override
    public long next() {
      return numbers.getAndIncrement();
    }

    @Override
    public String requestId(long number) {
      return runId + "-warmup-" + number;
    }

    @Override
    public void started() {}

    @Override
    public void admitted() {}

    @Override
    public void ended() {}

    @Override
    public void keep(RequestRecord record) {
      ended.add(record);
    }

    @Override
    public boolean inStatistics() {
      return false;
    }

    /** The next request that is over; null when none is in time. */
    @Nullable RequestRecord await(long nanos) throws InterruptedException {
      RequestRecord record = ended.poll(nanos, TimeUnit.NANOSECONDS);
      if (record != null) {
        RecordCodec.write(record);
        live.accept(record);
      }
      return record;
    }
  }
}
