package io.github.gatlingllm.client;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Supplier;

/**
 * Random chunks: known fields with likely and unlikely values, unknown ones between them, in any
 * order, with random white space and escapes.
 */
final class RandomChunks {

  private static final JsonNodeFactory NODES = JsonNodeFactory.instance;
  private static final String[] PIECES = {
    "a", " the", "\"", "\\", "\n", "é", "€", "😀", "\u2028", "/", "{", "}]", "[DONE]", "data: ",
    "\t", "\u0001"
  };

  private final Random random;

  RandomChunks(Random random) {
    this.random = random;
  }

  /** One choice with one piece of content, as nearly every chunk is. */
  ObjectNode plainChunk() {
    ObjectNode delta = NODES.objectNode();
    delta.put(random.nextInt(4) == 0 ? "reasoning" : "content", "x");
    ObjectNode choice = NODES.objectNode();
    choice.put("index", random.nextInt(2)).set("delta", delta);
    choice.putNull("finish_reason");
    ObjectNode chunk = NODES.objectNode();
    chunk.put("id", "chatcmpl-1").put("created", 1).putArray("choices").add(choice);
    maybe(5, chunk, "obfuscation", () -> TextNode.valueOf(text()));
    return random.nextBoolean() ? shuffled(chunk) : chunk;
  }

  /** Anything goes. */
  ObjectNode chunk() {
    ObjectNode chunk = NODES.objectNode();
    maybe(9, chunk, "choices", () -> array(this::choice));
    maybe(2, chunk, "usage", this::usage);
    maybe(1, chunk, "timings", this::timings);
    maybe(1, chunk, "metrics", this::metrics);
    maybe(1, chunk, "x_groq", this::groq);
    maybe(1, chunk, "error", this::error);
    maybe(1, chunk, "message", this::anything);
    maybe(1, chunk, "detail", this::anything);
    maybe(5, chunk, "id", this::anything);
    maybe(5, chunk, "obfuscation", this::anything);
    return shuffled(chunk);
  }

  /** Gives every content text of a chunk, and its obfuscation, another value. */
  void renewTexts(JsonNode node) {
    if (node instanceof ObjectNode object) {
      for (Map.Entry<String, JsonNode> field : object.properties()) {
        boolean varies = List.of("content", "obfuscation").contains(field.getKey());
        if (varies && field.getValue().isTextual()) {
          field.setValue(TextNode.valueOf(text()));
        }
      }
    }
    node.forEach(this::renewTexts);
  }

  /** The chunk as JSON; the same layout gives the same white space and escapes. */
  String text(JsonNode node, int layout) {
    StringBuilder out = new StringBuilder();
    write(node, out, new Random(layout));
    return out.toString();
  }

  /** The same text with one small change, most of the time still JSON. */
  String nearMiss(String text) {
    return switch (random.nextInt(7)) {
      case 0 -> text.replaceFirst("null", "\"stop\"");
      case 1 -> text.replaceFirst("1", "2");
      case 2 -> text + " ";
      case 3 -> " " + text;
      case 4 -> text.substring(0, random.nextInt(text.length()));
      case 5 ->
          text.contains("usage") || text.contains("\\u0075")
              ? text
              : text.replaceFirst("\\{", "{\"usage\":{\"prompt_tokens\":5},");
      default -> text.replaceFirst("\"content\":", "\"Content\":");
    };
  }

  private JsonNode choice() {
    if (random.nextInt(20) == 0) {
      return anything();
    }
    ObjectNode choice = NODES.objectNode();
    maybe(8, choice, "index", () -> number(random.nextInt(3)));
    maybe(8, choice, "delta", this::delta);
    maybe(2, choice, "text", this::maybeText);
    maybe(1, choice, "message", this::delta);
    maybe(5, choice, "finish_reason", this::finishReason);
    maybe(2, choice, "logprobs", this::anything);
    maybe(1, choice, "usage", this::usage);
    return shuffled(choice);
  }

