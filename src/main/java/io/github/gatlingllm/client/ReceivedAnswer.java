package io.github.gatlingllm.client;

import io.github.gatlingllm.client.AnswerMemory.TooLarge;
import io.github.gatlingllm.client.ChunkParser.Channel;
import io.github.gatlingllm.client.ChunkParser.TextBuffer;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.ServerReport;
import io.github.gatlingllm.record.Timeline;
import io.github.gatlingllm.wire.Api;
import io.github.gatlingllm.wire.GenerationRequest.FunctionCall;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the server says, as it comes: texts, finish reasons, usage and errors are kept, and every
 * token-bearing event is put on the {@link Timeline} under the instant of the read that completed
 * it. Not thread safe.
 */
public final class ReceivedAnswer {

  private static final int UNKNOWN = -1;

  /** Instants of events are kept; no server says so much that is worth it. */
  private static final int MOST_EVENTS = 1 << 21;

  private final Timeline timeline;
  private final AnswerMemory memory = new AnswerMemory();
  private final Chunks chunks = new Chunks();
  private final ChunkParser parser;
  private final @Nullable String terminalEvent;
  private final SseDecoder decoder = new SseDecoder(new Events(), memory);

  private ChoiceText[] choices;
  private long now;
  private boolean streaming;

  private int events;
  private boolean done;
  private int embeddings;
  private @Nullable String error;
  private @Nullable String malformed;

  private final SaidCounts counts = new SaidCounts();
  private final SaidTimings timings = new SaidTimings();

  /**
   * @param expectedChoices how many answers were asked for, ≥ 1
   */
  public ReceivedAnswer(Timeline timeline, Api api, int expectedChoices) {
    this.timeline = timeline;
    this.parser = new ChunkParser(api, chunks);
    this.terminalEvent = api.terminalEvent();
    choices = new ChoiceText[expectedChoices];
    Arrays.setAll(choices, i -> new ChoiceText(memory));
  }

  /**
   * Bytes of an event stream that arrived at {@code instant}.
   *
   * @throws TooLarge when the answer holds more than its memory bound
   */
  void stream(long instant, byte[] bytes, int offset, int length) {
    now = instant;
    streaming = true;
    decoder.feed(bytes, offset, length);
  }

  /** The event stream is over; an event without its blank line keeps the instant of its bytes. */
  void endOfStream() {
    try {
      decoder.endOfStream();
    } catch (TooLarge beyond) {
      chunks.malformed(beyond.getMessage());
    }
  }

  /** A whole body that was not streamed. */
  public void body(byte[] bytes, int length) {
    try {
      parser.body(bytes, 0, length);
    } catch (TooLarge beyond) {
      chunks.malformed(beyond.getMessage());
    }
  }

  /** What it may hold while it comes. */
  AnswerMemory memory() {
    return memory;
  }

  /** Events with data so far. */
  int events() {
    return events;
  }

  /**
   * Whether the stream announced its end, or every choice has its finish reason; of streamed typed
   * events only the last one says so.
   */
  public boolean isOver() {
    return done || (isFinished() && !(streaming && terminalEvent != null));
  }

  /** The type of the event that a stream has to end with; null where that has no types. */
  @Nullable String terminalEvent() {
    return terminalEvent;
  }

  /** How many embeddings came. */
  int embeddings() {
    return embeddings;
  }

  private boolean isFinished() {
    for (ChoiceText choice : choices) {
      if (choice.finishReason == null) {
        return false;
      }
    }
    return true;
  }

  /** Whether any token or text came. */
  boolean hasTokens() {
    if (timeline.count() > 0) {
      return true;
    }
    for (ChoiceText choice : choices) {
      if (!choice.isEmpty()) {
        return true;
      }
    }
    return false;
  }

  /** The error that the server reported inside a 200 response. */
  @Nullable String error() {
    return error;
  }

  /** Why some data was not understood. */
  @Nullable String malformed() {
    return malformed;
  }

  /** Of the first choice. */
  public @Nullable String finishReason() {
    return choices[0].finishReason;
  }

  /** Text of the first choice: content, or the refusal. */
  public String text() {
    return choices[0].content.text();
  }

  /** Reasoning of the first choice. */
  public String reasoning() {
    return choices[0].reasoning.text();
  }

  /** The tools that the first choice calls, in the order in which their calls began. */
  public List<FunctionCall> toolCalls() {
    return choices[0].tools.calls();
  }

  /** Everything that was generated, over all choices and channels; what a tokenizer counts. */
  String generated() {
    StringBuilder all = new StringBuilder();
    for (ChoiceText choice : choices) {
      all.append(choice.reasoning.text()).append(choice.content.text());
      choice.tools.appendTo(all);
    }
    return all.toString();
  }

  /** How long {@link #generated()} is, in bytes as they came. */
  long generatedBytes() {
    long bytes = 0;
    for (ChoiceText choice : choices) {
      bytes += choice.reasoning.bytes() + choice.content.bytes() + choice.tools.bytes();
    }
    return bytes;
  }

  /** Whether any reasoning text came over the wire. */
  boolean streamedReasoning() {
    for (ChoiceText choice : choices) {
      if (!choice.reasoning.isEmpty()) {
        return true;
      }
    }
    return false;
  }

  /** The server's count; null when it said nothing. */
  @Nullable Integer promptTokens() {
    return SaidCounts.known(counts.prompt());
  }

