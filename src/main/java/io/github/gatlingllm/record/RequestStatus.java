package io.github.gatlingllm.record;

/** How a request ended. Only {@link #COMPLETE} is a success. */
public enum RequestStatus implements RunInfo.Keyed {
  /** Every choice had its finish_reason, or {@code [DONE]} came. */
  COMPLETE,
  /** A complete answer that a check of the simulation refuses. */
  CHECK_FAILED,
  /** The stream ended without {@code [DONE]}, and before every choice had its finish_reason. */
  TRUNCATED,
  /** The server reported an error inside a stream with status 200. */
  IN_STREAM_ERROR,
  /** A status that is neither 2xx nor 429. */
  HTTP_ERROR,
  RATE_LIMITED,
  TIMEOUT,
  /** No byte arrived for longer than the idle timeout. */
  STALLED,
  /** Connecting, TLS, writing or reading failed. */
  CONNECTION_ERROR,
  /** The body violates the API. */
  INVALID_RESPONSE,
  /** Cancelled by the load generator before the server ended it. */
  CANCELLED,
  /** Its user left before the server ended it, as the load says ({@code abandonAfter}). */
  ABANDONED,
  /** A well-formed answer without a token. */
  EMPTY,
  /** The request could not be built and was not sent: an attribute is missing or invalid. */
  NOT_BUILT;

  /** Whether this side ended it: no failure, and judged by what was received until then. */
  public boolean isCut() {
    return this == CANCELLED || this == ABANDONED;
  }
}
