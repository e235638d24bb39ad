package io.github.gatlingllm.engine;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A request is rejected with an error response, in the form of OpenAI. */
final class Refusal extends Exception {
  private static final long serialVersionUID = 1;
  private static final String INVALID = "invalid_request_error";

  private final int status;
  private final String type;
  private final @Nullable String param;
  private final @Nullable String code;
  private final @Nullable String allowed;

  private Refusal(
      int status,
      String type,
      @Nullable String param,
      @Nullable String code,
      @Nullable String allowed,
      String message) {
    super(message, null, false, false);
    this.status = status;
    this.type = type;
    this.param = param;
    this.code = code;
    this.allowed = allowed;
  }

  private static Refusal invalid(
      int status, @Nullable String param, @Nullable String code, String message) {
    return new Refusal(status, INVALID, param, code, null, message);
  }

  static Refusal badRequest(@Nullable String param, String message) {
    return invalid(400, param, null, message);
  }

  static Refusal contextTooLong(int maxContext, int promptTokens, int maxTokens) {
    String message =
        "The context holds %s tokens; prompt %s + max_tokens %s do not fit: shorten one of them"
            .formatted(maxContext, promptTokens, maxTokens);
    return invalid(400, "max_tokens", "context_length_exceeded", message);
  }

  static Refusal unauthorized() {
    String message = "Incorrect API key; expected the header 'Authorization: Bearer <key>'";
    return invalid(401, null, "invalid_api_key", message);
  }

  static Refusal unknownModel(String model, String served) {
    String message =
        "The model '%s' does not exist; this engine serves '%s'".formatted(model, served);
    return invalid(404, "model", "model_not_found", message);
  }

  static Refusal unknownPath(String path) {
    String message =
        ("Unknown path '%s'; expected /v1/chat/completions, /v1/completions, /v1/responses,"
                + " /v1/messages, /v1/embeddings or /v1/models")
            .formatted(path);
    return invalid(404, null, "unknown_url", message);
  }

  static Refusal wrongMethod(String method, String allowed) {
    String message = "Method %s is not allowed here; expected %s".formatted(method, allowed);
    return new Refusal(405, INVALID, null, "method_not_allowed", allowed, message);
  }

  static Refusal injected(int status) {
    String type = status >= 500 ? "server_error" : status == 429 ? "rate_limit_error" : INVALID;
    String message = "Injected fault: status " + status;
    return new Refusal(status, type, null, "injected_fault", null, message);
  }

  int status() {
    return status;
  }

  Map<String, String> headers() {
    if (allowed != null) {
      return Map.of("allow", allowed);
    }
    return switch (status) {
      case 401 -> Map.of("www-authenticate", "Bearer");
      case 429, 503 -> Map.of("retry-after", "1");
      default -> Map.of();
    };
  }

  /** {@code {"error":{"message":…,"type":…,"param":…,"code":…}}}. */
  String json() {
    String form = "{'error':{'message':%s,'type':%s,'param':%s,'code':%s}}";
    return Json.of(form, getMessage(), type, param, code).text();
  }
}
