package io.github.gatlingllm.record;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What the run was made with.
 *
 * @param versions version by component, e.g. {@code gatling}, {@code java}
 * @param machines the machine of each injector, by its name
 * @param config setting by name; secrets are replaced by {@link #REDACTED}
 * @param workload descriptions of the workload by aspect, e.g. {@code input}, {@code prefix}
 * @param selfTest how exact the load generator is on its machine, as known when the run ended; null
 *     if that was never measured
 */
public record RunEnvironment(
    Map<String, String> versions,
    Map<String, SelfTest.Machine> machines,
    Map<String, String> config,
    Map<String, String> workload,
    @Nullable SelfTest selfTest) {

  /** Replaces the value of a setting that is a secret. */
  public static final String REDACTED = "***";

  private static final Set<String> SECRETS =
      Set.of(
          "apikey",
          "api_key",
          "llm_api_key",
          "header.authorization",
          "header.proxy-authorization",
          "header.api-key",
          "header.x-api-key",
          "header.cookie");

  public RunEnvironment {
    versions = RunInfo.ordered(versions);
    machines = RunInfo.ordered(machines);
    config = redacted(config);
    workload = RunInfo.ordered(workload);
  }

  private static Map<String, String> redacted(@Nullable Map<String, String> config) {
    Map<String, String> copy = new LinkedHashMap<>(RunInfo.ordered(config));
    copy.replaceAll(
        (name, value) -> SECRETS.contains(name.toLowerCase(Locale.ROOT)) ? REDACTED : value);
    return Collections.unmodifiableMap(copy);
  }

  /**
   * Facts about a target that its figures depend on.
   *
   * @param pinnedOutput whether answers were requested to have exactly {@code max_tokens} tokens
   * @param tokenizer the tokenizer of our own counts
   * @param gpus number of GPUs of the server; null if not set
   * @param costPerHour cost of a GPU per hour, or of the whole server if {@code gpus} is null; in
   *     any currency; null if not set
   */
  public record TargetFacts(
      boolean pinnedOutput, String tokenizer, @Nullable Double gpus, @Nullable Double costPerHour) {

    /** Cost of the whole server per hour; null if not set. */
    public @Nullable Double costOfAllPerHour() {
      return costPerHour == null || gpus == null ? costPerHour : (Double) (gpus * costPerHour);
    }

    /** Facts about both targets together; output is pinned if it is for both. */
    public TargetFacts and(TargetFacts other) {
      return new TargetFacts(pinnedOutput && other.pinnedOutput, tokenizer, gpus, costPerHour);
    }
  }
}
