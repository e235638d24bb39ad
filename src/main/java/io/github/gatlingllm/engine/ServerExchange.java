package io.github.gatlingllm.engine;

import io.github.gatlingllm.engine.EmbeddedEngine.EngineCore;
import io.github.gatlingllm.engine.EmbeddedEngine.GroundTruth;
import io.github.gatlingllm.engine.ResponseWriter.Usage;
import io.netty.util.concurrent.EventExecutor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One request being answered: passes the scheduler's tokens to the reply, keeps their times, and
 * carries out the fault that was drawn for it. Belongs to the event loop.
 */
final class ServerExchange {
  private final EngineCore core;
  private final String requestId;
  private final int promptTokens;
  private final ResponseWriter reply;
  private final EventExecutor eventLoop;
  private final Runnable onEnd;
  private final long receivedNanos;
  private final List<Choice> choices;
  private final List<Choice> heldBack = new ArrayList<>();
  private Fault.@Nullable Effect fault;
  private @Nullable Long admittedNanos;
  private long[] tokenNanos = new long[16];
  private int generated;
  private int sent;
  private boolean stalled;
  private boolean ended;

  /**
   * An exchange that has not begun.
   *
   * @param receivedNanos when the whole request had been read
   * @param wanted an answer each
   * @param fault what shall go wrong; null for nothing
   * @param onEnd called once, when the connection is free for the next request
   */
  ServerExchange(
      EngineCore core,
      String requestId,
      long receivedNanos,
      List<Wanted> wanted,
      ResponseWriter reply,
      Fault.@Nullable Effect fault,
      EventExecutor eventLoop,
      Runnable onEnd) {
    this.core = core;
    this.requestId = requestId;
    this.receivedNanos = receivedNanos;
    this.promptTokens = Wanted.promptTokens(wanted);
    this.reply = reply;
    this.fault = fault;
    this.eventLoop = eventLoop;
    this.onEnd = onEnd;
    List<Choice> each = new ArrayList<>();
    for (Wanted one : wanted) {
      each.add(new Choice(each.size(), one));
    }
    this.choices = List.copyOf(each);
  }

  /**
   * What one sequence is to give.
   *
   * @param generated whether that is text; else it is one vector, as a single token without text
   */
  record Wanted(Prompt prompt, BlockChain chain, GeneratedAnswer answer, boolean generated) {

    /** The choices of a completion have one prompt; texts to embed are a prompt each. */
    private static int promptTokens(List<Wanted> all) {
      return all.get(0).generated()
          ? all.get(0).prompt().tokens()
          : all.stream().mapToInt(one -> one.prompt().tokens()).sum();
    }
  }

  /** One of the answers. */
  private final class Choice implements Sequence.Listener {
    private final int index;
    private final Wanted wanted;
    private final GeneratedAnswer answer;
    private final Sequence sequence;
    private final StringBuilder unsent = new StringBuilder();
    private GeneratedAnswer.TokenType part = GeneratedAnswer.TokenType.TEXT;
    private long begunNanos = receivedNanos;
    private long firstNanos;
    private long lastNanos;
    private int generated;
    private int sent;
    private boolean finished;

    Choice(int index, Wanted wanted) {
      this.index = index;
      this.wanted = wanted;
      this.answer = wanted.answer();
      this.sequence =
          new Sequence(
              wanted.prompt().tokens(), answer.tokens(), receivedNanos, wanted.chain(), this);
    }

    @Override
    public void admitted() {
      if (!ended) {
        begunNanos = core.nanoClock().getAsLong();
        begin(this);
      }
    }

    @Override
    public void token() {
      if (stalled) {
        heldBack.add(this);
      } else if (!ended) {
        take(this);
      }
    }

    boolean complete() {
      return generated == answer.tokens();
    }
  }

  void start() {
    reply.open();
    core.scheduler().submit(choices.stream().map(choice -> choice.sequence).toList());
  }

  /** The connection is gone: the sequences leave the engine. */
  void abandon() {
    if (!ended) {
      abort();
      end(true);
    }
  }

  private void begin(Choice choice) {
    if (admittedNanos == null) {
      admittedNanos = choice.begunNanos;
    }
    core.metrics().admitted(choice.wanted.prompt().tokens(), choice.begunNanos - receivedNanos);
    reply.begin(choice.index, usage());
    reply.flush();
    strike();
  }

  private void take(Choice choice) {
    GeneratedAnswer.TokenType part = choice.answer.part(choice.generated);
    if (part != choice.part) {
      send(choice);
      choice.part = part;
    }
    choice.unsent.append(choice.answer.text(choice.generated++));
    generated++;
    if (choice.complete()
        || choice.generated - choice.sent == core.settings().tokensPerChunk
        || strikes()) {
      send(choice);
      strike();
    }
    if (choice.complete() && !ended && !stalled) {
      finish(choice);
    }
    reply.flush();
  }

  private void send(Choice choice) {
    long now = core.nanoClock().getAsLong();
    for (; choice.sent < choice.generated; choice.sent++) {
      if (sent == tokenNanos.length) {
        tokenNanos = Arrays.copyOf(tokenNanos, 2 * sent);
      }
      tokenNanos[sent++] = now;
      if (!choice.wanted.generated()) {
        choice.firstNanos = now;
      } else if (choice.sent == 0) {
        choice.firstNanos = now;
        core.metrics().firstToken(now - receivedNanos, now - choice.begunNanos);
      } else {
        core.metrics().nextToken(now - choice.lastNanos);
      }
      choice.lastNanos = now;
    }
    if (choice.unsent.length() > 0) {
      reply.text(choice.index, choice.part, choice.unsent, usage());
      choice.unsent.setLength(0);
    }
  }

  private void finish(Choice choice) {
    choice.finished = true;
    String reason = choice.answer.finishReason();
    reply.finish(choice.index, reason, usage());
    long now = core.nanoClock().getAsLong();
    core.metrics().completed(reason, now - receivedNanos, now - choice.firstNanos);
    if (choices.stream().allMatch(each -> each.finished)) {
      reply.end(usage());
      end(false);
    }
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
    choices.forEach(this::send);
    abort();
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
    List<Choice> tokens = List.copyOf(heldBack);
    heldBack.clear();
    tokens.forEach(Choice::token);
    for (Choice choice : choices) {
      if (!ended && choice.complete() && !choice.finished) {
        finish(choice);
      }
    }
    reply.flush();
  }

  private void abort() {
    for (Choice choice : choices) {
      if (!choice.finished) {
        core.scheduler().cancel(choice.sequence);
        core.metrics().aborted();
      }
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
                usage().cachedTokens(),
                choices.get(0).wanted.generated() ? sent : 0,
                core.nanoClock().getAsLong(),
                cancelled));
    onEnd.run();
  }

  private Usage usage() {
    int reasoning = 0;
    for (Choice choice : choices) {
      reasoning += choice.answer.reasoning(choice.generated);
    }
    return new Usage(
        promptTokens,
        generated,
        choices.get(0).sequence.cachedTokens(),
        core.settings().reasoningTokens == 0 ? null : (Integer) reasoning);
  }
}
