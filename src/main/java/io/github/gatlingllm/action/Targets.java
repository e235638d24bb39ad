package io.github.gatlingllm.action;

import com.sun.management.UnixOperatingSystemMXBean;
import io.gatling.core.config.GatlingConfiguration;
import io.gatling.core.config.SslConfiguration;
import io.gatling.http.util.SslContexts;
import io.gatling.http.util.SslContextsFactory;
import io.github.gatlingllm.client.Api.AddedField;
import io.github.gatlingllm.client.Secrets;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.load.Arrival.DrawOrder;
import io.github.gatlingllm.load.Injector;
import io.github.gatlingllm.load.Seed;
import io.github.gatlingllm.record.Objectives.Assertion;
import io.github.gatlingllm.record.Objectives.TargetSlo;
import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.record.ProcessSetting;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.RunInfo.ReportOptions;
import io.github.gatlingllm.record.RunInfo.TargetFacts;
import io.github.gatlingllm.record.SelfTest.JvmOptions;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.record.StartCommand;
import io.github.gatlingllm.run.Run;
import io.github.gatlingllm.workload.LengthDistribution.Asked;
import io.github.gatlingllm.workload.PromptPrefix;
import java.lang.management.ManagementFactory;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;

/** What all requests to one target share, and the settings of all targets. Thread-safe. */
final class Targets {

  /** Whether an invalid run fails the build, in any simulation. */
  private static final ProcessSetting FAIL_ON_INVALID = new ProcessSetting("llm.failOnInvalid");

  /** First number of warm-up prompts: half of all nonces, beyond the numbers of any run. */
  private static final long WARM_UP_PROMPTS = 1L << 58;

  private final Run run;
  private final Injector injector;
  private final DrawOrder prompts;
  private final DrawOrder warmUpPrompts;

  private final Set<String> done = ConcurrentHashMap.newKeySet();
  private final List<LlmProtocol> used = new CopyOnWriteArrayList<>();
  private final Map<String, Set<AddedField>> rejected = new ConcurrentHashMap<>();
  private final Map<String, Map<String, Slo>> ownSlos = new ConcurrentHashMap<>();

  /** The lengths that feeders draw, by the name of the setting. */
  private final Map<String, String> lengths = new TreeMap<>();

  /** Lengths of outputs that are said in code, by the name of the request. */
  private final Map<String, String> outputs = new TreeMap<>();

  private final Map<String, Integer> templates = new TreeMap<>();
  private final Map<LlmProtocol, LlmProtocol> asking = new ConcurrentHashMap<>();
  private final Map<String, ServerFacts> servers = new ConcurrentHashMap<>();
  private final Map<String, ReadyWait> waits = new ConcurrentHashMap<>();
  private final Map<LlmProtocol, InFlightGate> gates = new ConcurrentHashMap<>();
  private final Map<String, RateLimiter> limiters = new ConcurrentHashMap<>();

  /** Gatling's default includes TLS 1.0 and 1.1. */
  private static final scala.collection.immutable.List<String> SAFE_PROTOCOLS =
      CollectionConverters.asScala(List.of("TLSv1.3", "TLSv1.2")).toList();

  private final Map<List<Boolean>, SslContexts> tls = new ConcurrentHashMap<>();
  private final Map<List<Object>, PromptPrefix.Texts> prefixes = new ConcurrentHashMap<>();

  Targets(Run run, Injector injector) {
    this.run = run;
    this.injector = injector;
    prompts = new DrawOrder(injector.part());
    warmUpPrompts = new DrawOrder(injector.part());
  }

  boolean isFirst(String key) {
    return done.add(key);
  }

