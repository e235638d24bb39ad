package io.github.gatlingllm.action;

import com.sun.management.UnixOperatingSystemMXBean;
import io.gatling.core.config.GatlingConfiguration;
import io.gatling.core.config.SslConfiguration;
import io.gatling.http.util.SslContexts;
import io.gatling.http.util.SslContextsFactory;
import io.github.gatlingllm.action.Target.Named;
import io.github.gatlingllm.client.Api.AddedField;
import io.github.gatlingllm.client.Secrets;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.load.Injector;
import io.github.gatlingllm.load.Seed;
import io.github.gatlingllm.record.ConfigKey;
import io.github.gatlingllm.record.Objectives.Assertion;
import io.github.gatlingllm.record.Objectives.TargetSlo;
import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.RunInfo.ReportOptions;
import io.github.gatlingllm.record.RunInfo.TargetFacts;
import io.github.gatlingllm.record.SelfTest.JvmOptions;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.record.StartCommand;
import io.github.gatlingllm.settings.Setting;
import io.github.gatlingllm.workload.LengthDistribution;
import io.github.gatlingllm.workload.PromptPrefix;
import java.lang.management.ManagementFactory;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;

/** The targets of a run, and what {@code run.json} states of them. Thread-safe. */
final class Targets {

  /** Gatling's default includes TLS 1.0 and 1.1. */
  private static final scala.collection.immutable.List<String> SAFE_PROTOCOLS =
      CollectionConverters.asScala(List.of("TLSv1.3", "TLSv1.2")).toList();

  private final LlmRun run;
  private final Injector injector;

  /** By the protocols of the simulation, whose targets may know more of their servers. */
  private final Map<LlmProtocol, Target> targets = new LinkedHashMap<>();

  private final Map<String, Named> named = new LinkedHashMap<>();

  /** What is made once, as it is slow. */
  private final Map<List<Object>, PromptPrefix.Texts> texts = new HashMap<>();

  private final Map<List<Boolean>, SslContexts> tls = new HashMap<>();

  /** The lengths that feeders draw, by the name of the setting. */
  private final Map<String, String> lengths = new TreeMap<>();

  /** The tokens of chat templates that prompts in code leave room for. */
  private final Set<Integer> templates = new LinkedHashSet<>();

  /** Lengths of outputs that code states, by the name of the request. */
  private final Map<String, String> outputs = new TreeMap<>();

  /** Of the configuration in {@code run.json}: what {@link #describe} wrote there. */
  private Set<String> described = Set.of();

  private boolean isSeedPrinted;

  Targets(LlmRun run, Injector injector) {
    this.run = run;
    this.injector = injector;
  }

  /** The target of a protocol, whose servers are up and whose pages were read. */
  synchronized Target of(LlmProtocol inCode) {
    Target known = targets.get(inCode);
    if (known != null) {
      return known;
    }
    if (!LlmProtocol.isDryRun()) {
      named(inCode).wait.untilUp();
    }
    ServerFacts server = ServerFacts.read(inCode, StartCommand.isProbe());
    LlmProtocol protocol = server.decided();
    for (Target each : targets.values()) {
      if (each.protocol.equals(protocol)) {
        return each;
      }
    }
    Target target = new Target(this, run, protocol, server);
    targets.put(inCode, target);
    describe();
    if (!LlmProtocol.isDryRun()) {
      run.run.targetUsed(protocol.metricsPages());
    }
    run.run.ending().close(protocol.get(ProtocolPart.CLOSED_AFTER_RUN));
    return target;
  }

  synchronized Named named(LlmProtocol protocol) {
    return named.computeIfAbsent(protocol.label(), label -> new Named(protocol));
  }

  /** The first texts of the prompts of a protocol; too slow for an event loop. */
  synchronized PromptPrefix.Texts texts(LlmProtocol protocol) {
    return texts.computeIfAbsent(
        List.of(protocol.prefix(), protocol.tokenizer()),
        key -> protocol.prefix().texts(protocol.tokenizer()));
  }

  private List<LlmProtocol> used() {
    return targets.values().stream().map(target -> target.protocol).toList();
  }

