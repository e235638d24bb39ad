package io.github.gatlingllm.record;

import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

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
  /** A status that is neither 2xx nor 429, for another reason than the context length. */
  HTTP_ERROR,
  RATE_LIMITED,
  /** The server refuses what is longer than its context. */
  CONTEXT_EXCEEDED,
  TIMEOUT,
  /** No byte arrived for longer than the idle timeout. */
  STALLED,
  /** Connecting, TLS, writing or reading failed. */
  CONNECTION_ERROR,
  /** The body violates the API. */
  INVALID_RESPONSE,
  /** Cancelled by the load generator before the server ended it. */
  CANCELLED,
  /** Its user left before the server ended it, as the load states ({@code abandonAfter}). */
  ABANDONED,
  /** A well-formed answer without a token. */
  EMPTY,
  /** The request could not be built and was not sent: an attribute is missing or invalid. */
  NOT_BUILT;

  /** The reasons of servers for the end of an answer, in lower case, by what each states of it. */
  private static final Map<String, RequestStatus> BY_FINISH_REASON =
      Stream.of(
              finishes(COMPLETE, "stop, length, tool_calls, function_call, content_filter"),
              finishes(COMPLETE, "end_turn, max_tokens, stop_sequence, tool_use, pause_turn"),
              finishes(COMPLETE, "refusal, completed, complete, max_output_tokens, incomplete"),
              finishes(COMPLETE, "eos, eos_token, word, limit, model_length, safety, sensitive"),
              finishes(COMPLETE, "repetition, model_context_window_exceeded"),
              finishes(IN_STREAM_ERROR, "abort, aborted, cancel, cancelled, canceled, error"),
              finishes(IN_STREAM_ERROR, "failed, failure, timeout, network_error, error_toxic"),
              finishes(IN_STREAM_ERROR, "insufficient_system_resource"))
          .flatMap(reasons -> reasons.entrySet().stream())
          .collect(Collectors.toUnmodifiableMap(Map.Entry::getKey, Map.Entry::getValue));

  private static Map<String, RequestStatus> finishes(RequestStatus status, String reasons) {
    return Stream.of(reasons.split(", ")).collect(Collectors.toMap(r -> r, r -> status));
  }

  /**
   * What a finish reason states of the answer: {@link #COMPLETE}, or {@link #IN_STREAM_ERROR} where
   * the server gave up; null for a reason that no known server has.
   */
  public static @Nullable RequestStatus ofFinishReason(String reason) {
    RequestStatus known = BY_FINISH_REASON.get(reason);
    return known == null ? BY_FINISH_REASON.get(reason.toLowerCase(Locale.ROOT)) : known;
  }

  /** Whether this side ended it: no failure, and judged by what was received until then. */
  public boolean isCut() {
    return this == CANCELLED || this == ABANDONED;
  }

  /** A limit of the load generator, which ended a request that the server did not fail. */
  public enum GeneratorLimit {
    PORTS("no local port left", "share connections, or add local addresses"),
    FILES("too many open files", "raise the limit (ulimit -n) of the load generator"),
    MEMORY("out of memory", "set a larger -Xmx for the load generator, or offer fewer streams");

    private final String what;
    private final String remedy;

    GeneratorLimit(String what, String remedy) {
      this.what = what;
      this.remedy = remedy;
    }

    /** The error of a request that it ended. */
    public String error() {
      return what + ": " + remedy;
    }

    public String what() {
      return what;
    }

    public String remedy() {
      return remedy;
    }

    /** The limit that an error is about, also behind the name of a server; null for none. */
    public static @Nullable GeneratorLimit of(@Nullable String error) {
      return error == null
          ? null
          : Stream.of(values()).filter(l -> error.endsWith(l.error())).findFirst().orElse(null);
    }
  }
}