  private JsonNode delta() {
    if (random.nextInt(10) == 0) {
      return anything();
    }
    ObjectNode delta = NODES.objectNode();
    maybe(3, delta, "role", () -> TextNode.valueOf("assistant"));
    maybe(7, delta, "content", random.nextInt(8) == 0 ? this::parts : this::maybeText);
    maybe(3, delta, "reasoning", this::maybeText);
    maybe(
        3,
        delta,
        "reasoning_content",
        () ->
            delta.path("reasoning").isTextual() && random.nextBoolean()
                ? delta.path("reasoning")
                : maybeText());
    maybe(1, delta, "refusal", this::maybeText);
    maybe(2, delta, "tool_calls", () -> array(this::toolCall));
    maybe(1, delta, "unknown", this::anything);
    return shuffled(delta);
  }

  private JsonNode parts() {
    return array(
        () -> {
          ObjectNode part = NODES.objectNode();
          maybe(5, part, "type", () -> TextNode.valueOf("text"));
          maybe(8, part, "text", this::maybeText);
          return random.nextInt(8) == 0 ? anything() : shuffled(part);
        });
  }

  private JsonNode toolCall() {
    ObjectNode function = NODES.objectNode();
    maybe(6, function, "name", this::maybeText);
    maybe(6, function, "arguments", this::maybeText);
    ObjectNode call = NODES.objectNode();
    maybe(5, call, "index", () -> number(random.nextInt(3)));
    maybe(3, call, "id", this::maybeText);
    maybe(9, call, "function", () -> random.nextInt(8) == 0 ? anything() : shuffled(function));
    return random.nextInt(8) == 0 ? anything() : shuffled(call);
  }

  private JsonNode usage() {
    if (random.nextInt(4) == 0) {
      return anything();
    }
    ObjectNode usage = NODES.objectNode();
    for (String key :
        List.of("prompt_tokens", "completion_tokens", "total_tokens", "reasoning_tokens")) {
      maybe(7, usage, key, () -> number(random.nextInt(5000)));
    }
    for (String key : List.of("queue_time", "prompt_time", "completion_time", "total_time")) {
      maybe(2, usage, key, () -> number(random.nextDouble() * 10));
    }
    for (String key : List.of("prompt_tokens_details", "completion_tokens_details")) {
      ObjectNode details = NODES.objectNode();
      maybe(5, details, "cached_tokens", () -> number(random.nextInt(500)));
      maybe(5, details, "reasoning_tokens", () -> number(random.nextInt(500)));
      maybe(3, usage, key, () -> random.nextInt(4) == 0 ? anything() : details);
    }
    return shuffled(usage);
  }

  private JsonNode timings() {
    ObjectNode timings = NODES.objectNode();
    for (String key : List.of("prompt_ms", "predicted_ms", "prompt_n", "cache_n", "predicted_n")) {
      maybe(7, timings, key, () -> number(random.nextDouble() * 1000));
    }
    return random.nextInt(4) == 0 ? anything() : shuffled(timings);
  }

  private JsonNode metrics() {
    ObjectNode metrics = NODES.objectNode();
    for (String key : List.of("queue_time_ms", "time_to_first_token_ms", "tokens_per_second")) {
      maybe(7, metrics, key, () -> number(random.nextDouble() * 1000));
    }
    return random.nextInt(4) == 0 ? anything() : shuffled(metrics);
  }

  private JsonNode groq() {
    ObjectNode groq = NODES.objectNode();
    maybe(7, groq, "usage", this::usage);
    maybe(2, groq, "error", this::maybeText);
    return random.nextInt(4) == 0 ? anything() : groq;
  }

  private JsonNode error() {
    return switch (random.nextInt(3)) {
      case 0 -> maybeText();
      case 1 -> NODES.objectNode().put("message", "bad " + text()).put("code", 500);
      default -> anything();
    };
  }

  private JsonNode finishReason() {
    return switch (random.nextInt(6)) {
      case 0 -> TextNode.valueOf("stop");
      case 1 -> TextNode.valueOf("length");
      case 2 -> maybeText();
      case 3 -> anything();
      default -> NODES.nullNode();
    };
  }

