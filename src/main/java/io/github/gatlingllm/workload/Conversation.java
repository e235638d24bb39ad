package io.github.gatlingllm.workload;

import io.github.gatlingllm.client.Message;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The state of a multi-turn chat, held in the session.
 *
 * @param tokens of all messages as counted with the last answer; 0 if not known
 * @param script the replayed dialog; null if the simulation supplies the prompts
 * @param endReason why no further turn is sent; null while it continues
 */
public record Conversation(
    List<Message> messages,
    int turns,
    int tokens,
    @Nullable Integer contextLimit,
    @Nullable Script script,
    @Nullable String endReason) {

  public Conversation {
    messages = List.copyOf(messages);
  }

  public record Script(List<Dialog.Turn> turns, @Nullable String tools, boolean recorded) {
    public Script {
      turns = List.copyOf(turns);
    }
  }

  /** A conversation that begins with these messages, none of which is an answer. */
  public static Conversation of(Message... messages) {
    return new Conversation(List.of(messages), 0, 0, null, null, null);
  }

  /** A conversation that replays a dialog, with recorded or received answers in its history. */
  public static Conversation of(Dialog dialog, boolean recorded) {
    return new Conversation(
        dialog.opening(), 0, 0, null, new Script(dialog.turns(), dialog.tools(), recorded), null);
  }

  public Conversation withSystem(String text) {
    return new Conversation(
        List.of(Message.system(text)), turns, tokens, contextLimit, script, endReason);
  }

  public Conversation withContextLimit(int limit) {
    return new Conversation(messages, turns, tokens, limit, script, endReason);
  }

  public Conversation ended(String reason) {
    return new Conversation(messages, turns, tokens, contextLimit, script, reason);
  }

  /** The conversation after a failed turn: a script ends, as its next turn needs the answer. */
  public Conversation failed() {
    return script == null || endReason != null
        ? this
        : ended("an earlier turn of its dialog failed");
  }

  public Conversation answered(
      List<Message> asked, Message answer, int promptTokens, int answerTokens) {
    List<Message> recorded = recordedAnswer();
    List<Message> answers = recorded.isEmpty() ? List.of(answer) : recorded;
    int added = recorded.isEmpty() && answerTokens > 0 ? answerTokens : estimated(answers);
    List<Message> longer = new ArrayList<>(messages);
    longer.addAll(asked);
    longer.addAll(answers);
    int known = promptTokens == 0 ? 0 : promptTokens + added;
    return new Conversation(longer, turns + 1, known, contextLimit, script, endReason);
  }

  private List<Message> recordedAnswer() {
    return script != null && script.recorded() && turns < script.turns().size()
        ? script.turns().get(turns).answer()
        : List.of();
  }

  /** The next turn of the script; null at its end, and without a script. */
  public Dialog.@Nullable Turn next() {
    return script == null || turns >= script.turns().size() ? null : script.turns().get(turns);
  }

  public boolean goesOn() {
    return endReason == null && (script == null || turns < script.turns().size());
  }

  /** Why a turn is not sent: the conversation has ended, or might exceed the context limit. */
  public @Nullable String reasonNotToSend(List<Message> asked, @Nullable Integer maxTokens) {
    if (endReason != null || contextLimit == null) {
      return endReason;
    }
    long history = tokens > 0 ? tokens : estimated(messages);
    long needed = history + estimated(asked) + (maxTokens == null ? 0 : maxTokens);
    return needed > contextLimit ? "context limit of " + contextLimit + " tokens reached" : null;
  }

  private static int estimated(List<Message> messages) {
    return Tokenizer.chars4().count(Dialog.texts(messages));
  }
}
