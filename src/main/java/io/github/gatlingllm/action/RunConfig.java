package io.github.gatlingllm.action;

import io.gatling.javaapi.core.Simulation;
import io.github.gatlingllm.metric.NumberText;
import io.github.gatlingllm.record.RunInfo.ReportOptions;
import io.github.gatlingllm.record.RunInfo.TargetFacts;
import io.github.gatlingllm.setting.ProcessSetting;
import io.github.gatlingllm.wire.Secrets;
import io.github.gatlingllm.workload.PromptPrefix;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What {@code run.json} says of the settings of a run: one value where all its protocols agree,
 * else one per protocol, in their order. Tokenizers that differ are noted under their targets too.
 */
final class RunConfig {

  /** Whether output is pinned. */
  static final String IGNORE_EOS = "ignoreEos";

  /** What counts our tokens. */
  private static final String TOKENIZER = "tokenizer";

  /** Its value once a server has shown that it does not take part. */
  static final String UNPINNED = "false, the server rejects it";

  /**
   * Says for any simulation, not only for the benchmark, whether an invalid run fails the build.
   */
  private static final ProcessSetting FAIL_ON_INVALID = new ProcessSetting("llm.failOnInvalid");

  private RunConfig() {}

  static Map<String, String> of(List<LlmProtocol> protocols) {
    Map<String, Set<String>> values = new LinkedHashMap<>();
    for (LlmProtocol protocol : protocols) {
      of(protocol)
          .forEach((name, v) -> values.computeIfAbsent(name, n -> new LinkedHashSet<>()).add(v));
    }
    Map<String, String> config = new LinkedHashMap<>();
    values.forEach((name, different) -> config.put(name, String.join(",", different)));
    if (values.getOrDefault(TOKENIZER, Set.of()).size() > 1) {
      protocols.forEach(p -> config.put(TOKENIZER + " " + p.label(), p.tokenizer.name()));
    }
    return config;
  }

  /**
   * What figures depend on, by target.
   *
   * @param unpinned targets that rejected what pins output
   */
  static Map<String, TargetFacts> targets(List<LlmProtocol> protocols, Set<String> unpinned) {
    Map<String, TargetFacts> targets = new LinkedHashMap<>();
    for (LlmProtocol protocol : protocols) {
      String label = protocol.label();
      boolean isPinned = protocol.pinning != LlmProtocol.Pinning.NEVER && !unpinned.contains(label);
      TargetFacts facts =
          new TargetFacts(isPinned, protocol.tokenizer.name(), protocol.gpus, protocol.costPerHour);
      targets.merge(label, facts, TargetFacts::and);
    }
    return targets;
  }

  /** What any of the protocols asks for. */
  static ReportOptions report(List<LlmProtocol> protocols) {
    return protocols.stream()
        .map(protocol -> protocol.report)
        .reduce(
            new ReportOptions(false, true, true, !"false".equalsIgnoreCase(FAIL_ON_INVALID.text())),
            ReportOptions::and);
  }

  private static Map<String, String> of(LlmProtocol protocol) {
    Map<String, String> config = new LinkedHashMap<>();
    config.put("target", protocol.label());
    config.put(
        "endpoint",
        String.join(",", protocol.baseUrls.stream().map(Secrets::withoutThem).toList()));
    config.put("stream", Boolean.toString(protocol.streaming));
    config.put(IGNORE_EOS, Boolean.toString(protocol.pinning != LlmProtocol.Pinning.NEVER));
    config.put("recordTokens", Boolean.toString(protocol.recording.tokens()));
    config.put("timeout", protocol.requestTimeout.toSeconds() + "s");
    config.put("idleTimeout", protocol.idleTimeout.toSeconds() + "s");
    if (protocol.maxInFlight != null) {
      config.put("maxInFlight", protocol.maxInFlight.toString());
    }
    if (protocol.maxRequestsPerMinute != null) {
      config.put("maxRequestsPerMinute", protocol.maxRequestsPerMinute.toString());
    }
    if (protocol.maxTokensPerMinute != null) {
      config.put("maxTokensPerMinute", protocol.maxTokensPerMinute.toString());
    }
    if (protocol.gpus != null) {
      config.put("gpus", NumberText.plain(protocol.gpus));
    }
    if (protocol.costPerHour != null) {
      config.put("costPerHour", NumberText.plain(protocol.costPerHour));
    }
    if (protocol.verifyTls != null) {
      config.put("verifyTls", protocol.verifyTls.toString());
    }
    if (protocol.prefix instanceof PromptPrefix.Unique unique) {
      config.put("uniquePrompts", "true");
      config.put("prefixSeed", Long.toString(unique.seed()));
    } else if (protocol.prefix instanceof PromptPrefix.Shared shared) {
      config.put("sharedPrefix", shared.groups() + "x" + shared.tokens());
      config.put("prefixSeed", Long.toString(shared.seed()));
    }
    config.put("connections", protocol.shareConnections ? "shared" : "perUser");
    config.putAll(protocol.notes);
    config.put(TOKENIZER, protocol.tokenizer.name());
    return config;
  }

  /** What ran: versions that decide how a measurement is read. */
  static Map<String, String> versions() {
    Map<String, String> versions = new LinkedHashMap<>();
    versions.put("gatling-llm", ownVersion());
    versions.put("gatling", versionOf(Simulation.class, "3.15"));
    versions.put("java", Runtime.version().toString());
    versions.put("os", System.getProperty("os.name") + " " + System.getProperty("os.arch"));
    return versions;
  }

  /** As the build wrote it; {@code dev} for classes that no build made. */
  private static String ownVersion() {
    try (InputStream in = RunConfig.class.getResourceAsStream("version.txt")) {
      return in == null ? "dev" : new String(in.readAllBytes(), StandardCharsets.UTF_8).strip();
    } catch (IOException e) {
      return "dev";
    }
  }

  private static String versionOf(Class<?> part, String otherwise) {
    String version = part.getPackage().getImplementationVersion();
    return version == null ? otherwise : version;
  }
}
