package io.github.gatlingllm.action;

import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The line for a failed warm-up request: cause and remedy. */
final class WarmUpFailure {

  /** Causes that include a remedy. */
  private static final Pattern HAS_REMEDY =
      Pattern.compile("\\?$|: check |; use |; set |; add |: raise ");

  private WarmUpFailure() {}

  /**
   * The line for a request that was sent.
   *
   * @param url of the request, without secrets
   * @param record of the request; null where it did not end
   */
  static String line(String target, String url, @Nullable RequestRecord record) {
    String cause =
        record == null
            ? "no answer"
            : record.outcome().error() == null
                ? record.outcome().status().key()
                : record.outcome().error();
    return record == null
        ? line(target, url, cause, RequestStatus.TIMEOUT, null)
        : line(target, url, cause, record.outcome().status(), record.outcome().httpStatus());
  }

  /** The line for a connection that could not be made. */
  static String notConnected(String target, String url, String error) {
    return line(target, url, error, RequestStatus.CONNECTION_ERROR, null);
  }

  private static String line(
      String target, String url, String cause, RequestStatus status, @Nullable Integer http) {
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
