package io.github.gatlingllm.workload;

import io.github.gatlingllm.client.Api.Message;
import io.github.gatlingllm.workload.Conversation.Dialog;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The recorded prompts of an agent, one after the other, with the answers of the server in the
 * place of the recorded ones. A prompt that does not go on with the one before it, as after a
 * compaction, or after an answer without text, is sent as recorded. So are answers that call tools,
 * because the recorded results name these calls. Confined to one agent.
 */
public final class AnsweredPrompts {

  private List<Message> recorded = List.of();
  private List<Message> sent = List.of();
  private int outputTokens;
  private String answer = "";

  /** The prompt to send instead of the next recorded one. */
  public Dialog next(Dialog next) {
    List<Message> prompt = next.promptMessages();
    List<Message> more = answer.isBlank() ? null : newMessages(prompt, next.inputTokens());
    List<Message> all = new ArrayList<>();
    if (more == null) {
      all.addAll(prompt);
    } else {
      all.addAll(sent);
      all.add(Message.assistant(answer));
      all.addAll(more);
    }
    recorded = prompt;
    sent = List.copyOf(all);
    outputTokens = Objects.requireNonNullElse(next.outputTokens(), 0);
    answer = "";
    return new Dialog(all, next.tools(), next.inputTokens(), next.outputTokens());
  }

  /** The server has answered the prompt that was sent last. */
  public void answered(String text) {
    answer = text;
  }

  /** What a prompt has after the recorded answer to the one before; null where that is unknown. */
  private @Nullable List<Message> newMessages(List<Message> prompt, @Nullable Integer tokens) {
    int common = 0;
    while (common < Math.min(recorded.size(), prompt.size())
        && recorded.get(common).equals(prompt.get(common))) {
      common++;
    }
    if (common == recorded.size()) {
      return common > 0 ? afterAnswer(prompt.subList(common, prompt.size())) : null;
    }
    boolean isOneText =
        common == prompt.size() - 1 && common == recorded.size() - 1 && tokens != null;
    String before = recorded.get(common).content();
    String text = isOneText ? prompt.get(common).content() : null;
    return text == null || before == null ? null : afterTokens(before, text, prompt, tokens);
  }

  private static @Nullable List<Message> afterAnswer(List<Message> more) {
    int answers = 0;
    while (answers < more.size() && more.get(answers).role().equals("assistant")) {
      if (more.get(answers).toolCalls() != null) {
        return null;
      }
      answers++;
    }
    return answers == 0 || answers == more.size() ? null : more.subList(answers, more.size());
  }

  /** Generated texts have no messages: the answer is as many words after the prompt before. */
  private @Nullable List<Message> afterTokens(
      String before, String text, List<Message> prompt, int tokens) {
    int same = 0;
    while (same < Math.min(before.length(), text.length())
        && before.charAt(same) == text.charAt(same)) {
      same++;
    }
    // The last block of a prompt is another one where it was a part of a block.
    if (2 * same < before.length()) {
      return null;
    }
    double wordsPerToken = (double) words(Dialog.texts(prompt)) / tokens;
    long answered = words(before) + Math.round(outputTokens * wordsPerToken);
    int from = 0;
    for (long word = 0; word < answered; word++) {
      from = text.indexOf(' ', from) + 1;
      if (from == 0) {
        return null;
      }
    }
    return List.of(Message.user(text.substring(from)));
  }

  private static long words(String text) {
    return text.isEmpty() ? 0 : 1 + text.chars().filter(c -> c == ' ').count();
  }
}
