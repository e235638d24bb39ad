package io.github.gatlingllm.client;

import io.github.gatlingllm.client.ChunkListener.Channel;
import io.github.gatlingllm.record.RequestRecord.ServerReport;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** Reads chunks and bodies of chat, {@code completions} and {@code embeddings}. */
final class CompletionParser extends ChunkParser {

  /** Servers' names of timings, by the object and the field that hold them. */
  private static final Map<String, Map<String, String>> TIMINGS =
      Map.of(
          "usage", ServerReport.Timing.namesIn("usage"),
          "timings", ServerReport.Timing.namesIn("timings"),
          "metrics", ServerReport.Timing.namesIn("metrics"));

  private boolean indexKnown;

  /** Texts of the current choice, by the name of their field. */
  private final List<Text> delta = new ArrayList<>();

  private final List<Text> text = new ArrayList<>();
  private final List<Text> message = new ArrayList<>();
  private boolean hasDelta;
  private Text finish = NOTHING;

  private int cachedTokens;
  private int reasoningTokens;

  CompletionParser(ChunkListener listener) {
    super(listener, true);
  }

  @Override
  void document() throws IOException {
    for (String field = firstField(); field != null; field = nextField()) {
      switch (field) {
        case "choices" -> choices();
        case "usage" -> usage();
        case "timings", "metrics" -> timings(field);
        case "x_groq" -> groq();
        case "data" -> embeddings();
        case "error", "message", "detail" -> noteError();
        default -> {}
      }
    }
  }

  private void embeddings() throws IOException {
    int vectors = 0;
    for (boolean more = firstElement(); more; more = nextElement()) {
      for (String field = firstField(); field != null; field = nextField()) {
        vectors += field.equals("embedding") ? 1 : 0;
      }
    }
    if (vectors > 0) {
      listener().embeddings(vectors);
    }
  }

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
        pass(hasDelta ? delta : text.isEmpty() ? message : text);
      }
      if (!finish.isEmpty()) {
        listener().finish(index, finish.text().intern());
      }
    }
  }

  /** Fields come in any order: texts before the index are kept until the index is known. */
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
            pass(delta);
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

  private void texts(List<Text> found) throws IOException {
    found.clear();
    for (String field = firstField(); field != null; field = nextField()) {
      switch (field) {
        case "content" -> content(found);
        case "reasoning", "reasoning_content" -> reasoning(found);
        case "refusal" -> add(Channel.REFUSAL, found);
        case "tool_calls" -> toolCalls(found);
        default -> {}
      }
    }
  }

  private void content(List<Text> found) throws IOException {
    add(Channel.CONTENT, found);
    for (boolean more = firstElement(); more; more = nextElement()) {
      for (String field = firstField(); field != null; field = nextField()) {
        if (field.equals("text")) {
          add(Channel.CONTENT, found);
        }
      }
    }
  }

  private void toolCalls(List<Text> found) throws IOException {
    int position = 0;
    for (boolean more = firstElement(); more; more = nextElement()) {
      int first = found.size();
      int callIndex = position++;
      Text id = null;
      for (String field = firstField(); field != null; field = nextField()) {
        switch (field) {
          case "index" -> {
            double number = number();
            callIndex = number >= 0 ? (int) number : callIndex;
          }
          case "id" -> id = isString() ? string(Channel.TOOL_NAME) : id;
          case "function" -> function(found);
          default -> {}
        }
      }
      Call call = new Call(callIndex, id);
      found.subList(first, found.size()).replaceAll(piece -> piece.with(piece.channel(), call));
    }
  }

  private void function(List<Text> found) throws IOException {
    for (String field = firstField(); field != null; field = nextField()) {
      switch (field) {
        case "name" -> add(Channel.TOOL_NAME, found);
        case "arguments" -> add(Channel.TOOL_ARGUMENTS, found);
        default -> {}
      }
    }
  }

  /** Some servers send the same reasoning in two fields. */
  private void reasoning(List<Text> found) {
    if (!isString()) {
      return;
    }
    Text reasoning = string(Channel.REASONING);
    for (Text before : found) {
      if (before.channel() == Channel.REASONING) {
        // The second text decides whether the first one counts twice.
        doNotLearn();
        if (isSame(before, reasoning)) {
          return;
        }
      }
    }
    found.add(reasoning);
  }

  private boolean isSame(Text a, Text b) {
    return Arrays.equals(buffer, a.from(), a.to(), buffer, b.from(), b.to())
        || a.text().equals(b.text());
  }

  private void usage() throws IOException {
    if (!json.isExpectedStartObjectToken()) {
      return;
    }
    int promptTokens = -1;
    int completionTokens = -1;
    cachedTokens = -1;
    reasoningTokens = -1;
    for (String field = firstField(); field != null; field = nextField()) {
      switch (field) {
        case "prompt_tokens" -> promptTokens = count();
        case "completion_tokens" -> completionTokens = count();
        case "prompt_tokens_details", "completion_tokens_details" -> usageDetails();
        default -> {
          usageDetail(field);
          timing("usage", field);
        }
      }
    }
    listener().usage(promptTokens, completionTokens, cachedTokens, reasoningTokens);
  }

  private void usageDetails() throws IOException {
    for (String field = firstField(); field != null; field = nextField()) {
      usageDetail(field);
    }
  }

  /** SGLang has these fields in usage itself, other servers in its details. */
  private void usageDetail(String field) throws IOException {
    switch (field) {
      case "cached_tokens" -> cachedTokens = Math.max(cachedTokens, count());
      case "reasoning_tokens" -> reasoningTokens = Math.max(reasoningTokens, count());
      default -> {}
    }
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
