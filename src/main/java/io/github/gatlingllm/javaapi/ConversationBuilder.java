package io.github.gatlingllm.javaapi;

import io.gatling.javaapi.core.ChainBuilder;
import io.gatling.javaapi.core.CoreDsl;
import io.gatling.javaapi.core.Session;
import io.gatling.javaapi.core.exec.Executable;
import io.github.gatlingllm.action.Dynamic;
import io.github.gatlingllm.action.Dynamic.Draft;
import io.github.gatlingllm.action.InvalidSimulation;
import io.github.gatlingllm.action.LlmRequest;
import io.github.gatlingllm.workload.Conversation;
import io.github.gatlingllm.workload.Conversation.Dialog;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Starts a conversation and stores it in a session attribute; see {@link LlmDsl#conversation}. */
public final class ConversationBuilder implements Executable {

  private final ConversationDraft parts;

  ConversationBuilder(String sessionKey) {
    this(new ConversationDraft(LlmRequest.conversation(sessionKey)));
  }

  private ConversationBuilder(ConversationDraft parts) {
    this.parts = parts;
  }

  private static final class ConversationDraft extends Draft<ConversationDraft> {
    private final String sessionKey;
    private @Nullable Dynamic<String> system;
    private @Nullable Dynamic<Dialog> dialog;
    private boolean hasRecordedAnswers;
    private @Nullable Integer contextLimit;

    ConversationDraft(String sessionKey) {
      this.sessionKey = sessionKey;
    }
  }

  /** The system message, in place of that of the {@link #dialog}; a Gatling EL String. */
  public ConversationBuilder system(String text) {
    return with(draft -> draft.system = Dynamic.text(text));
  }

  public ConversationBuilder system(Function<Session, String> text) {
    return with(draft -> draft.system = Dynamic.of(text));
  }

  /**
   * Follows a recorded {@link Dialog} of this session attribute, a Gatling EL String: the
   * conversation starts with the dialog's system message, and {@link ChatRequestBuilder#nextTurn}
   * sends its user turns while {@link LlmDsl#goesOn}. The server's answers are appended to the
   * history.
   */
  public ConversationBuilder dialog(String el) {
    return with(draft -> draft.dialog = Dynamic.el(el, Dialog.class));
  }

  public ConversationBuilder dialog(Function<Session, Dialog> dialog) {
    return with(draft -> draft.dialog = Dynamic.of(dialog));
  }

  /**
   * Appends the dialog's recorded answers to the history instead of the server's answers, so that
   * every server gets the same requests.
   */
  public ConversationBuilder recordedAnswers() {
    return with(draft -> draft.hasRecordedAnswers = true);
  }

  /**
   * Ends the conversation before a turn that would exceed this number of tokens, 1 or more, its
   * {@code maxTokens} included; {@link LlmDsl#goesOn} is false from then on. The history has the
   * tokens that the server, else the tokenizer, counted; new messages one token per four
   * characters.
   */
  public ConversationBuilder contextLimit(int tokens) {
    int limit = InvalidSimulation.requireMin(1, "contextLimit", tokens, "token");
    return with(draft -> draft.contextLimit = limit);
  }

  private ConversationBuilder with(Consumer<ConversationDraft> change) {
    return new ConversationBuilder(parts.with(change));
  }

  @Override
  public ChainBuilder toChainBuilder() {
    return CoreDsl.exec(session -> session.set(parts.sessionKey, begin(session)));
  }

  private Conversation begin(Session session) {
    var user = session.asScala();
    return Conversation.of(
        parts.dialog == null ? null : parts.dialog.resolve(user),
        parts.hasRecordedAnswers,
        parts.system == null ? null : parts.system.resolve(user),
        parts.contextLimit);
  }
}
