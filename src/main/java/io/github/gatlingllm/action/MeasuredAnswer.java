package io.github.gatlingllm.action;

import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.wire.FunctionCall;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What checks look at: the measured request, and what the first choice of its answer says.
 *
 * @param timing from admission
 * @param requestStatus how the exchange ended, checks aside
 * @param httpStatus null when no response came
 * @param finishReason null when the server gave none
 * @param content what it says, made when it is asked for
 */
public record MeasuredAnswer(
    RequestRecord.Timing timing,
    RequestRecord.Tokens tokens,
    RequestStatus requestStatus,
    @Nullable Integer httpStatus,
    @Nullable String finishReason,
    Content content) {

  /** The parts of an answer that cost something to make. */
  public interface Content {

    /** The generated text, without reasoning. */
    String text();

    /** The reasoning; empty when there was none. */
    String reasoning();

    /** The tools that are called; empty for none. */
    List<FunctionCall> toolCalls();

    /** When its tokens came. */
    RequestRecord.Events events();
  }
}
