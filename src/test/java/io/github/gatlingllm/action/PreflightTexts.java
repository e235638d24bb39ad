package io.github.gatlingllm.action;

import io.github.gatlingllm.figures.level.Recorded;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The lines for failed warm-up requests, for the file of all messages. */
public final class PreflightTexts {

  private static final String URL = "http://a:8000/v1/chat/completions";

  private final StringBuilder text = new StringBuilder();

  private PreflightTexts() {}

  /** A line per cause. */
  public static String text() {
    PreflightTexts texts = new PreflightTexts();
    texts.text.append(EndpointCheck.warmUpFailure("vLLM", URL, null)).append('\n');
    for (int status : List.of(400, 401, 404, 405, 413, 418, 500, 503)) {
      texts.add(RequestStatus.HTTP_ERROR, status, "HTTP " + status + ": what the server said");
    }
    texts.add(RequestStatus.RATE_LIMITED, 429, "HTTP 429: what the server said");
    texts.add(
        RequestStatus.CONNECTION_ERROR,
        null,
        "connection refused: is the server running at the endpoint's port?");
    texts.add(RequestStatus.CONNECTION_ERROR, null, "connection reset by the server");
    for (RequestStatus status : RequestStatus.values()) {
      texts.add(status, null, null);
    }
    return texts.text.toString();
  }

  private void add(RequestStatus status, @Nullable Integer http, @Nullable String error) {
    RequestRecord any = Recorded.at(0).record();
    RequestRecord.Outcome outcome =
        new RequestRecord.Outcome(null, http, status, false, error, null, List.of(), false);
    RequestRecord failed =
        new RequestRecord(
            any.identity(),
            any.timing(),
            any.events(),
            any.tokens(),
            outcome,
            any.server(),
            any.text());
    text.append(EndpointCheck.warmUpFailure("vLLM", URL, failed)).append('\n');
  }
}