  synchronized void use(LlmProtocol protocol) {
    if (used.contains(protocol)) {
      return;
    }
    used.add(protocol);
    describeSlos(protocol);
    Set<Assertion> assertions = new LinkedHashSet<>();
    used.forEach(each -> each.assertions().forEach(one -> assertions.add(one.at(each.label()))));
    Map<String, String> config = settings(used);
    rejected.values().stream()
        .flatMap(Set::stream)
        .forEach(field -> config.put(field.setting(), field.recorded()));
    if (injector.startAt() != null) {
      config.put("startAt", injector.startAt().toString());
    }
    Seed seed = Seed.ofProcess();
    if (seed.isDrawnFrom()) {
      config.put("seedOfTheUnseeded", Long.toString(seed.value()));
    }
    config.putAll(lengths());
    config.put(JvmOptions.CONFIG_NAME, String.join(" ", JvmOptions.inEffect()));
    if (config.containsKey("uniquePrompts")) {
      config.put("nonceOfRun", Long.toString(Seed.ofRun()));
    }
    Long own = used.get(0).seed();
    run.describe(
        info ->
            info.assertions(List.copyOf(assertions))
                .config(config)
                .config(StartCommand.CONFIG_NAME, start(info))
                .targets(facts(used, rejected))
                .report(report(used))
                .seed(own == null ? (Long) seed.value() : own)
                .versions(Versions.all()));
    if (!LlmProtocol.isDryRun()) {
      run.targetUsed(protocol.metricsPages());
    }
    run.closeAtEnd(protocol.closedAfterRun());
  }

  /** Notes the lengths of a request's outputs where no setting says those of all. */
  synchronized void askFor(LlmProtocol protocol, LlmRequest request) {
    String text = request.maxTokens == null ? null : request.maxTokens.text();
    boolean isSet =
        protocol.notes().containsKey(Asked.MAX_TOKENS)
            || protocol.notes().containsKey(Asked.LENGTHS);
    if (text != null && !isSet) {
      String name = request.name.constant();
      outputs.put(name == null ? "(a name per user)" : name, text);
    }
  }

  /** A scenario is built: what it asks for is known. */
  synchronized void describeLengths() {
    Asked.take()
        .forEach(
            (name, text) ->
                lengths.merge(
                    name,
                    text,
                    (said, more) ->
                        List.of(said.split("; ", -1)).contains(more) ? said : said + "; " + more));
    lengths().forEach((name, text) -> run.describe(info -> info.config(name, text)));
  }

  /** What is asked for in code, as the settings of the same names have it. */
  private Map<String, String> lengths() {
    Map<String, String> all = new TreeMap<>(lengths);
    Set<String> different = new LinkedHashSet<>(outputs.values());
    if (!different.stream().allMatch(text -> text.contains("#{"))) {
      all.put(
          Asked.MAX_TOKENS,
          different.size() == 1
              ? different.iterator().next()
              : outputs.entrySet().stream()
                  .map(each -> each.getKey() + ": " + each.getValue())
                  .collect(Collectors.joining("; ")));
    }
    all.putAll(templates(templates, used));
    return all;
  }

  /** As {@link RunInfo#template} reads them: where there are several targets, by their names. */
  static Map<String, String> templates(Map<String, Integer> tokens, List<LlmProtocol> protocols) {
    boolean isOfAll = protocols.stream().map(LlmProtocol::label).distinct().count() < 2;
    Map<String, String> config = new TreeMap<>();
    tokens.forEach(
        (target, more) ->
            config.put(RunInfo.TEMPLATE + (isOfAll ? "" : " " + target), more.toString()));
    return config;
  }

  /** The lengths of prompts that were asked for; null where they have those of their texts. */
  synchronized @Nullable String promptLengths(LlmProtocol protocol) {
    return Stream.of(Asked.PROMPT_TOKENS, Asked.LENGTHS, "scenario", "mix")
        .map(name -> protocol.notes().getOrDefault(name, lengths.get(name)))
        .filter(Objects::nonNull)
        .findFirst()
        .orElse(null);
  }

  /** The tokens that the template of a target adds; null where that is not known. */
  synchronized @Nullable Integer template(LlmProtocol protocol, String target) {
    Map<String, String> said = new TreeMap<>(lengths);
    said.putAll(protocol.notes());
    Integer template = RunInfo.template(said, target);
    return template == null ? templates.get(target) : template;
  }

