package io.github.gatlingllm.action;

import io.github.gatlingllm.run.Observers.MetricsPage;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Whether a server is asked to count its tokens in each event ({@code continuous_usage_stats}):
 * vLLM and SGLang do, and put several tokens into one event now and then. Other servers may reject
 * the field.
 */
final class CountingServers {

  private static final Duration TIMEOUT = Duration.ofSeconds(2);

  /** In a list of models, and in metrics. */
  private static final Pattern COUNTS =
      Pattern.compile("\"owned_by\"\\s*:\\s*\"(vllm|sglang)|^(vllm|sglang):", Pattern.MULTILINE);

  /** The embedded engine has vLLM's metrics, and one token in each event. */
  private static final Pattern HAS_ONE_EACH =
      Pattern.compile("\"owned_by\"\\s*:\\s*\"gatling-llm\"");

  private CountingServers() {}

  /** The protocol with the answer, unless it says itself or has no first request to try it. */
  static LlmProtocol decided(LlmProtocol protocol) {
    boolean isOpen =
        protocol.eventTokens == null
            && protocol.warmUpRequests > 0
            && !Boolean.FALSE.equals(protocol.includeUsage)
            && !LlmProtocol.isDryRun();
    return isOpen && arePromised(protocol)
        ? protocol.with(same -> same.countsEvents = true)
        : protocol;
  }

  private static boolean arePromised(LlmProtocol protocol) {
    List<MetricsPage> pages = new ArrayList<>(protocol.metricsPages());
    // Pages of GPUs and hosts say nothing of the engine.
    Set<String> servers =
        protocol.baseUrls.stream()
            .map(base -> URI.create(base).getAuthority())
            .collect(Collectors.toSet());
    pages.removeIf(page -> !servers.contains(page.uri().getAuthority()));
    pages.addAll(protocol.readyPages());
    List<CompletableFuture<String>> texts =
        pages.stream().map(page -> page.text(TIMEOUT).exceptionally(missing -> "")).toList();
    String all = String.join("\n", texts.stream().map(CompletableFuture::join).toList());
    return COUNTS.matcher(all).find() && !HAS_ONE_EACH.matcher(all).find();
  }
}
