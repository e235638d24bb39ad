package io.github.gatlingllm.javaapi;

import io.github.gatlingllm.action.LlmChecks.MeasuredAnswer;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What checks look at: the measured request, and what the first choice of its answer says. */
public final class LlmResponse {

  private final MeasuredAnswer answer;

  LlmResponse(MeasuredAnswer answer) {
    this.answer = answer;
  }

  /**
   * A tool that the model calls.
   *
   * @param id what the result has to name; made up where the server gave none
   * @param name of the function
   * @param arguments as the model wrote them: JSON, if it wrote JSON
   */
  public record ToolCall(String id, String name, String arguments) {}

  /** Durations, from admission. */
  public RequestRecord.Timing timing() {
    return answer.timing();
  }

  /** Token counts. */
  public RequestRecord.Tokens tokens() {
    return answer.tokens();
  }

  /** How the exchange ended, checks aside. */
  public RequestStatus requestStatus() {
    return answer.requestStatus();
  }

  /** HTTP status; null when no response came. */
  public @Nullable Integer httpStatus() {
    return answer.httpStatus();
  }

  /** Of the first choice; null when the server gave none. */
  public @Nullable String finishReason() {
    return answer.finishReason();
  }

  /** The generated text, without reasoning. */
  public String answer() {
    return answer.text();
  }

  /** The reasoning text; empty when there was none. */
  public String reasoning() {
    return answer.reasoning();
  }

  /** The tools that the model calls, in order; empty for none. */
  public List<ToolCall> toolCalls() {
    return toolCalls(answer);
  }

  static List<ToolCall> toolCalls(MeasuredAnswer answer) {
    return answer.toolCalls().stream()
        .map(call -> new ToolCall(call.id(), call.name(), call.arguments()))
        .toList();
  }
}
