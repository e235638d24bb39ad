package io.github.gatlingllm.engine;

import static java.util.Comparator.naturalOrder;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Stream;

/**
 * Generates a random JSON text that matches a schema: every property of an object, a few items of
 * an array, words for strings. Supports type, properties, items, enum, const, anyOf, oneOf (first
 * branch), $ref within the schema, and bounds of lengths and numbers. A schema with any other
 * keyword that restricts the value is rejected.
 */
final class SchemaText {
  private static final int MAX_DEPTH = 32;
  private static final int MAX_SIZE = 100_000;
  private static final int ITEMS = 2;
  private static final int WORDS = 3;
  private static final List<String> REFUSED =
      List.of(
          "allOf",
          "not",
          "if",
          "pattern",
          "multipleOf",
          "patternProperties",
          "propertyNames",
          "minProperties",
          "dependentRequired",
          "dependentSchemas",
          "prefixItems",
          "contains",
          "uniqueItems");
  private static final JsonNodeFactory NODES = JsonNodeFactory.instance;
  private static final JsonMapper ASCII =
      JsonMapper.builder()
          .enable(JsonWriteFeature.ESCAPE_NON_ASCII)
          .enable(JsonGenerator.Feature.WRITE_BIGDECIMAL_AS_PLAIN)
          .build();

  private final JsonNode root;
  private final SplittableRandom random;
  private int nodes;

  private SchemaText(JsonNode root, long seed) {
    this.root = root;
    this.random = new SplittableRandom(seed);
  }

  /** The part of a schema that is not supported. */
  private static final class Unsupported extends RuntimeException {
    private static final long serialVersionUID = 1;

    Unsupported(String what) {
      super(what, null, false, false);
    }
  }

  /**
   * Checks that {@link #of} supports a schema.
   *
   * @throws Refusal 400 where it does not
   */
  static void check(JsonNode schema, String param) throws Refusal {
    try {
      of(schema, 0);
    } catch (Unsupported e) {
      throw Refusal.badRequest(
          param, "The JSON schema cannot be met: " + e.getMessage() + "; use a simpler schema");
    }
  }

  /** JSON in ASCII; the same seed gives the same text. */
  static String of(JsonNode schema, long seed) {
    try {
      return ASCII.writeValueAsString(new SchemaText(schema, seed).value(schema, 0));
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("A JSON tree cannot be written", e);
    }
  }

  private JsonNode value(JsonNode schema, int depth) {
    if (depth > MAX_DEPTH || ++nodes > MAX_SIZE) {
      throw new Unsupported("it nests deeper than " + MAX_DEPTH + " or is too large");
    }
    for (String keyword : REFUSED) {
      if (schema.has(keyword)) {
        throw new Unsupported("this engine does not know " + keyword);
      }
    }
    if (schema.has("$ref")) {
      return value(target(schema.path("$ref").asText()), depth + 1);
    }
    if (schema.has("const")) {
      return schema.path("const");
    }
    if (!schema.path("enum").isEmpty()) {
      return schema.path("enum").path(random.nextInt(schema.path("enum").size()));
    }
    for (String branches : List.of("anyOf", "oneOf")) {
      if (!schema.path(branches).isEmpty()) {
        return value(schema.path(branches).path(0), depth + 1);
      }
    }
    return typed(type(schema), schema, depth);
  }

  private JsonNode typed(String type, JsonNode schema, int depth) {
    return switch (type) {
      case "object" -> object(schema, depth);
      case "array" -> array(schema, depth);
      case "string" -> NODES.textNode(string(schema));
      case "integer" -> NODES.numberNode(integer(schema));
      case "number" -> NODES.numberNode(number(schema));
      case "boolean" -> NODES.booleanNode(random.nextBoolean());
      case "null" -> NODES.nullNode();
      default -> throw new Unsupported("there is no type " + type);
    };
  }

  private static String type(JsonNode schema) {
    JsonNode type = schema.path("type");
    if (type.isArray()) {
      type = type.path(0);
    }
    return type.isTextual()
        ? type.textValue()
        : schema.has("properties") ? "object" : schema.has("items") ? "array" : "string";
  }

  private JsonNode target(String reference) {
    JsonNode target =
        reference.equals("#")
            ? root
            : reference.startsWith("#/") ? root.at(reference.substring(1)) : NODES.missingNode();
    if (!target.isObject()) {
      throw new Unsupported("there is nothing at $ref " + reference);
    }
    return target;
  }

