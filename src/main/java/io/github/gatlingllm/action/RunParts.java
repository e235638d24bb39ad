package io.github.gatlingllm.action;

import io.gatling.core.CoreComponents;
import io.gatling.core.config.GatlingConfiguration;
import io.gatling.http.util.SslContexts;
import io.github.gatlingllm.load.InFlightGate;
import io.github.gatlingllm.run.Run;
import io.github.gatlingllm.run.RunDirectory;
import io.github.gatlingllm.sample.Assertion;
import io.github.gatlingllm.workload.Tokenizer;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/**
 * What all LLM requests of a run share, whatever their scenario and protocol. Made once per run.
 */
record RunParts(
    Run run,
    InFlight inFlight,
    OpenSchedules schedules,
    Tokenizer tokenizer,
    Executor tokenizing,
    Set<String> warmedUp,
    Set<String> unpinned,
    Map<LlmProtocol, InFlightGate> gates,
    Map<TlsTrust, SslContexts> tls,
    List<LlmProtocol> used) {

  static RunParts of(CoreComponents core) {
    Run run = Run.open(RunDirectory.of(core.statsEngine()), injector());
    InFlight inFlight = new InFlight();
    run.beforeInterruption(inFlight::close);
    core.actorSystem()
        .registerOnTermination(
            () -> {
              run.complete();
              return null;
            });
    return new RunParts(
        run,
        inFlight,
        OpenSchedules.of(core),
        Tokenizer.cl100k(),
        Executors.newSingleThreadExecutor(
            task -> {
              Thread thread = new Thread(task, "llm-tokenizer");
              thread.setDaemon(true);
              return thread;
            }),
        ConcurrentHashMap.newKeySet(),
        ConcurrentHashMap.newKeySet(),
        new ConcurrentHashMap<>(),
        new ConcurrentHashMap<>(),
        new CopyOnWriteArrayList<>());
  }

  /** True for the first caller with that key. */
  boolean isFirst(String key) {
    return warmedUp.add(key);
  }

  /** The gate that all requests under that protocol pass; null where there is no limit. */
  @Nullable InFlightGate gate(LlmProtocol protocol) {
    Integer limit = protocol.maxInFlight();
    return limit == null ? null : gates.computeIfAbsent(protocol, p -> new InFlightGate(limit));
  }

  /** The contexts for TLS to that protocol's target; null for those of Gatling's client. */
  @Nullable SslContexts tls(
      LlmProtocol protocol, boolean http2, GatlingConfiguration configuration) {
    Boolean verify = protocol.verifyTls();
    return verify == null
        ? null
        : tls.computeIfAbsent(new TlsTrust(verify, http2), trust -> trust.contexts(configuration));
  }

  /** Notes that a target rejects what pins output; true for the first caller. */
  boolean unpin(String target) {
    run.describe(builder -> builder.config(RunConfig.IGNORE_EOS, RunConfig.UNPINNED));
    return unpinned.add(target);
  }

  /** Notes in the run what a protocol asks for, beside those before it. */
  synchronized void use(LlmProtocol protocol) {
    if (used.contains(protocol)) {
      return;
    }
    used.add(protocol);
    LlmProtocol first = used.get(0);
    if (!protocol.slo().equals(first.slo())) {
      System.out.println(
          "LLM: %s has another SLO than %s; the summary judges all targets by that of %s"
              .formatted(protocol.label(), first.label(), first.label()));
    }
    Map<String, String> sloByRequest = new TreeMap<>();
    used.forEach(
        each -> each.sloByName().forEach((n, slo) -> sloByRequest.putIfAbsent(n, slo.toString())));
    Set<Assertion> assertions = new LinkedHashSet<>();
    used.forEach(each -> each.assertions().forEach(gate -> assertions.add(gate.at(each.label()))));
    Map<String, String> config = RunConfig.of(used);
    if (!unpinned.isEmpty()) {
      config.put(RunConfig.IGNORE_EOS, RunConfig.UNPINNED);
    }
    run.describe(
        builder ->
            builder
                .slo(first.slo())
                .sloByRequest(sloByRequest)
                .assertions(List.copyOf(assertions))
                .config(config)
                .seed(first.seed())
                .versions(Versions.ofThisRun()));
  }

  private static String injector() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      return "localhost";
    }
  }
}