  /** Writes what is known of all targets. */
  synchronized void describe() {
    List<LlmProtocol> used = used();
    if (used.isEmpty()) {
      return; // of a scenario without an llm request
    }
    Set<Assertion> assertions = new LinkedHashSet<>();
    used.forEach(each -> each.assertions().forEach(one -> assertions.add(one.at(each.label()))));
    Map<String, String> config = settings(used);
    if (injector.startAt() != null) {
      config.put(Setting.START_AT.name, injector.startAt().toString());
    }
    Seed seed = Seed.ofProcess();
    if (seed.isDrawnFrom()) {
      config.put(ConfigKey.DEFAULT_SEED.name, Long.toString(seed.value()));
    }
    config.put(ConfigKey.JVM.name, String.join(" ", JvmOptions.inEffect()));
    if (config.containsKey(Setting.UNIQUE_PROMPTS.name)) {
      config.put(ConfigKey.NONCE_OF_RUN.name, Long.toString(Seed.ofRun()));
    }
    config.putAll(lengths());
    Map<String, Set<AddedField>> rejected = new LinkedHashMap<>();
    named.forEach((label, each) -> rejected.put(label, each.rejected));
    rejected.values().stream()
        .flatMap(Set::stream)
        .forEach(field -> config.put(field.setting(), field.recorded()));
    Map<String, TargetFacts> facts = facts(used, rejected, this::template);
    config.putAll(templates(facts));
    Map<String, TargetSlo> slos = slos(used);
    Map<String, TargetSlo> tiers = tiers(used);
    boolean isCommon = slos.values().stream().distinct().count() == 1;
    Set<String> before = described;
    described = Set.copyOf(config.keySet());
    Long own = used.get(0).seed();
    run.run.describe(
        info -> {
          String start = start(info, used);
          if (start != null) {
            config.put(StartCommand.CONFIG_NAME, start);
          }
          info.config()
              .forEach(
                  (name, value) -> {
                    if (!before.contains(name)) {
                      config.putIfAbsent(name, value);
                    }
                  });
          return info.assertions(List.copyOf(assertions))
              .config(config)
              .slo(slos.values().iterator().next(), isCommon ? Map.of() : slos)
              .sloTiers(tiers)
              .targets(facts)
              .report(report(used))
              .seed(own == null ? (Long) seed.value() : own)
              .versions(Versions.all());
        });
  }

  /** By target, of which the first protocol counts. */
  private Map<String, TargetSlo> slos(List<LlmProtocol> used) {
    Map<String, TargetSlo> slos = new LinkedHashMap<>();
    for (LlmProtocol each : used) {
      String label = each.label();
      TargetSlo own = sloOf(each);
      slos.putIfAbsent(label, own);
      Named same = named(each);
      if (!own.equals(slos.get(label)) && !same.hasSeveralSlos) {
        same.hasSeveralSlos = true;
        PrintableText.print(
            "LLM: "
                + label
                + " is used with several SLOs; the summary judges it by the first. Name the targets"
                + " differently to tell them apart");
      }
    }
    return slos;
  }

  /** Of all targets: a tier judges all requests of the run. */
  private Map<String, TargetSlo> tiers(List<LlmProtocol> used) {
    Map<String, Slo> tiers = used.get(0).get(Setting.SLO).tiers();
    boolean hasOwn = used.stream().anyMatch(each -> !named(each).slos.isEmpty());
    if (used.stream().anyMatch(each -> !each.get(Setting.SLO).tiers().equals(tiers))
        || (hasOwn && !tiers.isEmpty())) {
      throw InvalidSimulation.because(
          "tiers judge all requests; expected the same tiers for each target, and no slo(…) of a"
              + " request");
    }
    Map<String, TargetSlo> slos = new LinkedHashMap<>();
    tiers.forEach((tier, slo) -> slos.put(tier, TargetSlo.of(slo, Map.of())));
    return slos;
  }

  private TargetSlo sloOf(LlmProtocol protocol) {
    Map<String, Slo> byName = new TreeMap<>(protocol.sloByName());
    byName.putAll(named(protocol).slos);
    return TargetSlo.of(protocol.slo(), byName);
  }

  /**
   * A scenario sends that request: notes its SLO, and its lengths of outputs, if not set for all.
   */
  synchronized void noteRequest(LlmRequest request, Target target) {
    String name = request.name.constant();
    if (request.slo != null) {
      addSlo(name, request.slo, target);
    }
    String text = request.maxTokens == null ? null : request.maxTokens.text();
    Map<String, String> notes = target.protocol.notes();
    if (text != null
        && !notes.containsKey(Setting.MAX_TOKENS.name)
        && !notes.containsKey(Setting.LENGTHS.name)) {
      outputs.put(name == null ? "(a name per user)" : name, text);
    }
  }

