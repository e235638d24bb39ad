package io.github.gatlingllm.action;

import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** What checks look at: the measured request, and its answer's text. */
public final class LlmResponse {

  private final RequestRecord.Timing timing;
  private final RequestRecord.Tokens tokens;
  private final RequestStatus requestStatus;
  private final @Nullable Integer status;
  private final @Nullable String finishReason;
  private final Supplier<String> text;
  private final Supplier<String> reasoning;

  LlmResponse(
      RequestRecord.Timing timing,
      RequestRecord.Tokens tokens,
      RequestStatus requestStatus,
      @Nullable Integer status,
      @Nullable String finishReason,
      Supplier<String> text,
      Supplier<String> reasoning) {
    this.timing = timing;
    this.tokens = tokens;
    this.requestStatus = requestStatus;
    this.status = status;
    this.finishReason = finishReason;
    this.text = text;
    this.reasoning = reasoning;
  }

  /** Durations, from admission. */
  public RequestRecord.Timing timing() {
    return timing;
  }

  /** Token counts. */
  public RequestRecord.Tokens tokens() {
    return tokens;
  }

  /** How the exchange ended, checks aside. */
  public RequestStatus requestStatus() {
    return requestStatus;
  }

  /** HTTP status; null when no response came. */
  public @Nullable Integer status() {
    return status;
  }

  /** Of the first choice; null when the server gave none. */
  public @Nullable String finishReason() {
    return finishReason;
  }

  /** The generated text of the first choice, without reasoning. */
  public String answer() {
    return text.get();
  }

  /** The reasoning text of the first choice; empty when there was none. */
  public String reasoning() {
    return reasoning.get();
  }
}
