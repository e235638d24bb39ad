package io.github.gatlingllm.engine;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.gatlingllm.client.Api;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A request is rejected with an error response, in the form of OpenAI. */
final class Refusal extends Exception {
  private static final long serialVersionUID = 1;
  private final int status;
  private final @Nullable String param;
  private final @Nullable String code;
  private final Map<String, String> headers;

  private Refusal(
      int status,
      @Nullable String param,
      @Nullable String code,
      Map<String, String> headers,
      String message) {
    super(message, null, false, false);
    this.status = status;
    this.param = param;
    this.code = code;
    this.headers = headers;
  }

  static Refusal badRequest(@Nullable String param, String message) {
    return new Refusal(400, param, null, Map.of(), message);
  }

  static Refusal contextTooLong(int maxContext, int promptTokens, int maxTokens) {
    String message =
        "The context holds %s tokens; prompt %s + max_tokens %s do not fit: shorten one of them"
            .formatted(maxContext, promptTokens, maxTokens);
    return new Refusal(400, "max_tokens", "context_length_exceeded", Map.of(), message);
  }

  static Refusal unauthorized() {
    String message = "Incorrect API key; expected the header 'Authorization: Bearer <key>'";
    return new Refusal(401, null, "invalid_api_key", Map.of("www-authenticate", "Bearer"), message);
  }

  static Refusal unknownModel(String model, String served) {
    String message =
        "The model '%s' does not exist; this engine serves '%s'".formatted(model, served);
    return new Refusal(404, "model", "model_not_found", Map.of(), message);
  }

  static Refusal unknownPath(String path) {
    String message =
        "Unknown path '%s'; expected %s/v1/models"
            .formatted(
                path,
                Api.ALL.stream()
                    .map(api -> "/v1" + api.path() + ", ")
                    .collect(Collectors.joining()));
    return new Refusal(404, null, "unknown_url", Map.of(), message);
  }

  static Refusal wrongMethod(String method, String allowed) {
    String message = "Method %s is not allowed here; expected %s".formatted(method, allowed);
    return new Refusal(405, null, "method_not_allowed", Map.of("allow", allowed), message);
  }

  static Refusal injected(int status) {
    boolean isTemporary = status == 429 || status == 503;
    Map<String, String> headers = isTemporary ? Map.of("retry-after", "1") : Map.of();
    return new Refusal(status, null, "injected_fault", headers, "Injected fault: status " + status);
  }

  int status() {
    return status;
  }

  Map<String, String> headers() {
    return headers;
  }

  /** {@code {"error":{"message":…,"type":…,"param":…,"code":…}}}. */
  String json() {
    String type = status >= 500 ? "server" : status == 429 ? "rate_limit" : "invalid_request";
    ObjectNode refusal = JsonNodeFactory.instance.objectNode();
    refusal
        .putObject("error")
        .put("message", getMessage())
        .put("type", type + "_error")
        .put("param", param)
        .put("code", code);
    return refusal.toString();
  }
}
