package io.github.gatlingllm.client;

import io.github.gatlingllm.client.AnswerMemory.TooLarge;
import io.github.gatlingllm.client.Api.FunctionCall;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The generated text of the choices of one answer, collected while it arrives. Not thread safe. */
final class GeneratedChoices {

  private static final int MAX_CALLS = 1_024;

  private final AnswerMemory memory;
  private GeneratedChoice[] choices = {};

  static final class GeneratedChoice {
    final AnswerBytes content;
    final AnswerBytes reasoning;
    final ThinkTag thinkTag = new ThinkTag();
    @Nullable String finishReason;

    /** Tokens came after a finish reason, so this server's do not tell the end of the answer. */
    boolean resumed;

    private final AnswerMemory memory;
    private final List<PartialCall> calls = new ArrayList<>(0);
    private int callIndex;
    private String callId = "";

    private GeneratedChoice(AnswerMemory memory) {
      this.memory = memory;
      content = AnswerBytes.ofText(memory);
      reasoning = AnswerBytes.ofText(memory);
    }

    private boolean isEmpty() {
      return content.isEmpty() && reasoning.isEmpty() && calls.isEmpty();
    }

    /** Sets the tool call of the next delta; the id is empty where the delta has none. */
    void nextCall(int index, String id) {
      callIndex = index;
      callId = id;
    }

    /**
     * Adds a piece of a function's name. The index identifies a call. A delta with a used index
     * begins a new call if it has a name and another id: Gemini sends all of its calls with index
     * 0. A delta with another id but without a name continues the call: early versions of vLLM made
     * up an id for each delta. A name that repeats the complete one is ignored.
     */
    void callName(byte[] buffer, int offset, int length) {
      PartialCall call = lastCall();
      if (call == null || !(callId.isEmpty() || call.id.isEmpty() || call.id.equals(callId))) {
        call = beginCall();
      } else if (AnswerBytes.unescape(buffer, offset, offset + length).equals(call.name.text())) {
        return;
      }
      call.name.append(buffer, offset, length);
      if (call.id.isEmpty()) {
        call.id = callId;
      }
    }

    void callArguments(byte[] buffer, int offset, int length) {
      PartialCall call = lastCall();
      (call == null ? beginCall() : call).arguments.append(buffer, offset, length);
    }

    private @Nullable PartialCall lastCall() {
      for (int i = calls.size() - 1; i >= 0; i--) {
        if (calls.get(i).index == callIndex) {
          return calls.get(i);
        }
      }
      return null;
    }

    private PartialCall beginCall() {
      if (calls.size() == MAX_CALLS) {
        throw new TooLarge("more than " + MAX_CALLS + " tool calls");
      }
      PartialCall call = new PartialCall(callIndex, callId, memory);
      calls.add(call);
      return call;
    }

    List<FunctionCall> toolCalls() {
      List<FunctionCall> all = new ArrayList<>();
      for (PartialCall call : calls) {
        String known = call.id.isEmpty() ? "call_" + all.size() : call.id;
        all.add(new FunctionCall(known, call.name.text(), call.arguments.text()));
      }
      return all;
    }
  }

  private static final class PartialCall {
    private final int index;
    private String id;
    private final AnswerBytes name;
    private final AnswerBytes arguments;

    PartialCall(int index, String id, AnswerMemory memory) {
      this.index = index;
      this.id = id;
      name = AnswerBytes.ofText(memory);
      arguments = AnswerBytes.ofText(memory);
    }
  }

  GeneratedChoices(int expected, AnswerMemory memory) {
    this.memory = memory;
    grow(expected);
  }

  /** Why no answer has a choice of this index; null where one may have it. */
  static @Nullable String impossible(int index) {
    return index < 0
        ? "choice index is negative"
        : index < RequestRecord.MAX_CHOICES
            ? null
            : "choice index is " + RequestRecord.MAX_CHOICES + " or more";
  }

  GeneratedChoice get(int index) {
    if (index >= choices.length) {
      grow(index + 1);
    }
    return choices[index];
  }

  private void grow(int length) {
    int from = choices.length;
    choices = Arrays.copyOf(choices, length);
    for (int i = from; i < length; i++) {
      choices[i] = new GeneratedChoice(memory);
    }
  }

  int count() {
    return choices.length;
  }

  boolean areFinished() {
    return Arrays.stream(choices).allMatch(choice -> choice.finishReason != null);
  }

  /** Whether each has a finish reason that can be relied on, though the stream goes on. */
  boolean areSettled() {
    for (GeneratedChoice choice : choices) {
      if (choice.finishReason == null
          || choice.resumed
          || RequestStatus.ofFinishReason(choice.finishReason) == null) {
        return false;
      }
    }
    return true;
  }

  /** The reason of the first choice that the server gave up; null for none. */
  @Nullable String failure() {
    for (GeneratedChoice choice : choices) {
      if (choice.finishReason != null
          && RequestStatus.ofFinishReason(choice.finishReason) == RequestStatus.IN_STREAM_ERROR) {
        return choice.finishReason;
      }
    }
    return null;
  }

  boolean areEmpty() {
    return Arrays.stream(choices).allMatch(GeneratedChoice::isEmpty);
  }

  boolean haveReasoning() {
    return !Arrays.stream(choices).allMatch(choice -> choice.reasoning.isEmpty());
  }

  String text() {
    StringBuilder all = new StringBuilder();
    for (GeneratedChoice choice : choices) {
      all.append(choice.reasoning.text()).append(choice.content.text());
      for (PartialCall call : choice.calls) {
        all.append(call.name.text()).append(call.arguments.text());
      }
    }
    return all.toString();
  }

  long bytes() {
    long bytes = 0;
    for (GeneratedChoice choice : choices) {
      bytes += choice.reasoning.length() + choice.content.length();
      for (PartialCall call : choice.calls) {
        bytes += call.name.length() + call.arguments.length();
      }
    }
    return bytes;
  }
}
