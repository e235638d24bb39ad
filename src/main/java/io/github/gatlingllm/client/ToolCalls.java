package io.github.gatlingllm.client;

import io.github.gatlingllm.client.AnswerMemory.TooLarge;
import io.github.gatlingllm.client.ChunkParser.TextBuffer;
import io.github.gatlingllm.client.GenerationRequest.FunctionCall;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The tool calls of one choice, joined from their deltas. Not thread safe.
 *
 * <p>The index identifies a call. A delta with a used index begins a new call if it has a name and
 * another id: Gemini sends all of its calls with index 0. A delta with another id but without a
 * name continues the call: early versions of vLLM made up an id for each delta.
 */
final class ToolCalls {

  /** More calls in one answer are rejected. */
  private static final int MAX_CALLS = 1_024;

  private final AnswerMemory memory;
  private final List<Call> calls = new ArrayList<>(0);
  private int index;
  private String id = "";

  private static final class Call {
    private final int index;
    private String id;
    private final TextBuffer name;
    private final TextBuffer arguments;

    Call(int index, String id, AnswerMemory memory) {
      this.index = index;
      this.id = id;
      name = new TextBuffer(memory);
      arguments = new TextBuffer(memory);
    }
  }

  ToolCalls(AnswerMemory memory) {
    this.memory = memory;
  }

  /** Sets the call of the next delta; the id is empty where the delta has none. */
  void next(int ofIndex, String ofId) {
    index = ofIndex;
    id = ofId;
  }

  void name(byte[] buffer, int offset, int length) {
    Call call = last();
    if (call == null || !(id.isEmpty() || call.id.isEmpty() || call.id.equals(id))) {
      call = begin();
    } else if (isRepeated(call.name, buffer, offset, length)) {
      return;
    }
    call.name.append(buffer, offset, length);
    if (call.id.isEmpty()) {
      call.id = id;
    }
  }

  void arguments(byte[] buffer, int offset, int length) {
    Call call = last();
    (call == null ? begin() : call).arguments.append(buffer, offset, length);
  }

  /** Some servers repeat the name in each delta. */
  private static boolean isRepeated(TextBuffer name, byte[] buffer, int offset, int length) {
    TextBuffer again = new TextBuffer(new AnswerMemory());
    again.append(buffer, offset, length);
    return again.text().equals(name.text());
  }

  /** The latest call with the current index; null for none. */
  private @Nullable Call last() {
    for (int i = calls.size() - 1; i >= 0; i--) {
      if (calls.get(i).index == index) {
        return calls.get(i);
      }
    }
    return null;
  }

  private Call begin() {
    if (calls.size() == MAX_CALLS) {
      throw new TooLarge("more than " + MAX_CALLS + " tool calls");
    }
    Call call = new Call(index, id, memory);
    calls.add(call);
    return call;
  }

  boolean isEmpty() {
    return calls.isEmpty();
  }

  /** Length of names and arguments, in bytes as received. */
  long bytes() {
    long bytes = 0;
    for (Call call : calls) {
      bytes += call.name.bytes() + call.arguments.bytes();
    }
    return bytes;
  }

  /** Appends names and arguments, the text that the model generated. */
  void appendTo(StringBuilder all) {
    for (Call call : calls) {
      all.append(call.name.text()).append(call.arguments.text());
    }
  }

  /** The calls, in the order of their first deltas. */
  List<FunctionCall> calls() {
    List<FunctionCall> all = new ArrayList<>();
    for (Call call : calls) {
      String known = call.id.isEmpty() ? "call_" + all.size() : call.id;
      all.add(new FunctionCall(known, call.name.text(), call.arguments.text()));
    }
    return all;
  }
}
