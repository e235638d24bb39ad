package io.github.gatlingllm.client;

import io.github.gatlingllm.client.AnswerMemory.TooLarge;
import io.github.gatlingllm.client.Api.FunctionCall;
import io.github.gatlingllm.client.ChunkListener.Channel;
import io.github.gatlingllm.figures.metric.Sentence;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestRecord.ServerReport;
import io.github.gatlingllm.record.RequestRecord.TokenSource;
import io.github.gatlingllm.record.RequestRecord.Tokens;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.Timeline;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Collects one answer while it arrives: texts, finish reasons, usage and errors. Adds every event
 * that carries tokens to the {@link Timeline}, with the timestamp of the read that completed it.
 * Not thread safe.
 */
public final class ReceivedAnswer {

  private static final int UNKNOWN = -1;

  /** A stream of more events is rejected, as the timestamp of each is stored. */
  private static final int MAX_EVENTS = 1 << 21;

  /** Longer texts are not tokenized: that takes a hundred times the memory of a text. */
  private static final int MAX_TOKENIZED = 1 << 20;

  /** A count of more than this times the requested tokens is an error of the server. */
  private static final int MAX_OVERRUN = 10;

  private final Timeline timeline;
  private final GenerationRequest request;
  private final AnswerMemory memory = new AnswerMemory();
  private final ContentCollector content = new ContentCollector();
  private final @Nullable String terminalEvent;

  private GeneratedChoice[] choices = {};
  private long now;
  private boolean streaming;

  private int events;
  private boolean done;
  private boolean rateLimited;

  /**
   * When the last mark of the API or an error came; without one, when the last token, finish reason
   * or count came after which every choice was settled.
   */
  private long endedAt;

  private boolean settled;
  private @Nullable BitSet results;
  private @Nullable String error;
  private @Nullable String malformed;

  private final TokenCounts counts = new TokenCounts();
  private final ReportedTimings timings = new ReportedTimings();

  public ReceivedAnswer(Timeline timeline, GenerationRequest request) {
    this.timeline = timeline;
    this.request = request;
    this.terminalEvent = request.api().terminalEvent();
    grow(request.n());
  }

  private void grow(int count) {
    int from = choices.length;
    choices = Arrays.copyOf(choices, count);
    for (int i = from; i < count; i++) {
      choices[i] = new GeneratedChoice(memory);
    }
  }

  GenerationRequest request() {
    return request;
  }

  /** What its parser pushes into it. */
  ChunkListener listener() {
    return content;
  }

  /** Events that are pushed next came with a read at this instant. */
  void stream(long instant) {
    now = instant;
    streaming = true;
  }

  /** The stream has ended, at whose end there may be JSON without an event around it. */
  void endOfStream(ChunkParser parser, byte[] json) {
    if (json.length > 0 && error == null) {
      boolean streams = events > 0;
      streaming = false;
      parser.body(json, 0, json.length);
      streaming = streams;
      if (!streams && error == null && malformed == null) {
        timeline.body(now);
      }
    }
    counts.end(timeline.count());
  }

  public void body(byte[] bytes, int length) {
    try {
      request.api().parser(content).body(bytes, 0, length);
    } catch (TooLarge tooLarge) {
      tooLarge(tooLarge);
    }
  }

  void tooLarge(TooLarge beyond) {
    malformed = malformed == null ? beyond.getMessage() : malformed;
  }

  AnswerMemory memory() {
    return memory;
  }

  int events() {
    return events;
  }

  /**
   * Whether the answer is complete: the stream sent its terminal event, or every choice has a
   * finish reason. A stream of typed events needs the terminal event.
   */
  public boolean isOver() {
    return done
        || (Arrays.stream(choices).allMatch(choice -> choice.finishReason != null)
            && !(streaming && terminalEvent != null));
  }

  /** Whether the server has sent its last mark: the terminal event, or an error. */
  boolean hasLastMark() {
    return done || error != null;
  }

  /** Whether every choice is settled, and nothing else has to come: a body may be cut then. */
  boolean isSettled() {
    return done || (settled && terminalEvent == null);
  }

  /** Whether every choice is finished, so that the server may leave the body open. */
  boolean isFinished() {
    return settled;
  }

  /** The server has left the body open: an answer that is finished is over without its mark. */
  void leftOpen() {
    done |= settled;
  }

  /** When an answer that has its last mark, or is finished, had come that far. */
  long endedAt() {
    return endedAt;
  }

  @Nullable String terminalEvent() {
    return terminalEvent;
  }

  /** Whether there is one result for each input that has one, and none for another. */
  boolean hasAllResults() {
    return results() == request.results()
        && (results == null || results.length() <= request.inputs());
  }

  int results() {
    return results == null ? 0 : results.cardinality();
  }

