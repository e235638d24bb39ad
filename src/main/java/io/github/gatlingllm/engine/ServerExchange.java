package io.github.gatlingllm.engine;

import io.github.gatlingllm.engine.EmbeddedEngine.GroundTruth;
import io.github.gatlingllm.engine.EmbeddedEngineBuilder.Fault;
import io.github.gatlingllm.engine.EmbeddedEngineBuilder.FaultKind;
import io.github.gatlingllm.engine.ResponseWriter.Usage;
import io.netty.util.concurrent.EventExecutor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * One request in progress: passes tokens from the scheduler to the response, keeps their times, and
 * injects the fault that was drawn for the request. Belongs to the event loop.
 */
final class ServerExchange {
  private final EmbeddedEngine engine;
  private final String requestId;
  private final int promptTokens;
  private final ResponseWriter writer;
  private final EventExecutor eventLoop;
  private final Runnable onEnd;
  private final long receivedNanos;
  private final List<Choice> choices;
  private final List<Choice> heldBack = new ArrayList<>();
  private @Nullable Fault fault;
  private @Nullable Long admittedNanos;
  private long[] tokenNanos = new long[16];
  private int generated;
  private int sent;
  private boolean stalled;
  private boolean ended;

  /** {@code onEnd} is called once, when the connection is free for the next request. */
  ServerExchange(
      EmbeddedEngine engine,
      String requestId,
      long receivedNanos,
      List<SequenceSpec> sequences,
      ResponseWriter writer,
      @Nullable Fault fault,
      EventExecutor eventLoop,
      Runnable onEnd) {
    this.engine = engine;
    this.requestId = requestId;
    this.receivedNanos = receivedNanos;
    this.promptTokens = SequenceSpec.promptTokens(sequences);
    this.writer = writer;
    this.fault = fault;
    this.eventLoop = eventLoop;
    this.onEnd = onEnd;
    this.choices =
        IntStream.range(0, sequences.size())
            .mapToObj(i -> new Choice(i, sequences.get(i)))
            .toList();
  }

  /** One choice, or a text to embed, which is a single token without text. */
  @SuppressWarnings("ArrayRecordComponent") // passed on, never compared
  record SequenceSpec(
      Prompt prompt, long @Nullable [] blocks, GeneratedAnswer answer, boolean generated) {

    private static int promptTokens(List<SequenceSpec> all) {
      return all.get(0).generated()
          ? all.get(0).prompt().tokens()
          : all.stream().mapToInt(spec -> spec.prompt().tokens()).sum();
    }
  }

  private final class Choice implements Sequence.Listener {
    private final int index;
    private final SequenceSpec spec;
    private final GeneratedAnswer answer;
    private final Sequence sequence;
    private final StringBuilder unsent = new StringBuilder();
    private GeneratedAnswer.TokenType type = GeneratedAnswer.TokenType.TEXT;
    private long begunNanos = receivedNanos;
    private long firstNanos;
    private long lastNanos;
    private int generated;
    private int sent;
    private boolean finished;

    Choice(int index, SequenceSpec spec) {
      this.index = index;
      this.spec = spec;
      this.answer = spec.answer();
      this.sequence =
          new Sequence(spec.prompt().tokens(), answer.tokens(), receivedNanos, spec.blocks(), this);
    }

    @Override
    public void admitted() {
      if (!ended) {
        begunNanos = System.nanoTime();
        begin(this);
      }
    }

    @Override
    public void token() {
      if (stalled) {
        heldBack.add(this);
      } else if (!ended) {
        addToken(this);
      }
    }

    boolean complete() {
      return generated == answer.tokens();
    }
  }

  void start() {
    writer.open();
    engine.scheduler.submit(choices.stream().map(choice -> choice.sequence).toList());
  }

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
    engine.metrics.admitted(choice.spec.prompt().tokens(), choice.begunNanos - receivedNanos);
    writer.begin(choice.index, usage());
    writer.flush();
    injectFault();
  }

  private void addToken(Choice choice) {
    GeneratedAnswer.TokenType type = choice.answer.type(choice.generated);
    if (type != choice.type) {
      send(choice);
      choice.type = type;
    }
    choice.unsent.append(choice.answer.text(choice.generated++));
    generated++;
    if (choice.complete()
        || choice.generated - choice.sent == engine.settings.tokensPerChunk
        || isFaultDue()) {
      send(choice);
      injectFault();
    }
    if (choice.complete() && !ended && !stalled) {
      finish(choice);
    }
    writer.flush();
  }

  private void send(Choice choice) {
    long now = System.nanoTime();
    for (; choice.sent < choice.generated; choice.sent++) {
      if (sent == tokenNanos.length) {
        tokenNanos = Arrays.copyOf(tokenNanos, 2 * sent);
      }
      tokenNanos[sent++] = now;
      if (!choice.spec.generated()) {
        choice.firstNanos = now;
      } else if (choice.sent == 0) {
        choice.firstNanos = now;
        engine.metrics.firstToken(now - receivedNanos, now - choice.begunNanos);
      } else {
        engine.metrics.nextToken(now - choice.lastNanos);
      }
      choice.lastNanos = now;
    }
    if (choice.unsent.length() > 0) {
      writer.text(choice.index, choice.type, choice.unsent, usage());
      choice.unsent.setLength(0);
    }
  }

  private void finish(Choice choice) {
    choice.finished = true;
    String reason = choice.answer.finishReason();
    writer.finish(choice.index, reason, usage());
    long now = System.nanoTime();
    engine.metrics.completed(reason, now - receivedNanos, now - choice.firstNanos);
    if (choices.stream().allMatch(each -> each.finished)) {
      writer.end(usage());
      end(false);
    }
  }

  private boolean isFaultDue() {
    return fault != null && fault.number() == generated;
  }

  private void injectFault() {
    if (!isFaultDue()) {
      return;
    }
    Fault injected = fault;
    fault = null;
    if (injected.kind() == FaultKind.STALL) {
      stalled = true;
      Future<?> unused =
          eventLoop.schedule(this::resume, injected.pause().toNanos(), TimeUnit.NANOSECONDS);
      return;
    }
    choices.forEach(this::send);
    abort();
    end(false);
    if (injected.kind() == FaultKind.FAIL) {
      writer.fail(Refusal.injected(500));
      writer.flush();
    } else {
      writer.cut();
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
    writer.flush();
  }

  private void abort() {
    for (Choice choice : choices) {
      if (!choice.finished) {
        engine.scheduler.cancel(choice.sequence);
        engine.metrics.aborted();
      }
    }
  }

  private void end(boolean cancelled) {
    ended = true;
    engine.ended(
        new GroundTruth(
            requestId,
            receivedNanos,
            admittedNanos,
            sent == 0 ? null : (Long) tokenNanos[0],
            Arrays.copyOf(tokenNanos, sent),
            promptTokens,
            usage().cachedTokens(),
            choices.get(0).spec.generated() ? sent : 0,
            System.nanoTime(),
            cancelled));
    onEnd.run();
  }

  private Usage usage() {
    int reasoning =
        choices.stream().mapToInt(choice -> choice.answer.reasoning(choice.generated)).sum();
    return new Usage(
        promptTokens,
        generated,
        choices.get(0).sequence.cachedTokens(),
        engine.settings.reasoningTokens == 0 ? null : (Integer) reasoning);
  }
}
