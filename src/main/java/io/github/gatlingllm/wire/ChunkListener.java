package io.github.gatlingllm.wire;

/**
 * What a {@link ChunkParser} finds. For one event, or one whole body, any number of the other calls
 * come first, then exactly one {@link #eventEnd()}. Called on the thread that feeds the parser; an
 * exception goes through to it.
 */
public interface ChunkListener {

  /**
   * A piece of token-bearing text, never empty.
   *
   * @param choice the choice's {@code index}; 0 where the server sends none
   * @param buffer holds the text as it was sent: UTF-8, JSON escapes not resolved, without quotes;
   *     valid during the call only (a {@link TextBuffer} keeps it)
   */
  void delta(int choice, Channel channel, byte[] buffer, int offset, int length);

  /**
   * A choice is finished; comes after its last delta of the same event.
   *
   * @param reason interned; never empty
   */
  void finish(int choice, String reason);

  /**
   * A usage object, wherever it was found; also one of zeros, and one per chunk where the server
   * sends that. Each count is −1 where absent.
   */
  void usage(int promptTokens, int completionTokens, int cachedTokens, int reasoningTokens);

  /**
   * A timing or count the server reports about this request.
   *
   * @param key {@code queue_s}, {@code prefill_s}, {@code decode_s} (seconds); {@code prompt_n},
   *     {@code cache_n}, {@code predicted_n} (tokens)
   */
  void server(String key, double value);

  /** The server reports an error in place of, or after, an answer: its message in one line. */
  void error(String message);

  /** {@code [DONE]}. */
  void done();

  /**
   * Data that is not a JSON object. What was found before the fault has been reported.
   *
   * @param why constant per cause
   */
  void malformed(String why);

  /** Nothing more comes of this event. */
  void eventEnd();
}