  boolean hasTokens() {
    return timeline.count() > 0 || !Arrays.stream(choices).allMatch(GeneratedChoice::isEmpty);
  }

  /** The error that the server reported within a 200 response; null for none. */
  @Nullable String error() {
    for (GeneratedChoice choice : choices) {
      if (error == null && choice.finishStatus() == RequestStatus.IN_STREAM_ERROR) {
        return Sentence.text("server_error", choice.finishReason, null);
      }
    }
    return error;
  }

  /** Whether that error states that a rate limit or a quota is exceeded. */
  boolean isRateLimited() {
    return rateLimited;
  }

  /** Why a part of the data could not be parsed; null where all could. */
  @Nullable String malformed() {
    return malformed;
  }

  public @Nullable String finishReason() {
    return choices[0].finishReason;
  }

  /** Text of the first choice: its content or refusal. */
  public String text() {
    return choices[0].content.text();
  }

  public String reasoning() {
    return choices[0].reasoning.text();
  }

  /** The complete calls: one that is cut off can be neither executed nor sent back. */
  public List<FunctionCall> toolCalls() {
    return choices[0].toolCalls().stream().filter(FunctionCall::isComplete).toList();
  }

  /** All generated text, over all choices and channels. */
  String generated() {
    StringBuilder all = new StringBuilder();
    for (GeneratedChoice choice : choices) {
      choice.addTextTo(all);
    }
    return all.toString();
  }

  public int generatedBytes() {
    return (int) Math.min(Integer.MAX_VALUE, bytes());
  }

  private long bytes() {
    long bytes = 0;
    for (GeneratedChoice choice : choices) {
      bytes += choice.bytes();
    }
    return bytes;
  }

  private boolean hasReasoning() {
    for (GeneratedChoice choice : choices) {
      if (!choice.reasoning.isEmpty()) {
        return true;
      }
    }
    return false;
  }

  /** Whether the server generated tokens without a count, in a text short enough to tokenize. */
  public boolean needsTokenizer() {
    return completionTokens() == null && hasTokens() && bytes() <= MAX_TOKENIZED;
  }

  /** Counts as the server reported them; where the text is too long for a tokenizer, of events. */
  public Tokens tokens() {
    Integer output = completionTokens();
    return output == null && bytes() > MAX_TOKENIZED
        ? tokensByEvents()
        : tokens(output, null, output == null ? null : TokenSource.USAGE);
  }

  /** Counts where the server reported none; slow, so not for an event loop. */
  public Tokens tokensByTokenizer(ToIntFunction<String> tokenizer) {
    Integer output = countLocally(tokenizer);
    return output == null ? tokensByEvents() : tokens(output, output, TokenSource.TOKENIZER);
  }

  /** The tokenizer's count of the generated text; null if it fails, or the text is too long. */
  public @Nullable Integer countLocally(ToIntFunction<String> tokenizer) {
    try {
      return bytes() > MAX_TOKENIZED ? null : tokenizer.applyAsInt(generated());
    } catch (RuntimeException e) {
      return null;
    }
  }

  /** One token per event of a stream, where neither server nor tokenizer counted the output. */
  public Tokens tokensByEvents() {
    return timeline.count() == 0
        ? tokens(null, null, null)
        : tokens(timeline.count(), null, TokenSource.CHUNKS);
  }

  private Tokens tokens(
      @Nullable Integer output, @Nullable Integer local, @Nullable TokenSource source) {
    Integer reasoning = known(counts.reasoning());
    boolean hidden = output != null && reasoning != null && !hasReasoning();
    return new Tokens(
        request.promptChars(),
        known(counts.prompt()),
        null,
        known(counts.cached()),
        null,
        request.maxTokens(),
        output,
        local,
        reasoning,
        hidden ? (Integer) Math.max(0, output - reasoning) : output,
        source != null && source != TokenSource.USAGE,
        source,
        counts.rejected(),
        request.inputs() == 0 ? null : (Integer) request.inputs());
  }

  /**
   * Generated tokens as reported by the server, reasoning included; null where not reported, or
   * reported as 0 although tokens were received.
   */
  public @Nullable Integer completionTokens() {
    return counts.output() == 0 && hasTokens() ? null : known(counts.output());
  }

  /** Tokens of prompt and answer; null where the server did not report both. */
  public @Nullable Long totalTokens() {
    Integer output = completionTokens();
    return counts.prompt() == UNKNOWN || output == null ? null : (long) counts.prompt() + output;
  }

  private static @Nullable Integer known(int count) {
    return count == UNKNOWN ? null : (Integer) count;
  }

  public ServerReport server() {
    return timings.report();
  }

  ReportedTimings timings() {
    return timings;
  }

  private final class ContentCollector implements ChunkListener {

    // State of the current event.
    private int tokenChoice = UNKNOWN;
    private boolean output;
    private int usageInEvent = UNKNOWN;
    private boolean finishInEvent;

