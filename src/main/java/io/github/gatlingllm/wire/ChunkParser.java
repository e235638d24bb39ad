package io.github.gatlingllm.wire;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Reads the meaning of one event's data, or of a whole body that was not streamed, and pushes what
 * it finds. Builds no tree and no garbage per token; data that repeats the last chunk but for its
 * text is compared instead of parsed ({@link Template}).
 *
 * <p>Tolerant where servers differ: fields in any order, numbers in quotes, unknown fields of any
 * depth. A choice is read from its {@code delta}, else its {@code text}, else its {@code message}.
 * Keeps nothing between events. Not thread safe; one per response.
 */
public final class ChunkParser implements SseDecoder.Listener {

  private static final byte[] DONE = key("[DONE]");

  private static final byte[] CHOICES = key("choices");
  private static final byte[] USAGE = key("usage");
  private static final byte[] X_GROQ = key("x_groq");
  private static final byte[] TIMINGS = key("timings");
  private static final byte[] ERROR = key("error");
  private static final byte[] DETAIL = key("detail");
  private static final byte[] MESSAGE = key("message");

  private static final byte[] INDEX = key("index");
  private static final byte[] DELTA = key("delta");
  private static final byte[] TEXT = key("text");
  private static final byte[] FINISH_REASON = key("finish_reason");

  private static final byte[] CONTENT = key("content");
  private static final byte[] REASONING = key("reasoning");
  private static final byte[] REASONING_CONTENT = key("reasoning_content");
  private static final byte[] REFUSAL = key("refusal");
  private static final byte[] TOOL_CALLS = key("tool_calls");
  private static final byte[] FUNCTION = key("function");
  private static final byte[] NAME = key("name");
  private static final byte[] ARGUMENTS = key("arguments");

  private static final String[] FINISH_REASONS = {
    "stop", "length", "tool_calls", "content_filter", "function_call"
  };
  private static final byte[][] FINISH_REASON_BYTES =
      Arrays.stream(FINISH_REASONS).map(ChunkParser::key).toArray(byte[][]::new);

  private static final int ABSENT = -1;

  private final ChunkListener listener;
  private final UsageReader usage;
  private final JsonScanner json = new JsonScanner();
  private final Template template = new Template();

  private byte[] buffer = {};

  /** What the current event has given so far; one delta alone makes a template. */
  private int deltas;

  private boolean onlyDeltas;
  private int deltaChoice;
  private Channel deltaChannel = Channel.CONTENT;
  private int deltaFrom;
  private int deltaTo;

  /** The first reasoning text of the current delta: some servers send it under two names. */
  private int reasoningFrom;

  private int reasoningTo;

  public ChunkParser(ChunkListener listener) {
    this.listener = listener;
    this.usage = new UsageReader(json, listener);
  }

  /**
   * Reads the data of one event. Empty data means nothing, unless the type is {@code error}.
   *
   * @param type the event's type; only {@code error} makes a difference
   */
  @Override
  public void event(@Nullable String type, byte[] bytes, int offset, int length) {
    int to = offset + length;
    boolean error = "error".equals(type);
    if (!error && template.fits(bytes, offset, to)) {
      listener.delta(
          template.choice(),
          template.channel(),
          bytes,
          offset + template.prefix(),
          length - template.prefix() - template.suffix());
    } else {
      json.reset(bytes, offset, to);
      if (error) {
        listener.error(
            json.atEnd()
                ? "error event without a message"
                : ServerMessage.in(bytes, offset, length));
      } else if (!json.atEnd()) {
        parse(bytes, offset, to);
      }
    }
    listener.eventEnd();
  }

  /** Reads a whole JSON body: a completion, or an error object. */
  public void body(byte[] bytes, int offset, int length) {
    json.reset(bytes, offset, offset + length);
    parse(bytes, offset, offset + length);
    listener.eventEnd();
  }

