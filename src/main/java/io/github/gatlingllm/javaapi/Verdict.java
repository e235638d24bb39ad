package io.github.gatlingllm.javaapi;

/**
 * How a request ended, for checks and assertions: {@code llmGlobal().verdict(Verdict.TRUNCATED)}.
 * The constants are those of {@link io.github.gatlingllm.sample.Verdict}, so that a simulation
 * needs no import beside this package.
 */
public final class Verdict {

  /** Every choice had its finish_reason, or the stream said {@code [DONE]}. */
  public static final io.github.gatlingllm.sample.Verdict COMPLETE =
      io.github.gatlingllm.sample.Verdict.COMPLETE;

  /** The stream ended before every choice had its finish_reason, and without {@code [DONE]}. */
  public static final io.github.gatlingllm.sample.Verdict TRUNCATED =
      io.github.gatlingllm.sample.Verdict.TRUNCATED;

  /** The server reported an error inside a stream that had begun with status 200. */
  public static final io.github.gatlingllm.sample.Verdict IN_STREAM_ERROR =
      io.github.gatlingllm.sample.Verdict.IN_STREAM_ERROR;

  /** A status that is neither 2xx nor 429. */
  public static final io.github.gatlingllm.sample.Verdict HTTP_ERROR =
      io.github.gatlingllm.sample.Verdict.HTTP_ERROR;

  /** Status 429. */
  public static final io.github.gatlingllm.sample.Verdict RATE_LIMITED =
      io.github.gatlingllm.sample.Verdict.RATE_LIMITED;

  /** The whole request took longer than the request timeout. */
  public static final io.github.gatlingllm.sample.Verdict TIMEOUT =
      io.github.gatlingllm.sample.Verdict.TIMEOUT;

  /** No byte came for longer than the idle timeout. */
  public static final io.github.gatlingllm.sample.Verdict STALLED =
      io.github.gatlingllm.sample.Verdict.STALLED;

  /** Connecting, TLS, writing or reading failed. */
  public static final io.github.gatlingllm.sample.Verdict CONNECTION_ERROR =
      io.github.gatlingllm.sample.Verdict.CONNECTION_ERROR;

  /** A body that is not what the API promises. */
  public static final io.github.gatlingllm.sample.Verdict INVALID_RESPONSE =
      io.github.gatlingllm.sample.Verdict.INVALID_RESPONSE;

  /** Ended by us before the server did. */
  public static final io.github.gatlingllm.sample.Verdict CANCELLED =
      io.github.gatlingllm.sample.Verdict.CANCELLED;

  /** A well-formed end without a single token. */
  public static final io.github.gatlingllm.sample.Verdict EMPTY =
      io.github.gatlingllm.sample.Verdict.EMPTY;

  private Verdict() {}
}