    @Override
    public boolean eventBegin(byte[] buffer, int offset, int length) {
      timeline.event(now);
      // Some gateways append [DONE] to streams of typed events.
      if (done && (terminalEvent == null || !ChunkParser.isDone(buffer, offset, length))) {
        timeline.late();
      }
      if (!done && ++events > MAX_EVENTS) {
        throw new TooLarge("events", MAX_EVENTS);
      }
      return !done;
    }

    @Override
    public void answerId(String id) {
      timings.answerId(id);
    }

    @Override
    public void delta(int index, Channel channel, byte[] buffer, int offset, int length) {
      GeneratedChoice choice = choice(index);
      if (choice == null) {
        return;
      }
      choice.resumed |= choice.finishReason != null;
      switch (channel) {
        case CONTENT, REFUSAL, TRANSCRIPT -> choice.content.append(buffer, offset, length);
        case REASONING -> choice.reasoning.append(buffer, offset, length);
        case TOOL_NAME -> choice.callName(buffer, offset, length);
        case TOOL_ARGUMENTS -> choice.callArguments(buffer, offset, length);
      }
      if (tokenChoice != index && tokenChoice != UNKNOWN) {
        flush();
      }
      tokenChoice = index;
      output |=
          channel == Channel.CONTENT
              ? !choice.reasoning.isEmpty()
                  || choice.isOutput(timeline, now, buffer, offset, length)
              : channel != Channel.REASONING;
    }

    @Override
    public void toolCall(int index, int call, String id) {
      GeneratedChoice choice = choice(index);
      if (choice != null) {
        choice.nextCall(call, id);
      }
    }

    @Override
    public void finish(int index, String reason) {
      GeneratedChoice choice = choice(index);
      if (choice != null) {
        choice.finishReason = reason;
        finishInEvent = true;
      }
    }

    /** Null for an index that no answer has. */
    private @Nullable GeneratedChoice choice(int index) {
      if (index < 0 || index >= RequestRecord.MAX_CHOICES) {
        malformed(index < 0 ? "negative_index" : "index");
        return null;
      }
      if (index >= choices.length) {
        grow(index + 1);
      }
      return choices[index];
    }

    @Override
    public void usage(TokenCounts usage) {
      Integer limit = request.maxTokens();
      long max = limit == null ? Long.MAX_VALUE : (long) limit * request.n() * MAX_OVERRUN;
      // A server that ignores the limit is right to count what it sent: a token has a byte or more.
      if (usage.output() > max && usage.output() > bytes()) {
        usage.rejectOutput();
      }
      usageInEvent = counts.add(usage);
      boolean isHidden = counts.reasoning() > 0 && !hasReasoning();
      timeline.counted(usageInEvent, isHidden ? counts.reasoning() : 0);
    }

    @Override
    public void unknownField(String name) {
      timeline.unknownField(name);
    }

    @Override
    public void rateLimited() {
      rateLimited = true;
    }

    @Override
    public void server(String name, double value) {
      timings.add(name, value);
    }

    @Override
    public void error(String message) {
      mark();
      if (error == null || error.equals(ChunkParser.NO_MESSAGE)) {
        error = message;
      }
    }

    @Override
    public void done() {
      mark();
      done = true;
      timeline.done();
    }

    private void mark() {
      endedAt = hasLastMark() ? endedAt : now;
    }

    @Override
    public void result(int input) {
      results = results == null ? new BitSet() : results;
      results.set(Math.min(Math.max(input, 0), MAX_EVENTS));
    }

    @Override
    public void malformed(String why) {
      if (malformed == null) {
        malformed = Sentence.text("malformed", why, RequestRecord.MAX_CHOICES);
      }
    }

    @Override
    public void eventEnd() {
      if (tokenChoice != UNKNOWN) {
        flush();
      }
      if (finishInEvent || settled) {
        settle();
      }
      usageInEvent = UNKNOWN;
    }

    /** A later count or token begins the wait for the end of the body anew. */
    private void settle() {
      boolean is = areSettled();
      if (is && !hasLastMark() && (!settled || usageInEvent != UNKNOWN || finishInEvent)) {
        endedAt = now;
      }
      settled = is;
      finishInEvent = false;
    }

    /** Whether each has a finish reason that can be relied on, though the stream goes on. */
    private boolean areSettled() {
      for (GeneratedChoice choice : choices) {
        if (choice.resumed || choice.finishStatus() == null) {
          return false;
        }
      }
      return true;
    }

    /** Adds an event, with the tokens that the server has counted so far for a single choice. */
    private void flush() {
      if (streaming) {
        timeline.tokens(tokenChoice, now, output, choices.length == 1 ? usageInEvent : UNKNOWN);
      }
      tokenChoice = UNKNOWN;
      output = false;
    }
  }
}
