package io.github.gatlingllm.record;

import java.util.Locale;

/** How a request ended. Only {@link #COMPLETE} is a success. */
public enum RequestStatus {
  /** Every choice had its finish_reason, or the stream said {@code [DONE]}. */
  COMPLETE,
  /** The stream ended before every choice had its finish_reason, and without {@code [DONE]}. */
  TRUNCATED,
  /** The server reported an error inside a stream that had begun with status 200. */
  IN_STREAM_ERROR,
  /** A status that is neither 2xx nor 429. */
  HTTP_ERROR,
  /** Status 429. */
  RATE_LIMITED,
  /** The whole request took longer than the request timeout. */
  TIMEOUT,
  /** No byte came for longer than the idle timeout. */
  STALLED,
  /** Connecting, TLS, writing or reading failed. */
  CONNECTION_ERROR,
  /** A body that is not what the API promises. */
  INVALID_RESPONSE,
  /** Ended by us before the server did. */
  CANCELLED,
  /** A well-formed end without a single token. */
  EMPTY,
  /** It could not be made, so it was never sent: an attribute is missing, a value not allowed. */
  NOT_BUILT;

  private final String key = name().toLowerCase(Locale.ROOT);

  /** The name used in files: lower case. */
  public String key() {
    return key;
  }
}
