package io.github.gatlingllm.client;

import io.github.gatlingllm.client.AnswerMemory.TooLarge;
import io.github.gatlingllm.client.ChunkParser.TextBuffer;
import io.github.gatlingllm.wire.GenerationRequest.FunctionCall;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The tool calls of one choice, put together from their deltas. Not thread safe.
 *
 * <p>A call is known by its index. Under the index of an earlier one a call is new where another id
 * comes with a name: Gemini sends all of its calls under index 0. Another id without a name is the
 * same call: early versions of vLLM made one up for each delta.
 */
final class CalledTools {

  /** No model calls so many at once. */
  private static final int MOST = 1_024;

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

  CalledTools(AnswerMemory memory) {
    this.memory = memory;
  }

  /** What comes next is of that call; the id is empty where it was not said. */
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

  /** Some servers say the name with each delta. */
  private static boolean isRepeated(TextBuffer name, byte[] buffer, int offset, int length) {
    TextBuffer again = new TextBuffer(new AnswerMemory());
    again.append(buffer, offset, length);
    return again.text().equals(name.text());
  }

  /** The call of this index that came last; null before there is one. */
  private @Nullable Call last() {
    for (int i = calls.size() - 1; i >= 0; i--) {
      if (calls.get(i).index == index) {
        return calls.get(i);
      }
    }
    return null;
  }

  private Call begin() {
    if (calls.size() == MOST) {
      throw new TooLarge("more than " + MOST + " tool calls");
    }
    Call call = new Call(index, id, memory);
    calls.add(call);
    return call;
  }

  boolean isEmpty() {
    return calls.isEmpty();
  }

  /** How long names and arguments are, in bytes as they came. */
  long bytes() {
    long bytes = 0;
    for (Call call : calls) {
      bytes += call.name.bytes() + call.arguments.bytes();
    }
    return bytes;
  }

  /** Adds names and arguments: what the model generated. */
  void appendTo(StringBuilder all) {
    for (Call call : calls) {
      all.append(call.name.text()).append(call.arguments.text());
    }
  }

  /** In the order in which they began. */
  List<FunctionCall> calls() {
    List<FunctionCall> whole = new ArrayList<>();
    for (Call call : calls) {
      String known = call.id.isEmpty() ? "call_" + whole.size() : call.id;
      whole.add(new FunctionCall(known, call.name.text(), call.arguments.text()));
    }
    return whole;
  }
}
