package io.github.gatlingllm.action;

import io.github.gatlingllm.client.Api;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RequestStatus.GeneratorLimit;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** What to do where a request before the load has failed. */
final class WarmUpRemedy {

  private static final Pattern IN_CAUSE =
      Pattern.compile("\\?$|^proxy |: check |; use |; set |; add |; take |: raise ");

  /** A server that looks for a model has the path. */
  private static final Pattern NAMES_MODEL =
      Pattern.compile("\\bmodel\\b", Pattern.CASE_INSENSITIVE);

  private WarmUpRemedy() {}

  /** Empty where the cause has one, or is a limit of the load generator. */
  static String of(String url, RequestStatus status, @Nullable Integer http, String cause) {
    boolean isKnown = GeneratorLimit.of(cause) != null || IN_CAUSE.matcher(cause).find();
    return isKnown ? "" : remedy(url, status, http, cause);
  }

  private static String remedy(
      String url, RequestStatus status, @Nullable Integer http, String cause) {
    return switch (status) {
      case HTTP_ERROR -> http == null ? "Look at the server's log" : remedy(url, http, cause);
      case RATE_LIMITED -> "Wait for as long as it says, or have the limit raised";
      case TIMEOUT, STALLED ->
          "Look at the server's log; is it still loading the model? Or allow more time (timeout,"
              + " idleTimeout)";
      case CONNECTION_ERROR ->
          "Check host, port and scheme (https:// for TLS) of the endpoint; waitReady=5m waits for"
              + " it";
      case INVALID_RESPONSE, EMPTY, TRUNCATED ->
          "Check that the endpoint is OpenAI-compatible, and the proxies before it";
      case IN_STREAM_ERROR, CANCELLED, ABANDONED, COMPLETE, CHECK_FAILED, NOT_BUILT ->
          "Look at the server's log";
    };
  }

  private static String remedy(String url, int http, String cause) {
    Api api = Api.ofPath(url);
    return switch (http) {
      case 400, 413, 422 -> "Change what it names: the model, a length, a field of the request";
      case 401, 403 -> "Set the API key: LLM_API_KEY in the environment or in .env, or apiKey";
      case 404 ->
          NAMES_MODEL.matcher(cause).find()
              ? "Check the name of the model"
              : api == null || api.generates() || !url.endsWith("/v1" + api.path())
                  ? "Check the path (most servers expect …/v1) and the name of the model"
                  : "This server or model may have no %s; check the name of the model too"
                      .formatted(api.key());
      case 405 -> "Check the path: requests are posted to it";
      default ->
          http >= 500
              ? "Look at the server's log; is it still loading the model? waitReady=5m waits for it"
              : "Check the endpoint: it does not take this request";
    };
  }
}
