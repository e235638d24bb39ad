package io.github.gatlingllm.engine;

import io.github.gatlingllm.engine.ApiAnswer.Usage;
import io.github.gatlingllm.engine.EmbeddedEngine.GroundTruth;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** One request in progress: passes tokens to the response and keeps their times. */
final class ServerExchange {
  private final EmbeddedEngine engine;
  private final String requestId;
  private final int promptTokens;
  private final ApiAnswer writer;
  private final Runnable onEnd;
  private final long receivedNanos;
  private final List<Choice> choices;
  private @Nullable Long admittedNanos;
  private long[] tokenNanos = new long[16];
  private int generated;
  private boolean ended;

  /** {@code onEnd} is called once, when the connection is free for the next request. */
  ServerExchange(
      EmbeddedEngine engine,
      String requestId,
      long receivedNanos,
      List<SequenceSpec> sequences,
      ApiAnswer writer,
      Runnable onEnd) {
    this.engine = engine;
    this.requestId = requestId;
    this.receivedNanos = receivedNanos;
    this.promptTokens = SequenceSpec.promptTokens(sequences);
    this.writer = writer;
    this.onEnd = onEnd;
    this.choices =
        IntStream.range(0, sequences.size())
            .mapToObj(i -> new Choice(i, sequences.get(i)))
            .toList();
  }

  /** One choice, or an input that has a result, which is a single token without text. */
  @SuppressWarnings("ArrayRecordComponent") // passed on, never compared
  record SequenceSpec(
      Prompt prompt, long @Nullable [] blocks, GeneratedAnswer answer, boolean generated) {

    private static int promptTokens(List<SequenceSpec> all) {
      return all.get(0).generated()
          ? all.get(0).prompt().tokens()
          : all.stream().mapToInt(spec -> spec.prompt().tokens()).sum();
    }
  }

  private final class Choice implements Sequence.TokenListener {
    private final int index;
    private final SequenceSpec spec;
    private final GeneratedAnswer answer;
    private final Sequence sequence;
    private long begunNanos = receivedNanos;
    private long firstNanos;
    private long lastNanos;
    private int generated;
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
      if (!ended) {
        addToken(this);
      }
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
  }

  private void addToken(Choice choice) {
    long now = System.nanoTime();
    if (generated == tokenNanos.length) {
      tokenNanos = Arrays.copyOf(tokenNanos, 2 * generated);
    }
    tokenNanos[generated++] = now;
    if (choice.generated == 0) {
      choice.firstNanos = now;
    }
    if (choice.spec.generated() && choice.generated == 0) {
      engine.metrics.firstToken(now - receivedNanos, now - choice.begunNanos);
    } else if (choice.spec.generated()) {
      engine.metrics.nextToken(now - choice.lastNanos);
    }
    choice.lastNanos = now;
    int token = choice.generated++;
    String text = choice.answer.text(token);
    if (!text.isEmpty()) {
      writer.text(choice.index, choice.answer.type(token), text);
    }
    if (choice.generated == choice.answer.tokens()) {
      finish(choice);
    }
    writer.flush();
  }

  private void finish(Choice choice) {
    choice.finished = true;
    String reason = choice.answer.finishReason();
    writer.finish(choice.index, reason);
    long now = System.nanoTime();
    engine.metrics.completed(reason, now - receivedNanos, now - choice.firstNanos);
    if (choices.stream().allMatch(each -> each.finished)) {
      writer.end(usage());
      end(false);
    }
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
            generated == 0 ? null : (Long) tokenNanos[0],
            Arrays.copyOf(tokenNanos, generated),
            promptTokens,
            usage().cachedTokens(),
            choices.get(0).spec.generated() ? generated : 0,
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