  synchronized void hasTemplate(String target, int tokens) {
    templates.put(target, tokens);
    describeLengths();
  }

  private @Nullable String start(RunInfo info) {
    return StartCommand.ofProcess(info.simulation(), (name, value) -> isSecret(name, value, used))
        .text();
  }

  /** Whether a property is a key by its name or value, or has one in a URL. */
  static boolean isSecret(String name, String value, List<LlmProtocol> used) {
    // Of our settings most that have "token" in their name are lengths.
    return (name.startsWith("llm.") ? name.equals("llm.apiKey") : Secrets.isNamed(name))
        || !Secrets.redactUrl(value).equals(value)
        || used.stream()
            .map(protocol -> protocol.apiKey() == null ? null : protocol.apiKey().constant())
            .anyMatch(key -> key != null && value.contains(key.strip()));
  }

  /** Prints, once per run, the seed of everything that the simulation sets no seed for. */
  void printSeed() {
    Seed seed = Seed.ofProcess();
    if (seed.isDrawnFrom() && isFirst("seed")) {
      PrintableText.print(
          StartCommand.typed(
              "LLM: seed %s for all that has no seed of its own; llm.seed=%s repeats this"
                  .formatted(seed.value(), seed.value())));
      run.describe(info -> info.config("seedOfTheUnseeded", Long.toString(seed.value())));
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
    String tokenizer = LlmProtocol.TOKENIZER;
    if (values.getOrDefault(tokenizer, Set.of()).size() > 1) {
      protocols.forEach(p -> config.put(tokenizer + " " + p.label(), p.tokenizer().name()));
    }
    return config;
  }

  static Map<String, TargetFacts> facts(
      List<LlmProtocol> protocols, Map<String, Set<AddedField>> rejected) {
    Map<String, TargetFacts> targets = new LinkedHashMap<>();
    for (LlmProtocol protocol : protocols) {
      TargetFacts facts =
          new TargetFacts(
              protocol.pinning() != LlmProtocol.Pinning.NEVER
                  && Collections.disjoint(
                      rejected.getOrDefault(protocol.label(), Set.of()), AddedField.OF_LENGTH),
              protocol.tokenizer().name(),
              protocol.gpus(),
              protocol.costPerHour());
      targets.merge(protocol.label(), facts, TargetFacts::and);
    }
    return targets;
  }

  static ReportOptions report(List<LlmProtocol> protocols) {
    Boolean failOnInvalid =
        InvalidSimulation.checked(
            () ->
                FAIL_ON_INVALID.read(
                    System.getProperties(), System.getenv(), ProcessSetting::booleanOf));
    return protocols.stream()
        .map(protocol -> protocol.report())
        .reduce(new ReportOptions(false, true, failOnInvalid), ReportOptions::and);
  }

  /** Leaves out a field from now on, as the target rejects it; true for the first call of both. */
  boolean leaveOut(String target, AddedField field) {
    boolean first =
        rejected.computeIfAbsent(target, label -> new ConcurrentSkipListSet<>()).add(field);
    run.describe(
        info -> info.config(field.setting(), field.recorded()).targets(facts(used, rejected)));
    return first;
  }

  Set<AddedField> rejectedBy(String target) {
    return rejected.getOrDefault(target, Set.of());
  }

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
    Map<String, TargetSlo> slos = new LinkedHashMap<>();
    used.forEach(each -> slos.putIfAbsent(each.label(), sloOf(each)));
    if (!sloOf(protocol).equals(slos.get(protocol.label()))
        && isFirst("several SLOs " + protocol.label())) {
      PrintableText.print(
          "LLM: "
              + protocol.label()
              + " is used with several SLOs; the summary judges it by the first. Name the targets"
              + " differently to tell them apart");
    }
    boolean isCommon = slos.values().stream().distinct().count() == 1;
    run.describe(info -> info.slo(sloOf(used.get(0)), isCommon ? Map.of() : slos));
  }

