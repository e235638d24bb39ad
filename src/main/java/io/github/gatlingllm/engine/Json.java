package io.github.gatlingllm.engine;

import com.fasterxml.jackson.annotation.JsonRawValue;
import com.fasterxml.jackson.annotation.JsonValue;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.jspecify.annotations.Nullable;

/** A text that is JSON already: inside other JSON it stands as it is. */
record Json(@JsonRawValue @JsonValue String text) {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  /** A template with {@code '} for quotes and {@code %s} for values, which are written as JSON. */
  static Json of(String template, @Nullable Object... values) {
    StringBuilder text = new StringBuilder(128);
    int value = 0;
    for (int i = 0; i < template.length(); i++) {
      char c = template.charAt(i);
      if (c == '%') {
        text.append(written(values[value++]));
        i++;
      } else if (c != '\n') {
        text.append(c == '\'' ? '"' : c);
      }
    }
    return new Json(text.toString());
  }

  private static String written(@Nullable Object value) {
    try {
      return MAPPER.writeValueAsString(value);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(e);
    }
  }

  /** This object with one more field. */
  Json with(String name, @Nullable Object value) {
    return of("%s,'" + name + "':%s}", new Json(text.substring(0, text.length() - 1)), value);
  }

  @Override
  public String toString() {
    return text;
  }
}
