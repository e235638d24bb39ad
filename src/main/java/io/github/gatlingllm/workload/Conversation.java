package io.github.gatlingllm.workload;

import io.github.gatlingllm.wire.GenerationRequest.Message;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The history of a multi-turn chat. Kept in the session; immutable.
 *
 * @param messages in order, the system's first where there is one
 * @param turns how many answers there were
 * @param tokens of all messages so far, as counted with the last answer; 0 where not known
 * @param contextLimit tokens that a request and its answer may have together; null for no limit
 * @param script the dialog that is replayed; null where the simulation writes the prompts
 * @param endReason why nothing more is asked: a turn did not fit, or one of a script's failed; null
 *     while it goes on
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

  /**
   * A recorded dialog that is replayed.
   *
   * @param turns what is asked, in order
   * @param tools definitions of the tools the model can call, a JSON array; null for none
   * @param recorded whether recorded answers join the history, where there are any, in place of
   *     those that came
   */
  public record Script(List<Dialog.Turn> turns, @Nullable String tools, boolean recorded) {
    public Script {
      turns = List.copyOf(turns);
    }
  }

  /** One that begins with these messages, none of them an answer. */
  public static Conversation of(Message... messages) {
    return new Conversation(List.of(messages), 0, 0, null, null, null);
  }

  /**
   * One that replays a recorded dialog.
   *
   * @param recorded whether recorded answers join the history in place of those that came
   */
  public static Conversation of(Dialog dialog, boolean recorded) {
    return new Conversation(
        dialog.opening(), 0, 0, null, new Script(dialog.turns(), dialog.tools(), recorded), null);
  }

  /** The same, with these messages of the system in place of any before. */
  public Conversation withSystem(String text) {
    return new Conversation(
        List.of(Message.system(text)), turns, tokens, contextLimit, script, endReason);
  }

  /** The same, for a model that takes no more than so many tokens, answer included. */
  public Conversation withContextLimit(int limit) {
    return new Conversation(messages, turns, tokens, limit, script, endReason);
  }

  /**
   * The same, in which nothing more is asked.
   *
   * @param reason for people, the same for all conversations of the kind
   */
  public Conversation ended(String reason) {
    return new Conversation(messages, turns, tokens, contextLimit, script, reason);
  }

  /** After a turn that failed: a script does not go on without its answer. */
  public Conversation failed() {
    return script == null || endReason != null
        ? this
        : ended("an earlier turn of its dialog failed");
  }

  /**
   * After one more turn: what was asked, and the answer.
   *
   * @param promptTokens of the request: all before the answer; 0 where not known
   * @param answerTokens of what joins the history, if it is that answer; 0 where not known
   */
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

  /** What the script asks next; null at its end, and without one. */
  public Dialog.@Nullable Turn next() {
    return script == null || turns >= script.turns().size() ? null : script.turns().get(turns);
  }

  /** Whether something more can be asked: the script has a turn left, and none was given up. */
  public boolean goesOn() {
    return endReason == null && (script == null || turns < script.turns().size());
  }

  /**
   * Why a turn with these new messages is not to be sent: the conversation has ended, or the
   * request may have more tokens than the limit, its answer included. The history counts as the
   * server counted it with the last answer, what is new as a token per four characters.
   *
   * @param maxTokens longest answer; null counts as 0
   * @return null where it is to be sent
   */
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
