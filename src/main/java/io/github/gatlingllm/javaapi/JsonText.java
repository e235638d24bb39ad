package io.github.gatlingllm.javaapi;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.gatlingllm.action.InvalidSimulation;

/** JSON that users pass as text, checked where it is written and not when the load runs. */
final class JsonText {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int LONGEST_SHOWN = 60;

  private JsonText() {}

  /**
   * The text, if it is a JSON object.
   *
   * @throws IllegalArgumentException in one line that names the setting
   */
  static String object(String setting, String json) {
    if (isObject(json)) {
      return json;
    }
    String start = json.lines().findFirst().orElse("");
    String shown = start.length() > LONGEST_SHOWN ? start.substring(0, LONGEST_SHOWN) + "…" : start;
    throw InvalidSimulation.because(setting + ": expected a JSON object, got '" + shown + "'");
  }

  private static boolean isObject(String json) {
    try {
      return JSON.readTree(json).isObject();
    } catch (JsonProcessingException malformed) {
      return false;
    }
  }
}
