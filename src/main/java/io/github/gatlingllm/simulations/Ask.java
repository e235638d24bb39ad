package io.github.gatlingllm.simulations;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.gatlingllm.workload.Dataset;
import io.github.gatlingllm.workload.PromptPool;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What every request asks for.
 *
 * @param maxTokens output length, ≥ 1
 * @param ignoreEos whether exactly {@code maxTokens} are demanded ({@code ignore_eos}, {@code
 *     min_tokens})
 * @param body extra JSON merged into the request; not to be written to
 * @param headers extra request headers
 * @param recorded what is asked in place of {@code prompts}; null for these
 */
public record Ask(
    PromptPool prompts,
    boolean stream,
    int maxTokens,
    boolean ignoreEos,
    @Nullable Double temperature,
    @Nullable Double topP,
    ObjectNode body,
    Map<String, String> headers,
    @Nullable Recorded recorded) {

  /**
   * Dialogs that are asked in place of prompts.
   *
   * @param lengths whether each answer is as long as the recorded one, where that is known
   */
  public record Recorded(Dataset dataset, boolean lengths) {}

  /** Without header values, which may be secrets. */
  @Override
  public String toString() {
    String origin = recorded == null ? prompts.origin() : recorded.dataset().name();
    return "Ask[" + origin + ", max_tokens " + maxTokens + "]";
  }
}
