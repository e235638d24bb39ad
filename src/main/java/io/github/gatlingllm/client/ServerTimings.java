package io.github.gatlingllm.client;

import io.netty.handler.codec.http.HttpHeaders;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Timings that servers report in response headers, as Text Generation Inference does (in ms). */
final class ServerTimings {

  private static final Map<String, String> HEADERS =
      Map.of(
          "x-queue-time", "queue_s",
          "x-inference-time", "inference_s",
          "x-time-per-token", "time_per_token_s");

  private ServerTimings() {}

  static void read(HttpHeaders headers, ReceivedAnswer answer) {
    HEADERS.forEach(
        (header, key) -> {
          Double millis = number(headers.get(header));
          if (millis != null) {
            answer.server(key, millis / 1_000);
          }
        });
  }

  private static @Nullable Double number(@Nullable String text) {
    try {
      return text == null ? null : Double.valueOf(text.trim());
    } catch (NumberFormatException notANumber) {
      return null;
    }
  }
}
