package io.github.gatlingllm.engine;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Typed reading of a request's parameters; null in JSON is as good as absent. */
final class Parameters {
  private final JsonNode json;

  Parameters(JsonNode json) {
    this.json = json;
  }

  /** The parameter as it is; a missing node where it is absent. */
  JsonNode value(String name) {
    return json.path(name);
  }

  private boolean absent(String name) {
    return value(name).isMissingNode() || value(name).isNull();
  }

  @Nullable Integer integer(String name, int min) throws Refusal {
    if (absent(name)) {
      return null;
    }
    JsonNode value = value(name);
    if (!value.isIntegralNumber() || !value.canConvertToInt() || value.intValue() < min) {
      String bound = min == Integer.MIN_VALUE ? "" : " of at least " + min;
      throw Refusal.badRequest(name, name + " is wrong; expected a whole number" + bound);
    }
    return value.intValue();
  }

  int integerOr(String name, int fallback, int min) throws Refusal {
    Integer value = integer(name, min);
    return value == null ? fallback : value;
  }

  boolean flag(String name) throws Refusal {
    if (!absent(name) && !value(name).isBoolean()) {
      throw Refusal.badRequest(name, name + " is wrong; expected true or false");
    }
    return value(name).booleanValue();
  }

  @Nullable String text(String name) throws Refusal {
    if (absent(name)) {
      return null;
    }
    if (!value(name).isTextual()) {
      throw Refusal.badRequest(name, name + " is wrong; expected a text");
    }
    return value(name).textValue();
  }

  /** One text or an array of them; empty texts are dropped. */
  List<String> texts(String name) throws Refusal {
    if (absent(name)) {
      return List.of();
    }
    List<String> texts = new ArrayList<>();
    for (JsonNode each : value(name).isArray() ? value(name) : List.of(value(name))) {
      if (!each.isTextual()) {
        throw Refusal.badRequest(name, name + " is wrong; expected a text or an array of texts");
      }
      if (!each.textValue().isEmpty()) {
        texts.add(each.textValue());
      }
    }
    return List.copyOf(texts);
  }
}
