package io.github.gatlingllm.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.io.JsonStringEncoder;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeType;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import com.fasterxml.jackson.databind.node.ValueNode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A text behind a prefix, joined only if it is read, and the JSON of such texts. Escaping prompts
 * of 2,000 tokens took 40 % of the CPU time of their requests, so prompts that are sent again and
 * again are escaped once.
 */
final class JsonText extends ValueNode {

  private static final long serialVersionUID = 1;
  private static final int LONG = 128;
  private static final long MAX_CACHED_BYTES = 16 << 20;

  private static final Map<String, Escaped> CACHE = new ConcurrentHashMap<>();
  private static final AtomicLong CACHED_BYTES = new AtomicLong();

  private final String prefix;
  private final String text;
  private @Nullable String joined;

  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Escaped(byte[] json, int codePoints) {}

  private JsonText(String prefix, String text) {
    this.prefix = prefix;
    this.text = text;
  }

  static JsonNode of(String prefix, String text) {
    return prefix.isEmpty() ? new TextNode(text) : new JsonText(prefix, text);
  }

  static void cache(String text) {
    if (text.length() >= LONG && !CACHE.containsKey(text)) {
      byte[] json = escaped(text);
      if (CACHED_BYTES.addAndGet(json.length + 2L * text.length()) <= MAX_CACHED_BYTES) {
        CACHE.put(text, new Escaped(json, text.codePointCount(0, text.length())));
      }
    }
  }

  private static @Nullable Escaped cached(String text) {
    return text.length() < LONG ? null : CACHE.get(text);
  }

  /** Half a surrogate pair becomes a question mark: servers reject its escape. */
  private static byte[] escaped(String text) {
    return new String(JsonStringEncoder.getInstance().quoteAsString(text)).getBytes(UTF_8);
  }

  static int codePoints(JsonNode text) {
    return text instanceof JsonText joint
        ? codePoints(joint.prefix) + codePoints(joint.text)
        : codePoints(text.textValue());
  }

  private static int codePoints(String text) {
    Escaped known = cached(text);
    return known == null ? text.codePointCount(0, text.length()) : known.codePoints;
  }

  static byte[] bytes(JsonNode json) {
    ByteArrayOutputStream out = new ByteArrayOutputStream(512);
    write(json, out);
    return out.toByteArray();
  }

  private static void write(JsonNode node, ByteArrayOutputStream out) {
    if (node instanceof ObjectNode object) {
      char separator = '{';
      for (Map.Entry<String, JsonNode> field : object.properties()) {
        out.write(separator);
        quote("", field.getKey(), out);
        out.write(':');
        write(field.getValue(), out);
        separator = ',';
      }
      out.writeBytes(object.isEmpty() ? new byte[] {'{', '}'} : new byte[] {'}'});
    } else if (node instanceof ArrayNode array) {
      char separator = '[';
      for (JsonNode element : array) {
        out.write(separator);
        write(element, out);
        separator = ',';
      }
      out.writeBytes(array.isEmpty() ? new byte[] {'[', ']'} : new byte[] {']'});
    } else if (node instanceof JsonText joint) {
      quote(joint.prefix, joint.text, out);
    } else if (node instanceof TextNode) {
      quote("", node.textValue(), out);
    } else {
      out.writeBytes(node.asText().getBytes(UTF_8)); // of a number, true, false or null
    }
  }

  private static void quote(String prefix, String text, ByteArrayOutputStream out) {
    Escaped known = cached(text);
    out.write('"');
    if (!prefix.isEmpty()) {
      out.writeBytes(escaped(prefix));
    }
    out.writeBytes(known == null ? escaped(text) : known.json);
    out.write('"');
  }

  @Override
  public String textValue() {
    String complete = joined;
    if (complete == null) {
      complete = prefix + text;
      joined = complete;
    }
    return complete;
  }

  @Override
  public String asText() {
    return textValue();
  }

  @Override
  public JsonNodeType getNodeType() {
    return JsonNodeType.STRING;
  }

  @Override
  public JsonToken asToken() {
    return JsonToken.VALUE_STRING;
  }

  @Override
  public void serialize(JsonGenerator generator, SerializerProvider provider) throws IOException {
    generator.writeString(textValue());
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof JsonNode node && textValue().equals(node.textValue());
  }

  @Override
  public int hashCode() {
    return textValue().hashCode();
  }
}
