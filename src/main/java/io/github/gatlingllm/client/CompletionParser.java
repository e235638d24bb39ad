package io.github.gatlingllm.client;

import io.github.gatlingllm.client.ChunkListener.Channel;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestRecord.TimingKey;
import java.io.IOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads chunks and bodies of chat and {@code completions}, and what others have in common. */
class CompletionParser extends ChunkParser {

  /** Servers' names of timings, by the object and the field that hold them. */
  private static final Map<String, Map<String, String>> TIMINGS =
      Map.of(
          "usage", TimingKey.namesIn("usage"),
          "timings", TimingKey.namesIn("timings"),
          "metrics", TimingKey.namesIn("metrics"));

  private boolean indexKnown;

  /** Texts of the current choice, by the name of their field. */
  private final List<TextBytes> delta = new ArrayList<>();

  private final List<TextBytes> text = new ArrayList<>();
  private final List<TextBytes> message = new ArrayList<>();
  private boolean hasDelta;
  private TextBytes finish = NOTHING;

  private final List<TextBytes> unknown = new ArrayList<>(0);
  private final TokenCounts usage = new TokenCounts();

  /** Choices whose text came in deltas: a message with it at the end repeats it. */
  private final BitSet inDeltas = new BitSet();

  CompletionParser(ChunkListener listener) {
    super(listener, true);
  }

  @Override
  void document() throws IOException {
    for (String field = firstField(); field != null; field = nextField()) {
      switch (field) {
        case "id" -> answerId();
        case "choices" -> choices();
        case "usage" -> usage();
        case "timings", "metrics" -> timings(field);
        case "x_groq" -> groq();
        case "error", "message", "detail" -> noteError();
        default -> results(field);
      }
    }
  }

  /** A list in which an API that does not generate has its results. */
  void results(String field) throws IOException {}

  private void groq() throws IOException {
    for (String field = firstField(); field != null; field = nextField()) {
      switch (field) {
        case "usage" -> usage();
        case "error" -> noteError();
        default -> {}
      }
    }
  }

  private void choices() throws IOException {
    for (boolean more = firstElement(); more; more = nextElement()) {
      index = 0;
      indexKnown = false;
      hasDelta = false;
      finish = NOTHING;
      delta.clear();
      text.clear();
      message.clear();
      try {
        choice();
      } finally {
        passTexts();
      }
      if (!finish.isEmpty()) {
        listener().finish(index, finish.text().intern());
      }
    }
  }

  private void passTexts() {
    boolean isKnown = index >= 0 && inDeltas.get(index);
    isKnown |= passDelta();
    if (!isKnown) {
      isKnown = !text.isEmpty();
      pass(text);
    }
    if (!isKnown) {
      if (hasDelta && !message.isEmpty()) {
        // Whether the message counts depends on the delta.
        doNotLearn();
      }
      pass(message);
    }
  }

  private boolean passDelta() {
    boolean hasText = false;
    for (TextBytes piece : delta) {
      hasText |= !piece.isEmpty();
    }
    if (hasText && index >= 0 && index < RequestRecord.MAX_CHOICES) {
      inDeltas.set(index);
    }
    pass(delta);
    return hasText;
  }

  /** Fields come in any order: texts before the index are stored until the index is known. */
  private void choice() throws IOException {
    for (String field = firstField(); field != null; field = nextField()) {
      switch (field) {
        case "index" -> {
          index = (int) number();
          indexKnown = true;
        }
        case "delta" -> {
          hasDelta = json.isExpectedStartObjectToken();
          texts(delta);
          if (indexKnown) {
            var unused = passDelta();
          }
        }
        case "message" -> texts(message);
        case "text" -> {
          text.clear();
          add(Channel.CONTENT, text);
        }
        case "finish_reason" -> finish();
        case "usage" -> usage();
        default -> {}
      }
    }
  }

