package io.github.gatlingllm.engine;

/** How an answer goes out: streamed or whole. Belongs to the event loop. */
interface Reply {

  /** The request was accepted. */
  void open();

  /** Its prefill begins. */
  void begin(Usage usage);

  /** More text; ASCII, no escaping needed. Goes out with {@link #flush}. */
  void text(CharSequence text, Usage usage);

  /** The answer is complete. Goes out with {@link #flush}. */
  void finish(String finishReason, Usage usage);

  /** The answer failed. Goes out with {@link #flush}. */
  void fail(Refusal refusal);

  void flush();

  /** Closes the connection, whatever is missing. */
  void cut();
}
