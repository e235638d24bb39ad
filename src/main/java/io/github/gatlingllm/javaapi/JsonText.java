package io.github.gatlingllm.javaapi;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;

/** JSON that users pass as text, checked where it is written and not when the load runs. */
final class JsonText {

  private static final ObjectMapper JSON = new ObjectMapper();

  private JsonText() {}

  /**
   * The text, if it is a JSON object.
   *
   * @throws IllegalArgumentException in one line that names the setting
   */
  static String object(String setting, String json) {
    try {
      if (JSON.readTree(json).isObject()) {
        return json;
      }
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(
          setting + ": expected a JSON object, got: " + e.getOriginalMessage(), e);
    }
    throw new IllegalArgumentException(setting + ": expected a JSON object, got: " + json);
  }
}