  private TargetSlo sloOf(LlmProtocol protocol) {
    Map<String, Slo> named = new TreeMap<>(protocol.sloByName());
    named.putAll(ownSlos.getOrDefault(protocol.label(), Map.of()));
    return TargetSlo.of(protocol.slo(), named);
  }

  /** The protocol that knows whether its servers are asked for the tokens of each event. */
  LlmProtocol asking(LlmProtocol protocol) {
    return asking.computeIfAbsent(
        protocol,
        asked -> {
          ServerFacts server = ServerFacts.ask(asked, StartCommand.isProbe());
          servers.put(asked.label(), server);
          return server.decided();
        });
  }

  /** What is known of a target before the load, by the record of its first request. */
  List<ServerFacts.Fact> facts(String target, RequestRecord first, @Nullable Boolean isKept) {
    ServerFacts server = Objects.requireNonNull(servers.get(target));
    StartCommand probe = StartCommand.ofProcess("", (name, value) -> isSecret(name, value, used));
    return server.of(
        first,
        template(server.protocol, target),
        rejectedBy(target),
        isKept,
        probe.with("concurrency", ServerFacts.NEXT_LEVELS));
  }

  /** The wait for a target, whose time includes that for its first request. */
  ReadyWait readyWait(LlmProtocol protocol) {
    return waits.computeIfAbsent(protocol.label(), label -> new ReadyWait(protocol));
  }

  @Nullable InFlightGate gate(LlmProtocol protocol) {
    Integer limit = share("maxInFlight", protocol.maxInFlight());
    return limit == null ? null : gates.computeIfAbsent(protocol, p -> new InFlightGate(limit));
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

  /** A connection is an open file, and so many users need one each. */
  void requireOpenFiles(LlmProtocol protocol, int users, long free) {
    Integer limit =
        protocol.shareConnections() ? share("maxInFlight", protocol.maxInFlight()) : null;
    if ((limit == null ? users : Math.min(users, limit)) > free) {
      run.refuse();
      throw InvalidSimulation.because(
          "%s concurrent users need a connection each, but this process may open only %s more files; raise its limit (ulimit -n), or set maxInFlight"
              .formatted(NumberText.count(users), NumberText.count(free)));
    }
  }

  private @Nullable Integer share(String name, @Nullable Integer limit) {
    int own = limit == null ? 0 : injector.part().of(limit);
    if (limit != null && own == 0) {
      throw InvalidSimulation.because(
          "injector %s gets nothing of %s=%s; expected %s or more, one for each injector"
              .formatted(injector.share(), name, limit, injector.part().count()));
    }
    return limit == null ? null : (Integer) own;
  }

  /** The limits per minute of all requests to a target, warm-up requests included. */
  @Nullable RateLimiter limiter(LlmProtocol protocol) {
    Integer requests = share("maxRequestsPerMinute", protocol.maxRequestsPerMinute());
    Integer tokens = share("maxTokensPerMinute", protocol.maxTokensPerMinute());
    return requests == null && tokens == null
        ? null
        : limiters.computeIfAbsent(
            protocol.label() + " " + requests + " " + tokens,
            key -> new RateLimiter(requests, tokens, System::nanoTime));
  }

  /**
   * The first texts of the prompts of a protocol. All protocols share one count of prompts, as two
   * may have the same server; warm-up requests have their own, as their number depends on time.
   */
  PreparedRequest.Prefixes prefixes(LlmProtocol protocol, boolean measured) {
    PromptPrefix.Texts texts =
        prefixes.computeIfAbsent(
            List.of(protocol.prefix(), protocol.tokenizer()),
            key -> protocol.prefix().texts(protocol.tokenizer()));
    return new PreparedRequest.Prefixes(
        texts, injector.part(), measured ? prompts : warmUpPrompts, measured ? 0 : WARM_UP_PROMPTS);
  }

  /** The TLS contexts of a target that overrides Gatling's configuration, else null. */
  @Nullable SslContexts tls(
      LlmProtocol protocol, boolean http2, GatlingConfiguration configuration) {
    Boolean verify = protocol.verifyTls();
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
