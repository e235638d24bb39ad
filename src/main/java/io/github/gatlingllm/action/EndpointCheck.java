package io.github.gatlingllm.action;

import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Says what to do about a target whose warm-up request fails. */
final class EndpointCheck {

  private static final Pattern HAS_REMEDY =
      Pattern.compile("\\?$|: check |; use |; set |; add |: raise ");

  private EndpointCheck() {}

  static String warmUpFailure(String target, String url, @Nullable RequestRecord record) {
    String cause = "no answer";
    RequestStatus status = RequestStatus.TIMEOUT;
    Integer http = null;
    if (record != null) {
      RequestRecord.Outcome outcome = record.outcome();
      status = outcome.status();
      http = outcome.httpStatus();
      cause = outcome.error() == null ? status.key() : outcome.error();
    }
    String remedy = HAS_REMEDY.matcher(cause).find() ? "" : remedy(status, http);
    return "LLM warm-up request to %s (%s) failed: %s No load was sent; warmup=0 skips this request"
        .formatted(target, url, (sentence(cause) + sentence(remedy)).stripTrailing());
  }

  private static String sentence(String text) {
    return text.isEmpty() ? "" : text + (text.matches(".*[.?…]") ? " " : ". ");
  }

  private static String remedy(RequestStatus status, @Nullable Integer http) {
    return switch (status) {
      case HTTP_ERROR -> http == null ? "Look at the server's log" : remedy(http);
      case RATE_LIMITED -> "Wait for as long as it says, or have the limit raised";
      case TIMEOUT, STALLED ->
          "Look at the server's log; is it still loading the model? Or allow more time (timeout,"
              + " idleTimeout)";
      case CONNECTION_ERROR -> "Check host, port and scheme (https:// for TLS) of the endpoint";
      case INVALID_RESPONSE, EMPTY, TRUNCATED ->
          "Check that the endpoint is an OpenAI-compatible one, and what lies before it";
      case NOT_BUILT -> "Change the request of the simulation";
      case IN_STREAM_ERROR, CANCELLED, COMPLETE -> "Look at the server's log";
    };
  }

  private static String remedy(int http) {
    return switch (http) {
      case 400, 413, 422 -> "Change what it names: the model, a length, a field of the request";
      case 401, 403 -> "Set the API key: LLM_API_KEY in the environment or in .env, or apiKey";
      case 404 -> "Check the path (most servers expect …/v1) and the name of the model";
      case 405 -> "Check the path: requests are posted to it";
      default ->
          http >= 500
              ? "Look at the server's log; is it still loading the model?"
              : "Check the endpoint: it does not take this request";
    };
  }
}