  /**
   * The server's count of generated tokens, reasoning included; null when it said nothing, or said
   * 0 though tokens came.
   */
  public @Nullable Integer completionTokens() {
    int said = counts.completion();
    return said == 0 && hasTokens() ? null : SaidCounts.known(said);
  }

  /** Tokens of prompt and answer, by the server's counts; null where it did not say both. */
  public @Nullable Long tokensTaken() {
    Integer ofAnswer = completionTokens();
    Integer ofPrompt = promptTokens();
    return ofPrompt == null || ofAnswer == null ? null : (Long) ((long) ofPrompt + ofAnswer);
  }

  /** Prompt tokens served from the prefix cache; null when the server said nothing. */
  @Nullable Integer cachedTokens() {
    return SaidCounts.known(counts.cached());
  }

  /** The server's count; null when it said nothing. */
  public @Nullable Integer reasoningTokens() {
    return SaidCounts.known(counts.reasoning());
  }

  /** Counts of the server that no answer can have, by name; they are taken as not said. */
  List<String> refusedCounts() {
    return counts.refused();
  }

  /** What the server said about itself. */
  public ServerReport server() {
    return timings.report();
  }

  /** For what it says of itself. */
  SaidTimings timings() {
    return timings;
  }

  private ChoiceText choice(int index) {
    if (index >= choices.length) {
      int from = choices.length;
      choices = Arrays.copyOf(choices, index + 1);
      for (int i = from; i <= index; i++) {
        choices[i] = new ChoiceText(memory);
      }
    }
    return choices[index];
  }

  private static final class ChoiceText {
    private final TextBuffer content;
    private final TextBuffer reasoning;
    private final CalledTools tools;
    private @Nullable String finishReason;

    ChoiceText(AnswerMemory memory) {
      content = new TextBuffer(memory);
      reasoning = new TextBuffer(memory);
      tools = new CalledTools(memory);
    }

    boolean isEmpty() {
      return content.isEmpty() && reasoning.isEmpty() && tools.isEmpty();
    }
  }

  private final class Events implements SseDecoder.Listener {
    @Override
    public void event(@Nullable String type, byte[] buffer, int offset, int length) {
      timeline.event(now);
      if (done) {
        // Some gateways add what ends other streams.
        if (terminalEvent == null || !ChunkParser.isDone(buffer, offset, length)) {
          timeline.late();
        }
        return;
      }
      if (++events > MOST_EVENTS) {
        throw new TooLarge("stream of more than " + MOST_EVENTS + " events");
      }
      parser.event(type, buffer, offset, length);
    }
  }

  private final class Chunks implements ChunkParser.Listener {

    // What the event under way has brought so far.
    private int tokenChoice = UNKNOWN;
    private boolean output;
    private int usageInEvent = UNKNOWN;
    private int tokensBefore;

    @Override
    public void delta(int index, Channel channel, byte[] buffer, int offset, int length) {
      if (isBeyondReason(index)) {
        return;
      }
      ChoiceText choice = choice(index);
      switch (channel) {
        case CONTENT, REFUSAL -> choice.content.append(buffer, offset, length);
        case REASONING -> choice.reasoning.append(buffer, offset, length);
        case TOOL_NAME -> choice.tools.name(buffer, offset, length);
        case TOOL_ARGUMENTS -> choice.tools.arguments(buffer, offset, length);
      }
      if (tokenChoice != index && tokenChoice != UNKNOWN) {
        flush();
      }
      tokenChoice = index;
      output |= channel != Channel.REASONING;
    }

    @Override
    public void toolCall(int index, int call, String id) {
      if (!isBeyondReason(index)) {
        choice(index).tools.next(call, id);
      }
    }

    @Override
    public void finish(int index, String reason) {
      if (!isBeyondReason(index)) {
        choice(index).finishReason = reason;
      }
    }

    private boolean isBeyondReason(int index) {
      if (index >= RequestRecord.MOST_CHOICES) {
        malformed("choice index is " + RequestRecord.MOST_CHOICES + " or more");
        return true;
      }
      return false;
    }

    @Override
    public void usage(int prompt, int completion, int cached, int reasoning) {
      usageInEvent = counts.usage(prompt, completion, cached, reasoning);
    }

    @Override
    public void server(String name, double value) {
      timings.add(name, value);
    }

    @Override
    public void error(String message) {
      if (error == null) {
        error = message;
      }
    }

    @Override
    public void done() {
      done = true;
      timeline.done();
    }

    @Override
    public void embeddings(int count) {
      embeddings = count;
    }

    @Override
    public void malformed(String why) {
      if (malformed == null) {
        malformed = why;
      }
    }

    @Override
    public void eventEnd() {
      if (tokenChoice != UNKNOWN) {
        flush();
      }
      if (timeline.count() == 0) {
        // Counted before the first token came, such as reasoning that is billed and not streamed.
        tokensBefore = Math.max(tokensBefore, usageInEvent);
      }
      usageInEvent = UNKNOWN;
    }

    /**
     * Servers with continuous usage say how many tokens there are so far, with one choice. Tokens
     * whose text was held back (half a character) count with the event that brings it.
     */
    private void flush() {
      if (streaming) {
        boolean counted = choices.length == 1 && usageInEvent > tokensBefore;
        timeline.tokens(tokenChoice, now, output, counted ? usageInEvent - tokensBefore : UNKNOWN);
        tokensBefore = Math.max(tokensBefore, usageInEvent);
      }
      tokenChoice = UNKNOWN;
      output = false;
    }
  }
}