  private void parse(byte[] bytes, int from, int to) {
    if (isDone(bytes, json.position(), to)) {
      listener.done();
      return;
    }
    buffer = bytes;
    deltas = 0;
    onlyDeltas = true;
    try {
      root(from, to);
      if (deltas == 1 && onlyDeltas) {
        template.learn(bytes, from, deltaFrom, deltaTo, to, deltaChoice, deltaChannel);
      }
    } catch (MalformedJson malformed) {
      listener.malformed(malformed.why());
    }
  }

  private boolean isDone(byte[] bytes, int from, int to) {
    int end = from + DONE.length;
    if (end > to || !Arrays.equals(bytes, from, end, DONE, 0, DONE.length)) {
      return false;
    }
    json.moveTo(end);
    return json.atEnd();
  }

  private void root(int from, int to) {
    if (!json.atObject()) {
      throw MalformedJson.notAnObject();
    }
    boolean choices = false;
    boolean error = false;
    boolean message = false;
    json.enterObject();
    while (json.nextKey()) {
      if (json.keyIs(CHOICES)) {
        choices = true;
        choices();
      } else if (json.keyIs(USAGE)) {
        onlyDeltas &= !usage.usage();
      } else if (json.keyIs(TIMINGS)) {
        onlyDeltas &= !usage.timings();
      } else if (json.keyIs(X_GROQ)) {
        error |= groq();
      } else if (json.keyIs(ERROR)) {
        error |= isSaid();
      } else if (json.keyIs(MESSAGE) || json.keyIs(DETAIL)) {
        message |= isSaid();
      } else {
        json.skip();
      }
    }
    json.expectEnd();
    if (error || (message && !choices)) {
      onlyDeltas = false;
      listener.error(ServerMessage.in(buffer, from, to - from));
    }
  }

  /** Skips a value; whether it is text, an object or an array: null, false and 0 say nothing. */
  private boolean isSaid() {
    boolean said = json.atString() || json.atObject() || json.atArray();
    json.skip();
    return said;
  }

  private boolean groq() {
    boolean error = false;
    if (!json.atObject()) {
      json.skip();
      return false;
    }
    json.enterObject();
    while (json.nextKey()) {
      if (json.keyIs(USAGE)) {
        onlyDeltas &= !usage.usage();
      } else if (json.keyIs(ERROR)) {
        error |= isSaid();
      } else {
        json.skip();
      }
    }
    return error;
  }

  private void choices() {
    if (!json.atArray()) {
      json.skip();
      return;
    }
    json.enterArray();
    while (json.nextElement()) {
      if (json.atObject()) {
        choice();
      } else {
        json.skip();
      }
    }
  }

  /** Fields come in any order, but what they say needs the index: those before it wait. */
  private void choice() {
    int index = ABSENT;
    int deltaAt = ABSENT;
    int textAt = ABSENT;
    int messageAt = ABSENT;
    int finishAt = ABSENT;
    boolean delta = false;
    json.enterObject();
    while (json.nextKey()) {
      if (json.keyIs(INDEX)) {
        index = (int) Math.max(0, json.number());
      } else if (json.keyIs(DELTA) && index >= 0) {
        delta = delta(index);
      } else if (json.keyIs(DELTA)) {
        deltaAt = skipped();
      } else if (json.keyIs(TEXT)) {
        textAt = skipped();
      } else if (json.keyIs(MESSAGE)) {
        messageAt = skipped();
      } else if (json.keyIs(FINISH_REASON)) {
        finishAt = skipped();
      } else if (json.keyIs(USAGE)) {
        onlyDeltas &= !usage.usage();
      } else {
        json.skip();
      }
    }
    int after = json.position();
    int choice = Math.max(0, index);
    if (deltaAt != ABSENT) {
      json.moveTo(deltaAt);
      delta = delta(choice);
    }
    if (!delta && textAt != ABSENT) {
      json.moveTo(textAt);
      delta = text(choice, Channel.CONTENT);
    }
    if (!delta && messageAt != ABSENT) {
      json.moveTo(messageAt);
      delta(choice);
    }
    if (finishAt != ABSENT) {
      json.moveTo(finishAt);
      finish(choice);
    }
    json.moveTo(after);
  }