  /** A word, or an object whose type or reason is the word. */
  private void finish() throws IOException {
    if (isString()) {
      finish = string(Channel.CONTENT);
    }
    for (String field = firstField(); field != null; field = nextField()) {
      if ((field.equals("type") || field.equals("reason")) && isString()) {
        finish = string(Channel.CONTENT);
      }
    }
  }

  private void texts(List<TextBytes> found) throws IOException {
    found.clear();
    unknown.clear();
    String unknownField = "";
    for (String field = firstField(); field != null; field = nextField()) {
      @Nullable Channel channel = TextFields.OF_MESSAGE.get(field);
      if (channel == Channel.REASONING) {
        reasoning(found);
      } else if (channel != null) {
        TextFields.add(this, TextFields.OF_MESSAGE, channel, found);
      } else if (field.equals("tool_calls")) {
        toolCalls(found);
      } else if (field.equals("function_call")) {
        call(found);
      } else if (unknown.isEmpty() && TextFields.mayHaveText(field)) {
        TextFields.add(this, TextFields.OF_MESSAGE, Channel.CONTENT, unknown);
        unknown.removeIf(TextBytes::isEmpty);
        unknownField = field;
      }
    }
    if (!unknown.isEmpty() && found.stream().allMatch(TextBytes::isEmpty)) {
      listener().unknownField(unknownField);
      found.addAll(unknown);
    }
  }

  private void toolCalls(List<TextBytes> found) throws IOException {
    int position = 0;
    for (boolean more = firstElement(); more; more = nextElement()) {
      int first = found.size();
      int callIndex = position++;
      TextBytes id = null;
      for (String field = firstField(); field != null; field = nextField()) {
        switch (field) {
          case "index" -> {
            double number = number();
            callIndex = number >= 0 ? (int) number : callIndex;
          }
          case "id" -> id = isString() ? string(Channel.TOOL_NAME) : id;
          case "function", "custom" -> call(found);
          default -> {}
        }
      }
      int call = callIndex;
      TextBytes callId = id;
      found
          .subList(first, found.size())
          .replaceAll(piece -> piece.with(piece.channel(), call, callId));
    }
  }

  private void call(List<TextBytes> found) throws IOException {
    for (String field = firstField(); field != null; field = nextField()) {
      TextFields.addCall(this, field, found);
    }
  }

  /** Some servers send the same reasoning in two fields. */
  private void reasoning(List<TextBytes> found) throws IOException {
    int first = found.size();
    TextFields.add(this, TextFields.OF_MESSAGE, Channel.REASONING, found);
    String before = textOf(found.subList(0, first));
    if (before != null && found.size() > first) {
      // The second text decides whether the first one counts twice.
      doNotLearn();
      List<TextBytes> second = found.subList(first, found.size());
      if (before.equals(textOf(second))) {
        second.clear();
      }
    }
  }

  /** The reasoning among pieces; null for none. */
  private static @Nullable String textOf(List<TextBytes> pieces) {
    StringBuilder text = null;
    for (TextBytes piece : pieces) {
      if (piece.channel() == Channel.REASONING) {
        text = text == null ? new StringBuilder() : text;
        text.append(piece.text());
      }
    }
    return text == null ? null : text.toString();
  }

  private void usage() throws IOException {
    if (!json.isExpectedStartObjectToken()) {
      return;
    }
    usage.clear();
    for (String field = firstField(); field != null; field = nextField()) {
      if (!usage.take(this, field)) {
        timing("usage", field);
      }
    }
    listener().usage(counted(usage.withCache()));
  }

  TokenCounts counted(TokenCounts read) {
    return read;
  }

  private void timings(String object) throws IOException {
    for (String field = firstField(); field != null; field = nextField()) {
      timing(object, field);
    }
  }

  private void timing(String object, String field) throws IOException {
    String name = TIMINGS.get(object).get(field);
    if (name != null) {
      server(name);
    }
  }
}
