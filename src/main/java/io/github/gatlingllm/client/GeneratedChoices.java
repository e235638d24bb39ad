package io.github.gatlingllm.client;

import io.github.gatlingllm.client.ChunkParser.TextBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The generated text of the choices of one answer, collected while it arrives. Not thread safe. */
final class GeneratedChoices {

  private final AnswerMemory memory;
  private Choice[] choices;

  /** Text of one choice, by channel, and its finish reason. */
  static final class Choice {
    final TextBuffer content;
    final TextBuffer reasoning;
    final ToolCalls tools;
    @Nullable String finishReason;

    private Choice(AnswerMemory memory) {
      content = new TextBuffer(memory);
      reasoning = new TextBuffer(memory);
      tools = new ToolCalls(memory);
    }

    private boolean isEmpty() {
      return content.isEmpty() && reasoning.isEmpty() && tools.isEmpty();
    }
  }

  /**
   * @param expected number of choices requested, ≥ 1
   */
  GeneratedChoices(int expected, AnswerMemory memory) {
    this.memory = memory;
    choices = new Choice[0];
    grow(expected);
  }

  /** The choice with an index, made if the server sends more choices than expected. */
  Choice get(int index) {
    if (index >= choices.length) {
      grow(index + 1);
    }
    return choices[index];
  }

  private void grow(int length) {
    int from = choices.length;
    choices = Arrays.copyOf(choices, length);
    for (int i = from; i < length; i++) {
      choices[i] = new Choice(memory);
    }
  }

  int count() {
    return choices.length;
  }

  /** Whether every choice has a finish reason. */
  boolean areFinished() {
    for (Choice choice : choices) {
      if (choice.finishReason == null) {
        return false;
      }
    }
    return true;
  }

  /** Whether no text was received. */
  boolean areEmpty() {
    for (Choice choice : choices) {
      if (!choice.isEmpty()) {
        return false;
      }
    }
    return true;
  }

  /** Whether any reasoning text was received. */
  boolean haveReasoning() {
    for (Choice choice : choices) {
      if (!choice.reasoning.isEmpty()) {
        return true;
      }
    }
    return false;
  }

  /** All generated text, over all choices and channels. */
  String text() {
    StringBuilder all = new StringBuilder();
    for (Choice choice : choices) {
      all.append(choice.reasoning.text()).append(choice.content.text());
      choice.tools.appendTo(all);
    }
    return all.toString();
  }

  /** Length of {@link #text}, in bytes as received. */
  long bytes() {
    long bytes = 0;
    for (Choice choice : choices) {
      bytes += choice.reasoning.bytes() + choice.content.bytes() + choice.tools.bytes();
    }
    return bytes;
  }
}
