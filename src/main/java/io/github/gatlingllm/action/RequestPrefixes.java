package io.github.gatlingllm.action;

import io.github.gatlingllm.workload.PromptPrefix;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Gives each request of a run the text that its prompt begins with.
 *
 * @param count of the requests so far
 */
record RequestPrefixes(PromptPrefix.Texts texts, AtomicLong count) {

  /** Those of requests that begin with nothing. */
  static final RequestPrefixes NONE = new RequestPrefixes(request -> "", new AtomicLong());

  /**
   * What the next request begins with.
   *
   * @param conversation whose turn it is; null outside conversations
   */
  String next(@Nullable Long conversation) {
    long request = count.getAndIncrement();
    return conversation == null ? texts.of(request) : texts.inConversation(request, conversation);
  }
}