  private void addSlo(@Nullable String name, Slo slo, Target target) {
    if (name == null) {
      throw InvalidSimulation.because(
          "slo(…) of a request whose name differs from user to user; give it a fixed name");
    }
    Slo before = target.named.slos.putIfAbsent(name, slo);
    if (before != null && !before.equals(slo)) {
      throw InvalidSimulation.because(
          "requests named '%s' have the SLOs %s and %s; name them differently"
              .formatted(name, before, slo));
    }
    describe();
  }

  /** A scenario is built: what it requests is known. */
  synchronized void scenarioBuilt() {
    templates.addAll(LengthDistribution.takeTemplates());
    LengthDistribution.takeNotes()
        .forEach(
            (name, text) ->
                lengths.merge(
                    name,
                    text,
                    (before, more) ->
                        List.of(before.split("; ", -1)).contains(more)
                            ? before
                            : before + "; " + more));
    describe();
  }

  /** What code requests, as the settings of the same names have it. */
  private Map<String, String> lengths() {
    Map<String, String> all = new TreeMap<>(lengths);
    Set<String> different = new LinkedHashSet<>(outputs.values());
    if (!different.stream().allMatch(text -> text.contains("#{"))) {
      all.put(
          Setting.MAX_TOKENS.name,
          different.size() == 1
              ? different.iterator().next()
              : outputs.entrySet().stream()
                  .map(each -> each.getKey() + ": " + each.getValue())
                  .collect(Collectors.joining("; ")));
    }
    return all;
  }

  /** For readers: of all targets where they agree, else by their names. */
  static Map<String, String> templates(Map<String, TargetFacts> facts) {
    Integer common = TargetFacts.commonTemplate(facts.values());
    Map<String, String> config = new TreeMap<>();
    facts.forEach(
        (target, each) -> {
          if (each.templateTokens() != null) {
            String name = RunInfo.TEMPLATE + (common == null ? " " + target : "");
            config.put(name, each.templateTokens().toString());
          }
        });
    return config;
  }

  /** The requested lengths of prompts; null where they have those of their texts. */
  synchronized @Nullable String promptLengths(Target target) {
    return Stream.of(
            Setting.PROMPT_TOKENS.name,
            Setting.LENGTHS.name,
            Setting.SCENARIO.name,
            Setting.MIX.name)
        .map(name -> target.protocol.notes().getOrDefault(name, lengths.get(name)))
        .filter(Objects::nonNull)
        .findFirst()
        .orElse(null);
  }

  /** The tokens that the template of a target adds; null where that is not known. */
  synchronized @Nullable Integer template(LlmProtocol protocol) {
    Integer inCode = protocol.get(ProtocolPart.TEMPLATE_TOKENS);
    if (inCode == null && templates.size() == 1) {
      inCode = templates.iterator().next();
    }
    return inCode == null ? named(protocol).template : inCode;
  }

  private static @Nullable String start(RunInfo info, List<LlmProtocol> used) {
    return StartCommand.ofProcess(
            info.simulation(), (name, value) -> Setting.isOnce(name) || isSecret(name, value, used))
        .text();
  }

  /** Whether a property is a key by its name or value, or has one in a URL. */
  static boolean isSecret(String name, String value, List<LlmProtocol> used) {
    // Of our settings most that have "token" in their name are lengths.
    return (name.startsWith("llm.")
            ? name.equals(Setting.API_KEY.property())
            : Secrets.isNamed(name))
        || !Secrets.redactUrl(value).equals(value)
        || used.stream()
            .map(protocol -> protocol.apiKey() == null ? null : protocol.apiKey().constant())
            .anyMatch(key -> key != null && value.contains(key.strip()));
  }

  /** Prints, once per run, the seed of everything that the simulation sets no seed for. */
  synchronized void printSeed() {
    Seed seed = Seed.ofProcess();
    if (seed.isDrawnFrom() && !isSeedPrinted) {
      isSeedPrinted = true;
      PrintableText.print(
          StartCommand.typed(
              "LLM: seed %s for everything without a separate seed; llm.seed=%s repeats this"
                  .formatted(seed.value(), seed.value())));
      describe();
    }
  }

