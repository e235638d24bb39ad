package io.github.gatlingllm.javaapi;

import io.gatling.javaapi.core.ChainBuilder;
import io.gatling.javaapi.core.CoreDsl;
import io.gatling.javaapi.core.Session;
import io.gatling.javaapi.core.exec.Executable;
import io.github.gatlingllm.action.Dynamic;
import io.github.gatlingllm.workload.Conversation;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Starts a conversation in a session attribute.
 *
 * <p>Immutable, so all methods return a new occurrence and leave the original unmodified.
 */
public final class ConversationBuilder implements Executable {

  private final String sessionKey;
  private final @Nullable Dynamic<String> system;

  ConversationBuilder(String sessionKey) {
    this(sessionKey, null);
  }

  private ConversationBuilder(String sessionKey, @Nullable Dynamic<String> system) {
    this.sessionKey = sessionKey;
    this.system = system;
  }

  /** What the model is told before anything else; a Gatling EL String. */
  public ConversationBuilder system(String text) {
    return new ConversationBuilder(sessionKey, Dynamic.text(text));
  }

  /** As {@link #system(String)}, computed from the session. */
  public ConversationBuilder system(Function<Session, String> text) {
    return new ConversationBuilder(sessionKey, Dynamic.of(text));
  }

  /** For internal use only. */
  @Override
  public ChainBuilder toChainBuilder() {
    return CoreDsl.exec(session -> session.set(sessionKey, begin(session)));
  }

  private Conversation begin(Session session) {
    return system == null
        ? Conversation.of()
        : Conversation.ofSystem(system.resolve(session.asScala()));
  }
}
