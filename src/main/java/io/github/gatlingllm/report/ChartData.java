package io.github.gatlingllm.report;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.cfg.EnumFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.util.List;
import java.util.Map;

/** What the charts draw, as one JSON object that is safe inside a script element. */
final class ChartData {

  private static final ObjectMapper MAPPER =
      JsonMapper.builder()
          .enable(EnumFeature.WRITE_ENUMS_TO_LOWERCASE)
          .defaultPropertyInclusion(
              JsonInclude.Value.construct(
                  JsonInclude.Include.NON_EMPTY, JsonInclude.Include.ALWAYS))
          .build();

  private ChartData() {}

  static String json(List<Chart> charts) {
    try {
      return inScript(MAPPER.writeValueAsString(Map.of("charts", charts)));
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("Chart data cannot be written as JSON", e);
    }
  }

  /** Escapes what could end a script element, start a comment in it, or end a line of script. */
  static String inScript(String json) {
    return json.replace("<", "\\u003c")
        .replace(">", "\\u003e")
        .replace("\u2028", "\\u2028")
        .replace("\u2029", "\\u2029");
  }
}
