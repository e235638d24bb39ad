package io.github.gatlingllm.engine;

import java.time.Duration;

/**
 * A fault that the engine injects into a share of the requests. The requests are drawn from the
 * engine's seed and the number of the request, so sequential runs get the same faults each time.
 *
 * <pre>{@code
 * EmbeddedEngine.builder().faults(Fault.reject(429).share(0.1), Fault.cutAfter(5).share(0.05))
 * }</pre>
 *
 * @param effect what happens to the request
 * @param share share of the requests, more than 0, at most 1
 */
public record Fault(Effect effect, double share) {

  public Fault {
    if (!(share > 0 && share <= 1)) {
      throw new IllegalArgumentException(
          "Fault share " + share + " is out of range; expected more than 0, at most 1");
    }
  }

  /** What happens to a request. */
  public sealed interface Effect {

    /** Tokens sent before the fault; 0 for a fault at once. */
    int afterTokens();
  }

  /** An error response instead of an answer; 429 and 503 have {@code Retry-After: 1}. */
  public record Reject(int status) implements Effect {

    @Override
    public int afterTokens() {
      return 0;
    }
  }

  /** The connection is closed before the end of the answer. */
  public record Cut(int afterTokens) implements Effect {}

  /** An error object in the stream, then {@code [DONE]}; status 500 where not streamed. */
  public record Fail(int afterTokens) implements Effect {}

  /** The stream pauses once; tokens generated meanwhile are then sent together. */
  public record Stall(int afterTokens, Duration duration) implements Effect {}

  /** Responds with this status, 400 to 599, and an error body. */
  public static Fault reject(int status) {
    if (status < 400 || status > 599) {
      throw new IllegalArgumentException(
          "Fault status " + status + " is not an error; expected 400 to 599");
    }
    return new Fault(new Reject(status), 1);
  }

  /** Closes the connection after this many tokens, without finish reason or {@code [DONE]}. */
  public static Fault cutAfter(int tokens) {
    return new Fault(new Cut(notNegative(tokens)), 1);
  }

  /** Reports an error inside the stream after this many tokens. */
  public static Fault failAfter(int tokens) {
    return new Fault(new Fail(notNegative(tokens)), 1);
  }

  /** Sends nothing for this long after this many tokens. */
  public static Fault stallAfter(int tokens, Duration duration) {
    return new Fault(new Stall(notNegative(tokens), duration), 1);
  }

  /** The same fault for another share of the requests; leaves the original unmodified. */
  public Fault share(double share) {
    return new Fault(effect, share);
  }

  private static int notNegative(int tokens) {
    if (tokens < 0) {
      throw new IllegalArgumentException("Fault after " + tokens + " tokens; expected 0 or more");
    }
    return tokens;
  }
}