  private JsonNode number(double value) {
    double whole = Math.floor(value);
    return switch (random.nextInt(9)) {
      case 0 -> TextNode.valueOf(String.valueOf((long) value));
      case 1 -> NODES.nullNode();
      case 2 -> NODES.numberNode(-value);
      case 3 -> TextNode.valueOf("");
      default -> whole == value ? NODES.numberNode((long) value) : NODES.numberNode(value);
    };
  }

  private JsonNode maybeText() {
    return switch (random.nextInt(6)) {
      case 0 -> NODES.nullNode();
      case 1 -> TextNode.valueOf("");
      case 2 -> random.nextInt(4) == 0 ? anything() : TextNode.valueOf("x");
      default -> TextNode.valueOf(text());
    };
  }

  private String text() {
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(4); i >= 0; i--) {
      text.append(PIECES[random.nextInt(PIECES.length)]);
    }
    return text.toString();
  }

  private JsonNode anything() {
    return anything(3);
  }

  private JsonNode anything(int depth) {
    return switch (random.nextInt(depth == 0 ? 5 : 7)) {
      case 0 -> NODES.nullNode();
      case 1 -> NODES.booleanNode(random.nextBoolean());
      case 2 -> NODES.numberNode(random.nextInt(1000) - 500);
      case 3 -> NODES.numberNode(random.nextGaussian() * 1e20);
      case 4 -> TextNode.valueOf(text());
      case 5 -> array(() -> anything(depth - 1));
      default -> {
        ObjectNode object = NODES.objectNode();
        for (String key : List.of("choices", "delta", "content", "message", "usage", "index")) {
          maybe(3, object, key, () -> anything(depth - 1));
        }
        yield object;
      }
    };
  }

  private ArrayNode array(Supplier<JsonNode> elements) {
    ArrayNode array = NODES.arrayNode();
    for (int i = random.nextInt(3); i > 0; i--) {
      array.add(elements.get());
    }
    return array;
  }

  /** Sets the field with this chance in ten. */
  private void maybe(int chance, ObjectNode object, String key, Supplier<JsonNode> value) {
    if (random.nextInt(10) < chance) {
      object.set(key, value.get());
    }
  }

  private ObjectNode shuffled(ObjectNode object) {
    List<Map.Entry<String, JsonNode>> fields = new ArrayList<>(object.properties());
    Collections.shuffle(fields, random);
    ObjectNode shuffled = NODES.objectNode();
    fields.forEach(field -> shuffled.set(field.getKey(), field.getValue()));
    return shuffled;
  }

  private static void write(JsonNode node, StringBuilder out, Random layout) {
    space(out, layout);
    if (node.isTextual()) {
      quoted(node.textValue(), out, layout.nextInt(3));
    } else if (node.isContainerNode()) {
      out.append(node.isArray() ? '[' : '{');
      String comma = "";
      if (node.isArray()) {
        for (JsonNode element : node) {
          out.append(comma);
          write(element, out, layout);
          comma = ",";
        }
      } else {
        for (Map.Entry<String, JsonNode> field : node.properties()) {
          out.append(comma);
          space(out, layout);
          quoted(field.getKey(), out, layout.nextInt(20) == 0 ? 2 : 0);
          space(out, layout);
          out.append(':');
          write(field.getValue(), out, layout);
          comma = ",";
        }
      }
      space(out, layout);
      out.append(node.isArray() ? ']' : '}');
    } else {
      out.append(node);
    }
    space(out, layout);
  }

  private static void space(StringBuilder out, Random layout) {
    if (layout.nextInt(8) == 0) {
      out.append(" \n\t\r".charAt(layout.nextInt(4)));
    }
  }

  /** Escapes: 0 only what must be, 1 also the slash and all but ASCII, 2 everything. */
  private static void quoted(String text, StringBuilder out, int escapes) {
    out.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (escapes < 2 && (c == '"' || c == '\\' || (c == '/' && escapes == 1))) {
        out.append('\\').append(c);
      } else if (escapes < 2 && c == '\n') {
        out.append("\\n");
      } else if (c < ' ' || escapes == 2 || (escapes == 1 && c > '~')) {
        out.append(String.format("\\u%04x", (int) c));
      } else {
        out.append(c);
      }
    }
    out.append('"');
  }
}
