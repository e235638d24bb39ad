package io.github.gatlingllm.client;

/**
 * Receives the content of events; each event, or complete body, ends with one {@link #eventEnd()}.
 */
interface ChunkListener {

  /** An event begins; false for one after the end of the answer, which is not read. */
  default boolean eventBegin(byte[] buffer, int offset, int length) {
    return true;
  }

  /** The id of the answer, which most servers repeat in each event; called until one has text. */
  default void answerId(String id) {}

  void delta(int choice, Channel channel, byte[] buffer, int offset, int length);

  /** The tool call of the next {@link #delta} with a name or arguments. */
  void toolCall(int choice, int call, String id);

  /** A choice is finished; called after its last delta of the same event. */
  void finish(int choice, String reason);

  /**
   * A usage object, at any place where servers send one; also an object of zeros, and one per chunk
   * with continuous usage.
   */
  void usage(TokenCounts usage);

  void server(String name, double value);

  /** The next {@link #delta} came in a field that the tables of {@link TextFields} lack. */
  default void unknownField(String name) {}

  /** The next {@link #error} states that a rate limit or a quota is exceeded. */
  default void rateLimited() {}

  /** The server reports an error instead of or after an answer; the message is one line. */
  void error(String message);

  /** {@code [DONE]}, or the terminal event of a stream of typed events. */
  void done();

  default void result(int input) {}

  /**
   * The data is not a JSON object. Anything found before the error has been reported.
   *
   * @param why a case of {@code malformed} in {@code facts.txt}
   */
  void malformed(String why);

  void eventEnd();

  /** The kind of a piece of generated text. All kinds carry tokens; only one is reasoning. */
  enum Channel {
    CONTENT,
    REASONING,
    REFUSAL,
    /** The words of generated sound. */
    TRANSCRIPT,
    TOOL_NAME,
    TOOL_ARGUMENTS;

    boolean isToolCall() {
      return this == TOOL_NAME || this == TOOL_ARGUMENTS;
    }
  }
}
