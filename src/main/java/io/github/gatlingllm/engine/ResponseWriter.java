package io.github.gatlingllm.engine;

/**
 * How a response goes out: streamed or whole. Choices count from 0. Belongs to the event loop; what
 * is told goes out with {@link #flush}.
 */
interface ResponseWriter {

  /** The request was accepted. */
  void open();

  /** The prefill of a choice begins. */
  void begin(int choice, Usage usage);

  /** More of a choice; ASCII, except for the name of a tool. */
  void text(int choice, GeneratedAnswer.Part part, CharSequence text, Usage usage);

  /** A choice is complete. */
  void finish(int choice, String finishReason, Usage usage);

  /** All choices are complete. */
  void end(Usage usage);

  /** The response failed. */
  void fail(Refusal refusal);

  void flush();

  /** Closes the connection, whatever is missing. */
  void cut();
}
