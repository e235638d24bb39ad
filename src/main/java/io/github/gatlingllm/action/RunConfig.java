package io.github.gatlingllm.action;

import io.github.gatlingllm.client.Secrets;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.load.Injector;
import io.github.gatlingllm.record.Assertion;
import io.github.gatlingllm.record.JvmOptions;
import io.github.gatlingllm.record.ProcessSetting;
import io.github.gatlingllm.record.RunInfo.ReportOptions;
import io.github.gatlingllm.record.RunInfo.TargetFacts;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.record.TargetSlo;
import io.github.gatlingllm.run.Run;
import io.github.gatlingllm.run.server.ServerWatch;
import io.github.gatlingllm.workload.PromptPrefix;
import io.github.gatlingllm.workload.RunSeed;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * Writes the settings of a run to {@code run.json}, as Gatling builds protocols and requests: one
 * value where all protocols agree, else a list of the different ones, in the order of the
 * protocols. Different tokenizers are also written by target.
 */
final class RunConfig {

  /** Key of whether output is pinned to its limit. */
  static final String IGNORE_EOS = "ignoreEos";

  /** Value of {@link #IGNORE_EOS} once a server has rejected the fields that pin output. */
  static final String UNPINNED = "false, the server rejects it";

  private static final String TOKENIZER = "tokenizer";

  /** Whether an invalid run fails the build, in any simulation. */
  private static final ProcessSetting FAIL_ON_INVALID = new ProcessSetting("llm.failOnInvalid");

  private final Run run;
  private final Injector injector;

  /** Kinds of lines that were printed, each once per run. */
  private final Set<String> printed = ConcurrentHashMap.newKeySet();

  private final List<LlmProtocol> used = new CopyOnWriteArrayList<>();
  private final Set<String> unpinned = ConcurrentHashMap.newKeySet();
  private final Map<String, Map<String, Slo>> ownSlos = new ConcurrentHashMap<>();

  RunConfig(Run run, Injector injector) {
    this.run = run;
    this.injector = injector;
  }

  /** Pins the target's output no more, as it rejects that; true for the first call by target. */
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

  /** Adds a protocol to those that the run uses. */
  synchronized void use(LlmProtocol protocol) {
    if (used.contains(protocol)) {
      return;
    }
    used.add(protocol);
    describeSlos(protocol);
    LlmProtocol first = used.get(0);
    Set<Assertion> assertions = new LinkedHashSet<>();
    used.forEach(each -> each.assertions.forEach(one -> assertions.add(one.at(each.label()))));
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
    ServerWatch server = run.observer(ServerWatch.class);
    if (server != null && !LlmProtocol.isDryRun()) {
      server.add(protocol.metricsPages());
    }
    run.closeAtEnd(protocol.closedAfterRun);
  }

  /** Prints, once per run, the seed of everything that the simulation sets no seed for. */
  void printSeed() {
    RunSeed seed = RunSeed.ofProcess();
    if (seed.isDrawnFrom() && printed.add("seed")) {
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
   * Adds the objectives of a request that has its own.
   *
   * @param name of the request; null where it differs by user
   * @throws InvalidSimulation if the name differs by user, or requests of the same name have other
   *     objectives
   */
  synchronized void addSlo(LlmProtocol protocol, @Nullable String name, Slo slo) {
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
    describeSlos(protocol);
  }

  private void describeSlos(LlmProtocol protocol) {
    LlmProtocol first = used.get(0);
    Map<String, TargetSlo> slos = new LinkedHashMap<>();
    used.forEach(each -> slos.putIfAbsent(each.label(), sloOf(each)));
    if (!sloOf(protocol).equals(slos.get(protocol.label()))
        && printed.add("several SLOs " + protocol.label())) {
      System.out.println(
          "LLM: "
              + protocol.label()
              + " is used with several SLOs; the summary judges it by the first. Name the targets"
              + " differently to tell them apart");
    }
    boolean isCommon = slos.values().stream().distinct().count() == 1;
    run.describe(info -> info.slo(sloOf(first), isCommon ? Map.of() : slos));
  }

  private TargetSlo sloOf(LlmProtocol protocol) {
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
   * The facts that figures depend on, by target.
   *
   * @param unpinned targets that have rejected the fields that pin output
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

  /** The options of the report that any of the protocols asks for. */
  static ReportOptions report(List<LlmProtocol> protocols) {
    boolean failOnInvalid = InvalidSimulation.checked(() -> FAIL_ON_INVALID.isTrue(true));
    return protocols.stream()
        .map(protocol -> protocol.report)
        .reduce(new ReportOptions(false, true, true, failOnInvalid), ReportOptions::and);
  }

  private static Map<String, String> of(LlmProtocol protocol) {
    Map<String, String> config = new LinkedHashMap<>();
    config.put("target", protocol.label());
    config.put(
        "endpoint", String.join(",", protocol.baseUrls.stream().map(Secrets::redactUrl).toList()));
    config.put("stream", Boolean.toString(protocol.streaming));
    config.put(IGNORE_EOS, Boolean.toString(protocol.pinning != LlmProtocol.Pinning.NEVER));
    config.put("recordTokens", Boolean.toString(protocol.recordTokens));
    config.put("timeout", seconds(protocol.requestTimeout));
    config.put("idleTimeout", seconds(protocol.idleTimeout));
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

  private static String seconds(Duration duration) {
    return NumberText.plain(duration.toNanos() / 1e9) + "s";
  }

  private static void putIfSet(Map<String, String> config, String name, @Nullable Object value) {
    if (value != null) {
      config.put(
          name, value instanceof Double number ? NumberText.plain(number) : value.toString());
    }
  }

  /** The versions of this library, Gatling, Java and the operating system. */
  static Map<String, String> versions() {
    Map<String, String> versions = new LinkedHashMap<>();
    versions.put("gatling-llm", ownVersion());
    versions.put("gatling", Objects.requireNonNullElse(SupportedGatling.version(), "unknown"));
    versions.put("java", Runtime.version().toString());
    versions.put("os", System.getProperty("os.name") + " " + System.getProperty("os.arch"));
    return versions;
  }

  /** The version of this library; {@code dev} for classes that Maven has not built. */
  private static String ownVersion() {
    try (InputStream in = RunConfig.class.getResourceAsStream("version.txt")) {
      return in == null ? "dev" : new String(in.readAllBytes(), StandardCharsets.UTF_8).strip();
    } catch (IOException e) {
      return "dev";
    }
  }
}
