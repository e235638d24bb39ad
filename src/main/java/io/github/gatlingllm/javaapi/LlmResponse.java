package io.github.gatlingllm.javaapi;

import io.github.gatlingllm.action.MeasuredAnswer;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The measured request and the first choice of its answer, for conditions of checks. */
public final class LlmResponse {

  private final MeasuredAnswer answer;

  LlmResponse(MeasuredAnswer answer) {
    this.answer = answer;
  }

  /**
   * A call of a tool by the model: the id that the result must refer to, generated if the server
   * sent none, the name of the function, and the arguments as the model wrote them, usually JSON.
   */
  public record ToolCall(String id, String name, String arguments) {}

  /** The durations of the request, from admission. */
  public RequestRecord.Timing timing() {
    return answer.timing();
  }

  /** The token counts of the request. */
  public RequestRecord.Tokens tokens() {
    return answer.tokens();
  }

  /** How the request ended, without the results of checks. */
  public RequestStatus requestStatus() {
    return answer.requestStatus();
  }

  /** HTTP status; null if there was no response. */
  public @Nullable Integer httpStatus() {
    return answer.httpStatus();
  }

  /** Why the server ended the answer, e.g. {@code stop}; null if it did not state it. */
  public @Nullable String finishReason() {
    return answer.answer().finishReason();
  }

  /** The generated text, without reasoning. */
  public String answer() {
    return answer.answer().text();
  }

  /** The reasoning text; empty if there is none. */
  public String reasoning() {
    return answer.answer().reasoning();
  }

  /** The tool calls of the answer, in order; empty if there is none. */
  public List<ToolCall> toolCalls() {
    return toolCalls(answer);
  }

  static List<ToolCall> toolCalls(MeasuredAnswer answer) {
    return answer.answer().toolCalls().stream()
        .map(call -> new ToolCall(call.id(), call.name(), call.arguments()))
        .toList();
  }
}
