package io.github.gatlingllm.workload;

import io.github.gatlingllm.wire.Message;
import java.util.ArrayList;
import java.util.List;

/**
 * What was said so far in a multi-turn chat. Kept in the session; immutable.
 *
 * @param messages in order, the system's first where there is one
 * @param turns how many answers there were
 */
public record Conversation(List<Message> messages, int turns) {

  public Conversation {
    messages = List.copyOf(messages);
  }

  /** One that begins with these messages, none of them an answer. */
  public static Conversation of(Message... messages) {
    return new Conversation(List.of(messages), 0);
  }

  /** One in which only the system has spoken. */
  public static Conversation ofSystem(String text) {
    return of(Message.system(text));
  }

  /** After one more turn: what was asked, and the answer. */
  public Conversation answered(List<Message> asked, String answer) {
    List<Message> longer = new ArrayList<>(messages);
    longer.addAll(asked);
    longer.add(Message.assistant(answer));
    return new Conversation(longer, turns + 1);
  }
}
