package io.github.gatlingllm.client;

import io.github.gatlingllm.client.AnswerMemory.TooLarge;
import io.github.gatlingllm.client.Api.FunctionCall;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.Timeline;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The generated text of one choice of an answer, collected while it arrives. Not thread safe. */
final class GeneratedChoice {

  private static final int MAX_CALLS = 1_024;

  final AnswerBytes content;
  final AnswerBytes reasoning;
  private final ThinkTag thinkTag = new ThinkTag();
  @Nullable String finishReason;

  /** Tokens came after a finish reason, so this server's do not tell the end of the answer. */
  boolean resumed;

  private final AnswerMemory memory;
  private final List<PartialCall> calls = new ArrayList<>(0);
  private int callIndex;
  private String callId = "";

  GeneratedChoice(AnswerMemory memory) {
    this.memory = memory;
    content = AnswerBytes.ofText(memory);
    reasoning = AnswerBytes.ofText(memory);
  }

  boolean isEmpty() {
    return content.isEmpty() && reasoning.isEmpty() && calls.isEmpty();
  }

  /** Sets the tool call of the next delta; the id is empty where the delta has none. */
  void nextCall(int index, String id) {
    callIndex = index;
    callId = id;
  }

  /** Whether content that arrives now is output, and not part of a thought between tags. */
  boolean isOutput(Timeline timeline, long now, byte[] buffer, int offset, int length) {
    return thinkTag.isOutput(timeline, now, buffer, offset, length);
  }

  /**
   * Adds a piece of a function's name. The index identifies a call. A delta with a used index
   * begins a new call if it has a name and another id: Gemini sends all of its calls with index 0.
   * A delta with another id but without a name continues the call: early versions of vLLM made up
   * an id for each delta. A name that repeats the complete one is ignored.
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
      throw new TooLarge("calls", MAX_CALLS);
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

  /** The status that its finish reason gives the answer; null for none, or one without meaning. */
  @Nullable RequestStatus finishStatus() {
    return finishReason == null ? null : RequestStatus.ofFinishReason(finishReason);
  }

  void addTextTo(StringBuilder all) {
    all.append(reasoning.text()).append(content.text());
    for (PartialCall call : calls) {
      all.append(call.name.text()).append(call.arguments.text());
    }
  }

  long bytes() {
    long bytes = (long) reasoning.length() + content.length();
    for (PartialCall call : calls) {
      bytes += call.name.length() + call.arguments.length();
    }
    return bytes;
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

  /**
   * Tells reasoning apart that a server without a reasoning parser leaves in the text of an answer:
   * {@code <think>…</think>}, also without the opening tag, which some templates put into the
   * prompt. Sees the bytes of JSON strings as they come, so a tag may be split at any byte.
   */
  private static final class ThinkTag {

    private static final byte[] OPEN = {'<', 't', 'h', 'i', 'n', 'k', '>'};
    private static final byte[] CLOSE = {'<', '/', 't', 'h', 'i', 'n', 'k', '>'};

    private static final long NEVER = Long.MIN_VALUE;

    /** What a piece of text is, seen with all before it. */
    private enum Found {
      /** The beginning of what may be a tag. */
      UNDECIDED,
      REASONING,
      OUTPUT,
      /** The closing tag of reasoning that had no opening one: all before it was reasoning. */
      ALL_WAS_REASONING
    }

    private int opening;
    private boolean begun;
    private boolean inside;
    private boolean closed;

    /** Bytes of the closing tag that have come. */
    private int closing;

    /** When text came first that may be the beginning of a tag. */
    private long undecided = NEVER;

    /**
     * Whether text that came is output; tells the timeline where earlier text was taken wrongly.
     */
    boolean isOutput(Timeline timeline, long now, byte[] bytes, int offset, int length) {
      Found found = next(bytes, offset, length);
      if (found == Found.UNDECIDED) {
        undecided = undecided == NEVER ? now : undecided;
        return false;
      }
      if (found == Found.OUTPUT && undecided != NEVER) {
        timeline.outputFrom(undecided);
      } else if (found == Found.ALL_WAS_REASONING) {
        timeline.allWasReasoning();
      }
      undecided = NEVER;
      return found == Found.OUTPUT;
    }

    /** Takes the next bytes, as they stand in a JSON string. */
    private Found next(byte[] bytes, int offset, int length) {
      boolean wasInside = inside;
      boolean hasOutput = false;
      boolean hasClosed = false;
      for (int i = offset; i < offset + length; i++) {
        byte b = bytes[i];
        if (b == '\\' && i + 1 < offset + length) {
          // PHP escapes the slash, Go the brackets; a line feed is white space.
          int step = escape(bytes, i, offset + length);
          b = escaped(bytes, i, step);
          i += step - 1;
        }
        if (!begun && opening == 0 && b <= ' ') {
          continue;
        }
        if (!begun) {
          open(b);
        }
        closing = b == CLOSE[closing] ? closing + 1 : b == '<' ? 1 : 0;
        if (closing == CLOSE.length) {
          closing = 0;
          hasClosed |= !closed;
          closed = true;
          inside = false;
          hasOutput = false;
        } else {
          hasOutput |= begun && !inside && b > ' ';
        }
      }
      if (hasClosed && !wasInside && opening < OPEN.length) {
        return hasOutput ? Found.OUTPUT : Found.ALL_WAS_REASONING;
      }
      return hasOutput ? Found.OUTPUT : begun || inside ? Found.REASONING : Found.UNDECIDED;
    }

    private void open(byte b) {
      if (opening < OPEN.length && b == OPEN[opening]) {
        opening++;
        inside = opening == OPEN.length;
        begun = inside;
      } else {
        begun = true;
      }
    }

    private static int escape(byte[] bytes, int at, int end) {
      return bytes[at + 1] == 'u' && at + 6 <= end ? 6 : 2;
    }

    private static byte escaped(byte[] bytes, int at, int step) {
      if (step == 2) {
        byte b = bytes[at + 1];
        return b == 'n' || b == 't' || b == 'r' ? (byte) ' ' : b;
      }
      boolean isLatin = bytes[at + 2] == '0' && bytes[at + 3] == '0' && bytes[at + 4] == '3';
      return !isLatin ? (byte) '?' : (bytes[at + 5] | 0x20) == 'c' ? (byte) '<' : (byte) '>';
    }
  }
}