  private ObjectNode object(JsonNode schema, int depth) {
    ObjectNode object = NODES.objectNode();
    List<String> required = schema.path("required").valueStream().map(JsonNode::asText).toList();
    for (Map.Entry<String, JsonNode> property : schema.path("properties").properties()) {
      if (depth < MAX_DEPTH / 4 || required.contains(property.getKey())) {
        object.set(property.getKey(), value(property.getValue(), depth + 1));
      }
    }
    for (String name : required) {
      if (!object.has(name)) {
        throw new Unsupported("property " + name + " is required but not described");
      }
    }
    return object;
  }

  private ArrayNode array(JsonNode schema, int depth) {
    int min = bound(schema, "minItems", 0);
    int max = bound(schema, "maxItems", Integer.MAX_VALUE);
    // Deeper down only required items, so that a recursive schema ends.
    int preferred = depth < MAX_DEPTH / 4 ? ITEMS : 0;
    ArrayNode array = NODES.arrayNode();
    for (int items = within(preferred, min, max); items > 0; items--) {
      array.add(value(schema.path("items"), depth + 1));
    }
    return array;
  }

  private String string(JsonNode schema) {
    int min = bound(schema, "minLength", 0);
    int max = bound(schema, "maxLength", Integer.MAX_VALUE);
    if (min > max || min > MAX_SIZE) {
      throw new Unsupported("no string has a length from " + min + " to " + max);
    }
    StringBuilder text = new StringBuilder();
    for (int words = 0; words < WORDS || text.length() < min; words++) {
      text.append(words == 0 ? "" : " ").append(Vocabulary.word(random.nextLong()));
    }
    text.setLength(Math.min(text.length(), Math.max(min, max)));
    return text.toString();
  }

  private long integer(JsonNode schema) {
    Bounds bounds = Bounds.of(schema);
    BigDecimal low = bounds.low().setScale(0, RoundingMode.CEILING);
    BigDecimal high = bounds.high().setScale(0, RoundingMode.FLOOR);
    if (Bounds.isBound(schema, "exclusiveMinimum", low)) {
      low = low.add(BigDecimal.ONE);
    }
    if (Bounds.isBound(schema, "exclusiveMaximum", high)) {
      high = high.subtract(BigDecimal.ONE);
    }
    if (low.compareTo(high) > 0) {
      throw new Unsupported("no integer lies from " + low + " to " + high);
    }
    return low.add(share(high.subtract(low)).setScale(0, RoundingMode.FLOOR)).longValue();
  }

  private BigDecimal number(JsonNode schema) {
    Bounds bounds = Bounds.of(schema);
    int order = bounds.low().compareTo(bounds.high());
    boolean excluded =
        Bounds.isBound(schema, "exclusiveMinimum", bounds.low())
            || Bounds.isBound(schema, "exclusiveMaximum", bounds.high());
    if (order > 0 || (order == 0 && excluded)) {
      throw new Unsupported("no number lies from " + bounds.low() + " to " + bounds.high());
    }
    // Strictly between the bounds, unless they are equal.
    return bounds.low().add(share(bounds.high().subtract(bounds.low()))).stripTrailingZeros();
  }

  /** A random part of a span, above 0 and below the whole. */
  private BigDecimal share(BigDecimal span) {
    return span.multiply(BigDecimal.valueOf(1 + random.nextInt(999), 3));
  }

  private static int bound(JsonNode schema, String name, int fallback) {
    return schema.path(name).asInt(fallback);
  }

  private static int within(int preferred, int min, int max) {
    if (min > max) {
      throw new Unsupported("nothing has from " + min + " to " + max + " items");
    }
    return Math.max(min, Math.min(max, preferred));
  }

  /** Bounds of a number; 100 apart where the schema sets only one of them, or none. */
  private record Bounds(BigDecimal low, BigDecimal high) {
    private static final BigDecimal SPAN = BigDecimal.valueOf(100);

    static Bounds of(JsonNode schema) {
      BigDecimal low =
          decimals(schema, "minimum", "exclusiveMinimum").max(naturalOrder()).orElse(null);
      BigDecimal high =
          decimals(schema, "maximum", "exclusiveMaximum").min(naturalOrder()).orElse(null);
      if (low == null) {
        low = high == null || high.compareTo(SPAN) >= 0 ? BigDecimal.ZERO : high.subtract(SPAN);
      }
      return new Bounds(low, high == null ? low.add(SPAN) : high);
    }

    static boolean isBound(JsonNode schema, String name, BigDecimal value) {
      return decimals(schema, name).anyMatch(bound -> bound.compareTo(value) == 0);
    }

    private static Stream<BigDecimal> decimals(JsonNode schema, String... names) {
      return Stream.of(names)
          .map(schema::path)
          .filter(JsonNode::isNumber)
          .map(JsonNode::decimalValue);
    }
  }
}
