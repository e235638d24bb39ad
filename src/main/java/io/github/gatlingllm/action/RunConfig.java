package io.github.gatlingllm.action;

import io.gatling.javaapi.core.Simulation;
import io.github.gatlingllm.injector.Injector;
import io.github.gatlingllm.metric.NumberText;
import io.github.gatlingllm.record.Assertion;
import io.github.gatlingllm.record.JvmOptions;
import io.github.gatlingllm.record.RunInfo.ReportOptions;
import io.github.gatlingllm.record.RunInfo.TargetFacts;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.record.TargetSlo;
import io.github.gatlingllm.run.Run;
import io.github.gatlingllm.setting.ProcessSetting;
import io.github.gatlingllm.wire.Secrets;
import io.github.gatlingllm.workload.PromptPrefix;
import io.github.gatlingllm.workload.RunSeed;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * What {@code run.json} says of the settings of a run, noted as protocols and requests come: one
 * value where all protocols agree, else one per protocol, in their order. Tokenizers that differ
 * are noted under their targets too.
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

  private final Run run;
  private final Injector injector;

  /** What has been said once. */
  private final Set<String> said = ConcurrentHashMap.newKeySet();

  private final List<LlmProtocol> used = new CopyOnWriteArrayList<>();
  private final Set<String> unpinned = ConcurrentHashMap.newKeySet();
  private final Map<String, Map<String, Slo>> ownSlos = new ConcurrentHashMap<>();

  RunConfig(Run run, Injector injector) {
    this.run = run;
    this.injector = injector;
  }

  /** Notes that a target rejects what pins output; true for the first caller. */
  boolean unpin(String target) {
    boolean first = unpinned.add(target);
    run.describe(info -> info.config(IGNORE_EOS, UNPINNED).targets(targets(used, unpinned)));
    return first;
  }

  /** Whether requests with a limit ask for exactly that many tokens. */
  boolean isPinned(LlmProtocol protocol) {
    return isPinned(protocol, unpinned);
  }

  private static boolean isPinned(LlmProtocol protocol, Set<String> unpinned) {
    return protocol.pinning != LlmProtocol.Pinning.NEVER && !unpinned.contains(protocol.label());
  }

  /** Notes in the run what a protocol asks for, beside those before it. */
  synchronized void use(LlmProtocol protocol) {
    if (used.contains(protocol)) {
      return;
    }
    used.add(protocol);
    judge(protocol);
    LlmProtocol first = used.get(0);
    Set<Assertion> assertions = new LinkedHashSet<>();
    used.forEach(each -> each.assertions.forEach(gate -> assertions.add(gate.at(each.label()))));
    Map<String, String> config = of(used);
    if (!unpinned.isEmpty()) {
      config.put(IGNORE_EOS, UNPINNED);
    }
    if (injector.startAt() != null) {
      config.put("startAt", injector.startAt().toString());
    }
    if (RunSeed.ofProcess().isDrawnFrom()) {
      config.put("seedOfTheUnseeded", Long.toString(RunSeed.ofProcess().value()));
    }
    config.put(JvmOptions.CONFIG_NAME, String.join(" ", JvmOptions.inEffect()));
    run.describe(
        info ->
            info.assertions(List.copyOf(assertions))
                .config(config)
                .targets(targets(used, unpinned))
                .report(report(used))
                .seed(first.seed == null ? (Long) RunSeed.ofProcess().value() : first.seed)
                .versions(versions()));
    if (!LlmProtocol.isDryRun()) {
      run.watchServer(protocol.metricsPages());
    }
    run.closeAtEnd(protocol.closedAfterRun);
  }

  /** Says, once per run, what is drawn from where the simulation says no seed. */
  void sayWhatIsUnseeded() {
    RunSeed seed = RunSeed.ofProcess();
    if (seed.isDrawnFrom() && said.add("seed")) {
      System.out.println(
          "LLM: seed "
              + seed.value()
              + " of all that has none of its own; llm.seed="
              + seed.value()
              + " draws the same again");
      run.describe(info -> info.config("seedOfTheUnseeded", Long.toString(seed.value())));
    }
  }

  /**
   * Notes in the run what a request is judged by that has objectives of its own.
   *
   * @param name null where it differs from user to user
   * @throws IllegalArgumentException if requests of its name have others
   */
  synchronized void judge(LlmProtocol protocol, @Nullable String name, Slo slo) {
    if (name == null) {
      throw InvalidSimulation.because(
          "slo(…) of a request whose name differs from user to user; give it a fixed name");
    }
    Slo before =
        ownSlos.computeIfAbsent(protocol.label(), label -> new TreeMap<>()).putIfAbsent(name, slo);
    if (before != null && !before.equals(slo)) {
      throw InvalidSimulation.because(
          "requests named '%s' have the SLOs %s and %s; name them differently"
              .formatted(name, before, slo));
    }
    judge(protocol);
  }

  private void judge(LlmProtocol protocol) {
    LlmProtocol first = used.get(0);
    Map<String, TargetSlo> slos = new LinkedHashMap<>();
    used.forEach(each -> slos.putIfAbsent(each.label(), judgeOf(each)));
    if (!judgeOf(protocol).equals(slos.get(protocol.label()))
        && said.add("several SLOs " + protocol.label())) {
      System.out.println(
          "LLM: "
              + protocol.label()
              + " is used with several SLOs; the summary judges it by the first. Name the targets"
              + " differently to tell them apart");
    }
    boolean alike = slos.values().stream().distinct().count() == 1;
    run.describe(info -> info.slo(judgeOf(first), alike ? Map.of() : slos));
  }

  private TargetSlo judgeOf(LlmProtocol protocol) {
    Map<String, Slo> named = new TreeMap<>(protocol.sloByName);
    named.putAll(ownSlos.getOrDefault(protocol.label(), Map.of()));
    return TargetSlo.of(protocol.slo, named);
  }

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
      TargetFacts facts =
          new TargetFacts(
              isPinned(protocol, unpinned),
              protocol.tokenizer.name(),
              protocol.gpus,
              protocol.costPerHour);
      targets.merge(protocol.label(), facts, TargetFacts::and);
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
        "endpoint", String.join(",", protocol.baseUrls.stream().map(Secrets::redactUrl).toList()));
    config.put("stream", Boolean.toString(protocol.streaming));
    config.put(IGNORE_EOS, Boolean.toString(protocol.pinning != LlmProtocol.Pinning.NEVER));
    config.put("recordTokens", Boolean.toString(protocol.recordTokens));
    config.put("timeout", protocol.requestTimeout.toSeconds() + "s");
    config.put("idleTimeout", protocol.idleTimeout.toSeconds() + "s");
    putIfSet(config, "maxInFlight", protocol.maxInFlight);
    putIfSet(config, "maxRequestsPerMinute", protocol.maxRequestsPerMinute);
    putIfSet(config, "maxTokensPerMinute", protocol.maxTokensPerMinute);
    putIfSet(config, "gpus", protocol.gpus);
    putIfSet(config, "costPerHour", protocol.costPerHour);
    putIfSet(config, "verifyTls", protocol.verifyTls);
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

  private static void putIfSet(Map<String, String> config, String name, @Nullable Object value) {
    if (value != null) {
      config.put(
          name, value instanceof Double number ? NumberText.plain(number) : value.toString());
    }
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
