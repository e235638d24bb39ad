package io.github.gatlingllm.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The meaning of a chunk, written the plain way over Jackson's tree: slow and easy to check. */
final class TreeReference {

  private static final ObjectMapper JSON =
      new ObjectMapper().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

  private static final Set<String> USAGE =
      Set.of("queue_time", "prompt_time", "completion_time", "total_time");
  private static final Set<String> TIMINGS =
      Set.of(
          "prompt_ms",
          "predicted_ms",
          "predicted_per_token_ms",
          "prompt_n",
          "cache_n",
          "predicted_n");
  private static final Set<String> METRICS =
      Set.of("queue_time_ms", "time_to_first_token_ms", "generation_time_ms", "mean_itl_ms");

  private final List<String> lines = new ArrayList<>();

  private TreeReference() {}

  static boolean isObject(byte[] data) {
    try {
      return JSON.readTree(data).isObject();
    } catch (IOException malformed) {
      return false;
    }
  }

  static List<String> pushes(byte[] data) {
    TreeReference reference = new TreeReference();
    try {
      reference.root(JSON.readTree(data), new String(data, UTF_8));
    } catch (IOException malformed) {
      throw new UncheckedIOException(malformed);
    }
    reference.lines.add("end");
    return reference.lines;
  }

  private void root(JsonNode root, String data) {
    root.properties()
        .forEach(
            field -> {
              switch (field.getKey()) {
                case "choices" -> each(field.getValue()).forEach(this::choice);
                case "usage" -> usage(field.getValue());
                case "timings" -> timings("timings.", TIMINGS, field.getValue());
                case "metrics" -> timings("metrics.", METRICS, field.getValue());
                case "x_groq" -> usage(field.getValue().path("usage"));
                default -> {}
              }
            });
    boolean message =
        Stream.of(root.path("detail"), root.path("message"))
            .anyMatch(node -> says(node) && !node.isObject());
    if (says(root.path("error"))
        || says(root.path("x_groq").path("error"))
        || (message && !root.has("choices"))) {
      byte[] bytes = data.getBytes(UTF_8);
      lines.add("error " + ErrorBody.reported(bytes, 0, bytes.length));
    }
  }

  private static boolean says(JsonNode node) {
    return node.isTextual() ? !node.textValue().isEmpty() : !node.isEmpty();
  }

  private void choice(JsonNode choice) {
    if (!choice.isObject()) {
      return;
    }
    Double said = number(choice.path("index"));
    int index = said == null ? 0 : (int) Math.max(0, said);
    boolean indexKnown = false;
    boolean deltaRead = false;
    for (var field : choice.properties()) {
      switch (field.getKey()) {
        case "index" -> indexKnown = true;
        case "usage" -> usage(field.getValue());
        case "delta" -> {
          if (indexKnown) {
            delta(index, field.getValue());
            deltaRead = true;
          }
        }
        default -> {}
      }
    }
    if (choice.path("delta").isObject()) {
      if (!deltaRead) {
        delta(index, choice.path("delta"));
      }
    } else if (choice.path("text").isTextual()) {
      push("content", index, choice.path("text"));
    } else {
      delta(index, choice.path("message"));
    }
    String reason = choice.path("finish_reason").textValue();
    if (reason != null && !reason.isEmpty()) {
      lines.add("finish[" + index + "] " + reason);
    }
  }

  private void delta(int index, JsonNode delta) {
    if (!delta.isObject()) {
      return;
    }
    @Nullable String firstReasoning = null;
    for (var field : delta.properties()) {
      JsonNode value = field.getValue();
      switch (field.getKey()) {
        case "content" -> {
          push("content", index, value);
          each(value).forEach(part -> push("content", index, part.path("text")));
        }
        case "reasoning", "reasoning_content" -> {
          if (value.isTextual() && !value.textValue().equals(firstReasoning)) {
            push("reasoning", index, value);
            firstReasoning = value.textValue();
          }
        }
        case "refusal" -> push("refusal", index, value);
        case "tool_calls" -> {
          int position = 0;
          for (JsonNode call : each(value)) {
            toolCall(index, position++, call);
          }
        }
        default -> {}
      }
    }
  }

  private void toolCall(int index, int position, JsonNode call) {
    Double said = number(call.path("index"));
    int calling = said == null || !(said >= 0) ? position : said.intValue();
    for (var field : call.path("function").properties()) {
      switch (field.getKey()) {
        case "name" -> toolCall(index, calling, "tool_name", field.getValue());
        case "arguments" -> toolCall(index, calling, "tool_arguments", field.getValue());
        default -> {}
      }
    }
  }

  private void toolCall(int index, int calling, String channel, JsonNode text) {
    if (text.isTextual() && !text.textValue().isEmpty()) {
      String of = index + (calling == 0 ? "" : "." + calling);
      lines.add(channel + "[" + of + "] " + text.textValue());
    }
  }

  private void push(String channel, int index, JsonNode text) {
    if (text.isTextual() && !text.textValue().isEmpty()) {
      lines.add(channel + "[" + index + "] " + text.textValue());
    }
  }

  private void usage(JsonNode usage) {
    if (!usage.isObject()) {
      return;
    }
    int cached = count(usage.path("cached_tokens"));
    int reasoning = count(usage.path("reasoning_tokens"));
    for (String details : List.of("prompt_tokens_details", "completion_tokens_details")) {
      cached = Math.max(cached, count(usage.path(details).path("cached_tokens")));
      reasoning = Math.max(reasoning, count(usage.path(details).path("reasoning_tokens")));
    }
    timings("usage.", USAGE, usage);
    lines.add(
        "usage "
            + count(usage.path("prompt_tokens"))
            + " "
            + count(usage.path("completion_tokens"))
            + " "
            + cached
            + " "
            + reasoning);
  }

  private void timings(String path, Set<String> known, JsonNode timings) {
    for (var field : timings.properties()) {
      Double number = number(field.getValue());
      if (known.contains(field.getKey()) && number != null && number >= 0) {
        lines.add(path + field.getKey() + " " + number);
      }
    }
  }

  private static int count(JsonNode node) {
    Double number = number(node);
    return number == null
        ? -1
        : number >= 0 ? number.intValue() : number < -1 ? Integer.MAX_VALUE : -1;
  }

  private static @Nullable Double number(JsonNode node) {
    try {
      return node.isNumber() || node.isTextual() ? Double.valueOf(node.asText()) : null;
    } catch (NumberFormatException text) {
      return null;
    }
  }

  /** The elements of an array; of anything else, none. */
  private static JsonNode each(JsonNode node) {
    return node.isArray() ? node : JsonNodeFactory.instance.arrayNode();
  }
}