  /** Skips a value; where it lies. */
  private int skipped() {
    int position = json.position();
    json.skip();
    return position;
  }

  /** Reads a delta or message; whether there was one. */
  private boolean delta(int choice) {
    if (!json.atObject()) {
      json.skip();
      return false;
    }
    reasoningFrom = ABSENT;
    json.enterObject();
    while (json.nextKey()) {
      if (json.keyIs(CONTENT)) {
        content(choice);
      } else if (json.keyIs(REASONING) || json.keyIs(REASONING_CONTENT)) {
        reasoning(choice);
      } else if (json.keyIs(REFUSAL)) {
        text(choice, Channel.REFUSAL);
      } else if (json.keyIs(TOOL_CALLS)) {
        toolCalls(choice);
      } else {
        json.skip();
      }
    }
    return true;
  }

  private void content(int choice) {
    if (!json.atArray()) {
      text(choice, Channel.CONTENT);
      return;
    }
    json.enterArray();
    while (json.nextElement()) {
      textIn(choice, TEXT, Channel.CONTENT);
    }
  }

  /** Reads the text under one key of an object. */
  private void textIn(int choice, byte[] key, Channel channel) {
    if (!json.atObject()) {
      json.skip();
      return;
    }
    json.enterObject();
    while (json.nextKey()) {
      if (json.keyIs(key)) {
        text(choice, channel);
      } else {
        json.skip();
      }
    }
  }

  private void reasoning(int choice) {
    if (!json.atString()) {
      json.skip();
      return;
    }
    json.string();
    int from = json.textFrom();
    int to = json.textTo();
    if (reasoningFrom == ABSENT) {
      reasoningFrom = from;
      reasoningTo = to;
    } else if (Arrays.equals(buffer, reasoningFrom, reasoningTo, buffer, from, to)) {
      onlyDeltas = false;
      return;
    }
    push(choice, Channel.REASONING, from, to);
  }

  private void toolCalls(int choice) {
    if (!json.atArray()) {
      json.skip();
      return;
    }
    json.enterArray();
    while (json.nextElement()) {
      if (!json.atObject()) {
        json.skip();
        continue;
      }
      json.enterObject();
      while (json.nextKey()) {
        if (json.keyIs(FUNCTION) && json.atObject()) {
          function(choice);
        } else {
          json.skip();
        }
      }
    }
  }

  private void function(int choice) {
    json.enterObject();
    while (json.nextKey()) {
      if (json.keyIs(NAME)) {
        text(choice, Channel.TOOL_NAME);
      } else if (json.keyIs(ARGUMENTS)) {
        text(choice, Channel.TOOL_ARGUMENTS);
      } else {
        json.skip();
      }
    }
  }

  /** Pushes a string; anything else is skipped. Whether it was a string. */
  private boolean text(int choice, Channel channel) {
    if (!json.atString()) {
      json.skip();
      return false;
    }
    json.string();
    push(choice, channel, json.textFrom(), json.textTo());
    return true;
  }

  private void push(int choice, Channel channel, int from, int to) {
    if (from == to) {
      return;
    }
    deltas++;
    deltaChoice = choice;
    deltaChannel = channel;
    deltaFrom = from;
    deltaTo = to;
    listener.delta(choice, channel, buffer, from, to - from);
  }

  private void finish(int choice) {
    if (!json.atString()) {
      return;
    }
    json.string();
    int from = json.textFrom();
    int to = json.textTo();
    if (from < to) {
      onlyDeltas = false;
      listener.finish(choice, finishReason(from, to));
    }
  }

  private String finishReason(int from, int to) {
    for (int i = 0; i < FINISH_REASONS.length; i++) {
      byte[] known = FINISH_REASON_BYTES[i];
      if (Arrays.equals(buffer, from, to, known, 0, known.length)) {
        return FINISH_REASONS[i];
      }
    }
    return TextBuffer.unescape(buffer, from, to).intern();
  }

  private static byte[] key(String name) {
    return name.getBytes(StandardCharsets.US_ASCII);
  }
}