  /** Settings of several protocols: one value where all agree, else all different ones in order. */
  static Map<String, String> settings(List<LlmProtocol> protocols) {
    Map<String, Set<String>> values = new LinkedHashMap<>();
    for (LlmProtocol protocol : protocols) {
      protocol
          .settings()
          .forEach((name, v) -> values.computeIfAbsent(name, n -> new LinkedHashSet<>()).add(v));
    }
    Map<String, String> config = new LinkedHashMap<>();
    values.forEach((name, different) -> config.put(name, String.join(",", different)));
    if (values.getOrDefault(Setting.TOKENIZER.name, Set.of()).size() > 1) {
      protocols.forEach(p -> config.put("tokenizer " + p.label(), p.tokenizer().name()));
    }
    return config;
  }

  static Map<String, TargetFacts> facts(
      List<LlmProtocol> protocols,
      Map<String, Set<AddedField>> rejected,
      Function<LlmProtocol, @Nullable Integer> templates) {
    Map<String, TargetFacts> targets = new LinkedHashMap<>();
    for (LlmProtocol protocol : protocols) {
      TargetFacts facts =
          new TargetFacts(
              protocol.pinsOutput()
                  && Collections.disjoint(
                      rejected.getOrDefault(protocol.label(), Set.of()), AddedField.OF_LENGTH),
              protocol.tokenizer().name(),
              protocol.get(Setting.GPUS),
              protocol.get(Setting.COST_PER_HOUR),
              templates.apply(protocol));
      targets.merge(protocol.label(), facts, TargetFacts::and);
    }
    return targets;
  }

  static ReportOptions report(List<LlmProtocol> protocols) {
    return protocols.stream()
        .map(protocol -> protocol.report())
        .reduce(ReportOptions.DEFAULT, ReportOptions::and);
  }

  /** The command that goes on with the next levels, for a user who has tried the targets. */
  synchronized String nextCommand() {
    List<LlmProtocol> used = used();
    return StartCommand.ofProcess(
            "", (name, value) -> Setting.isOnce(name) || isSecret(name, value, used))
        .with("concurrency", ServerFacts.NEXT_LEVELS);
  }

  /** How many more files this process may open; without limit where the system does not tell. */
  static long freeFiles() {
    try {
      return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix
          ? unix.getMaxFileDescriptorCount() - unix.getOpenFileDescriptorCount()
          : Long.MAX_VALUE;
    } catch (InternalError none) { // the JVM counts them with a file that it cannot open
      return 0;
    }
  }

  /** A connection is an open file, and each of this number of users needs one. */
  void requireOpenFiles(LlmProtocol protocol, int users, long free) {
    Integer limit =
        protocol.shareConnections()
            ? share("maxInFlight", protocol.get(Setting.MAX_IN_FLIGHT))
            : null;
    if ((limit == null ? users : Math.min(users, limit)) > free) {
      run.run.ending().refuse();
      throw InvalidSimulation.because(
          "%s concurrent users need a connection each, but this process may open only %s more files; raise its limit (ulimit -n), or set maxInFlight"
              .formatted(NumberText.count(users), NumberText.count(free)));
    }
  }

  /** This injector's part of a limit. */
  @Nullable Integer share(String name, @Nullable Integer limit) {
    int own = limit == null ? 0 : injector.part().of(limit);
    if (limit != null && own == 0) {
      throw InvalidSimulation.because(
          "injector %s gets nothing of %s=%s; expected %s or more, one for each injector"
              .formatted(injector.share(), name, limit, injector.part().count()));
    }
    return limit == null ? null : (Integer) own;
  }

  /** The TLS contexts of a target that overrides Gatling's configuration, else null. */
  synchronized @Nullable SslContexts tls(
      LlmProtocol protocol, boolean http2, GatlingConfiguration configuration) {
    Boolean verify = protocol.get(Setting.VERIFY_TLS);
    return verify == null
        ? null
        : tls.computeIfAbsent(
            List.of(verify, http2), key -> tls(verify, http2, configuration.ssl()));
  }

  static SslContexts tls(boolean verify, boolean http2, SslConfiguration ssl) {
    SslConfiguration own =
        new SslConfiguration(
            ssl.useOpenSsl(),
            ssl.useOpenSslFinalizers(),
            ssl.handshakeTimeout(),
            !verify,
            verify ? SAFE_PROTOCOLS : ssl.enabledProtocols(),
            ssl.enabledCipherSuites(),
            ssl.sessionCacheSize(),
            ssl.sessionTimeout(),
            ssl.enableSni(),
            ssl.keyManagerFactory(),
            verify ? ssl.trustManagerFactory() : Option.empty());
    return new SslContextsFactory(own, verify).newSslContexts(http2, Option.empty());
  }
}
