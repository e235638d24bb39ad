package io.github.gatlingllm.simulations;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.gatlingllm.workload.PromptPrefix;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What every request asks for.
 *
 * @param workload the prompts
 * @param prefix what every prompt begins with
 * @param maxTokens output length, ≥ 1
 * @param ignoreEos whether exactly {@code maxTokens} are demanded ({@code ignore_eos}, {@code
 *     min_tokens})
 * @param body extra JSON merged into the request; not to be written to
 * @param headers extra request headers
 */
public record Ask(
    Workload workload,
    PromptPrefix prefix,
    boolean stream,
    int maxTokens,
    boolean ignoreEos,
    @Nullable Double temperature,
    @Nullable Double topP,
    ObjectNode body,
    Map<String, String> headers) {

  /** Without header values, which may be secrets. */
  @Override
  public String toString() {
    return "Ask[" + workload.name() + ", max_tokens " + maxTokens + "]";
  }
}
