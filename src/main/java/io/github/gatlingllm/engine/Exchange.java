package io.github.gatlingllm.engine;

import io.netty.util.concurrent.EventExecutor;
import java.util.Arrays;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One request being answered: passes the scheduler's tokens to the reply, keeps their times, and
 * carries out the fault that was drawn for it. Belongs to the event loop.
 */
final class Exchange implements Sequence.Listener {
  private final EngineCore core;
  private final String requestId;
  private final int promptTokens;
  private final Answer answer;
  private final Reply reply;
  private final EventExecutor eventLoop;
  private final Runnable onEnd;
  private final long receivedNanos;
  private final Sequence sequence;
  private final StringBuilder unsent = new StringBuilder();
  private Fault.@Nullable Effect fault;
  private @Nullable Long admittedNanos;
  private long[] tokenNanos = new long[16];
  private int generated;
  private int sent;
  private boolean stalled;
  private int heldBack;
  private boolean ended;

  /**
   * An exchange that has not begun.
   *
   * @param receivedNanos when the whole request had been read
   * @param fault what shall go wrong; null for nothing
   * @param onEnd called once, when the connection is free for the next request
   */
  Exchange(
      EngineCore core,
      String requestId,
      long receivedNanos,
      Prompt prompt,
      Answer answer,
      Reply reply,
      Fault.@Nullable Effect fault,
      EventExecutor eventLoop,
      Runnable onEnd) {
    this.core = core;
    this.requestId = requestId;
    this.receivedNanos = receivedNanos;
    this.promptTokens = prompt.tokens();
    this.answer = answer;
    this.reply = reply;
    this.fault = fault;
    this.eventLoop = eventLoop;
    this.onEnd = onEnd;
    this.sequence = new Sequence(promptTokens, answer.tokens(), receivedNanos, this);
  }

  void start() {
    reply.open();
    core.scheduler().submit(sequence);
  }

  /** The connection is gone: the sequence leaves the engine. */
  void abandon() {
    if (!ended) {
      core.scheduler().cancel(sequence);
      core.metrics().aborted();
      end(true);
    }
  }

  @Override
  public void admitted() {
    if (ended) {
      return;
    }
    long now = core.nanoClock().getAsLong();
    admittedNanos = now;
    core.metrics().admitted(promptTokens, now - receivedNanos);
    reply.begin(usage());
    reply.flush();
    strike();
  }

  @Override
  public void token() {
    if (ended) {
      return;
    }
    if (stalled) {
      heldBack++;
      return;
    }
    unsent.append(answer.text(generated++));
    boolean last = generated == answer.tokens();
    if (last || generated - sent == core.options().tokensPerChunk() || strikes()) {
      send();
      strike();
    }
    if (last && !ended && !stalled) {
      finish();
    }
    reply.flush();
  }

  private void send() {
    long now = core.nanoClock().getAsLong();
    if (generated > tokenNanos.length) {
      int length = Math.min(answer.tokens(), Math.max(2 * tokenNanos.length, generated));
      tokenNanos = Arrays.copyOf(tokenNanos, length);
    }
    for (; sent < generated; sent++) {
      tokenNanos[sent] = now;
      if (sent == 0) {
        core.metrics().firstToken(now - receivedNanos, now - begunNanos());
      } else {
        core.metrics().nextToken(now - tokenNanos[sent - 1]);
      }
    }
    if (unsent.length() > 0) {
      reply.text(unsent, usage());
      unsent.setLength(0);
    }
  }

  private void finish() {
    reply.finish(answer.finishReason(), usage());
    long now = core.nanoClock().getAsLong();
    core.metrics().completed(answer.finishReason(), now - receivedNanos, now - tokenNanos[0]);
    end(false);
  }

  private boolean strikes() {
    return fault != null && fault.afterTokens() == generated;
  }

  private void strike() {
    Fault.Effect effect = strikes() ? fault : null;
    if (effect == null) {
      return;
    }
    fault = null;
    if (effect instanceof Fault.Stall stall) {
      stalled = true;
      Future<?> unused =
          eventLoop.schedule(this::resume, stall.duration().toNanos(), TimeUnit.NANOSECONDS);
      return;
    }
    core.scheduler().cancel(sequence);
    core.metrics().aborted();
    end(false);
    if (effect instanceof Fault.Fail) {
      reply.fail(Refusal.injected(500));
      reply.flush();
    } else {
      reply.cut();
    }
  }

  private void resume() {
    stalled = false;
    int tokens = heldBack;
    heldBack = 0;
    for (int i = 0; i < tokens; i++) {
      token();
    }
    if (!ended && generated == answer.tokens()) {
      finish();
      reply.flush();
    }
  }

  private void end(boolean cancelled) {
    ended = true;
    core.groundTruth()
        .accept(
            new GroundTruth(
                requestId,
                receivedNanos,
                admittedNanos,
                sent == 0 ? null : (Long) tokenNanos[0],
                Arrays.copyOf(tokenNanos, sent),
                promptTokens,
                sent,
                core.nanoClock().getAsLong(),
                cancelled));
    onEnd.run();
  }

  private long begunNanos() {
    return admittedNanos == null ? receivedNanos : admittedNanos;
  }

  private Usage usage() {
    return new Usage(promptTokens, generated);
  }
}
