package io.github.gatlingllm.wire;

import java.util.Arrays;

/**
 * Reads the choices of a chunk or completion: pushes their deltas and finish reasons, and remembers
 * whether one delta was all there was.
 *
 * <p>A choice is read from its {@code delta}, else its {@code text}, else its {@code message}.
 */
final class ChoiceReader {

  private static final byte[] INDEX = JsonScanner.key("index");
  private static final byte[] DELTA = JsonScanner.key("delta");
  private static final byte[] TEXT = JsonScanner.key("text");
  private static final byte[] FINISH_REASON = JsonScanner.key("finish_reason");

  private static final byte[] CONTENT = JsonScanner.key("content");
  private static final byte[] REASONING = JsonScanner.key("reasoning");
  private static final byte[] REASONING_CONTENT = JsonScanner.key("reasoning_content");
  private static final byte[] REFUSAL = JsonScanner.key("refusal");
  private static final byte[] TOOL_CALLS = JsonScanner.key("tool_calls");
  private static final byte[] FUNCTION = JsonScanner.key("function");
  private static final byte[] NAME = JsonScanner.key("name");
  private static final byte[] ARGUMENTS = JsonScanner.key("arguments");

  private static final byte[] MESSAGE = JsonScanner.key("message");
  private static final byte[] USAGE = JsonScanner.key("usage");

  private static final String[] FINISH_REASONS = {
    "stop", "length", "tool_calls", "content_filter", "function_call"
  };
  private static final byte[][] FINISH_REASON_BYTES =
      Arrays.stream(FINISH_REASONS).map(JsonScanner::key).toArray(byte[][]::new);

  private static final int ABSENT = -1;

  private final JsonScanner json;
  private final ChunkListener listener;
  private final UsageReader usage;

  private byte[] buffer = {};

  private int deltas;
  private boolean onlyDeltas;
  private int deltaChoice;
  private Channel deltaChannel = Channel.CONTENT;
  private int deltaFrom;
  private int deltaTo;

  /** The first reasoning text of the current delta: some servers send it under two names. */
  private int reasoningFrom;

  private int reasoningTo;

  ChoiceReader(JsonScanner json, ChunkListener listener, UsageReader usage) {
    this.json = json;
    this.listener = listener;
    this.usage = usage;
  }

  /** Starts a new document; {@code bytes} are the ones the scanner walks. */
  void begin(byte[] bytes) {
    buffer = bytes;
    deltas = 0;
    onlyDeltas = true;
  }

  /** Whether the document's choices gave one delta, nothing else, and nothing hung on its text. */
  boolean foundOneDelta() {
    return deltas == 1 && onlyDeltas;
  }

  /** Teaches the template the document that lies there and {@link #foundOneDelta()}. */
  void teach(Template template, int from, int to) {
    template.learn(buffer, from, deltaFrom, deltaTo, to, deltaChoice, deltaChannel);
  }

  /** Reads the value of {@code choices}. */
  void choices() {
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
        usage.usage();
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
    } else if (repeatsReasoning(from, to)) {
      onlyDeltas = false;
      return;
    }
    push(choice, Channel.REASONING, from, to);
  }

  private boolean repeatsReasoning(int from, int to) {
    if (Arrays.equals(buffer, reasoningFrom, reasoningTo, buffer, from, to)) {
      return true;
    }
    return from < to
        && reasoningFrom < reasoningTo
        && TextBuffer.unescape(buffer, from, to)
            .equals(TextBuffer.unescape(buffer, reasoningFrom, reasoningTo));
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
}
