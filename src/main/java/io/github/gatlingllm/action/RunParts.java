package io.github.gatlingllm.action;

import io.gatling.core.CoreComponents;
import io.github.gatlingllm.run.Run;
import io.github.gatlingllm.run.RunDirectory;
import io.github.gatlingllm.sample.Slo;
import io.github.gatlingllm.workload.Tokenizer;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;

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
    Set<String> unpinned) {

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
        ConcurrentHashMap.newKeySet());
  }

  /** True for the first caller with that key. */
  boolean isFirst(String key) {
    return warmedUp.add(key);
  }

  /** Notes that a target rejects what pins output; true for the first caller. */
  boolean unpin(String target) {
    run.describe(builder -> builder.config("ignoreEos", "false, the server rejects it"));
    return unpinned.add(target);
  }

  /** Notes in the run what a protocol asks for. */
  void use(LlmProtocol protocol) {
    Map<String, String> config = new LinkedHashMap<>();
    config.put("endpoint", String.join(",", protocol.baseUrls()));
    config.put("stream", Boolean.toString(protocol.streaming()));
    config.put("ignoreEos", Boolean.toString(protocol.pinning() != LlmProtocol.Pinning.NEVER));
    config.put("recordTokens", Boolean.toString(protocol.recording().tokens()));
    config.put("timeout", protocol.requestTimeout().toSeconds() + "s");
    config.put("idleTimeout", protocol.idleTimeout().toSeconds() + "s");
    config.put("connections", protocol.shareConnections() ? "shared" : "perUser");
    config.putAll(protocol.notes());
    Map<String, String> sloByRequest = new TreeMap<>();
    protocol.sloByName().forEach((name, slo) -> sloByRequest.put(name, slo.toString()));
    Slo slo = protocol.slo();
    run.describe(
        builder ->
            builder
                .slo(slo)
                .sloByRequest(sloByRequest)
                .config(config)
                .seed(protocol.seed())
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
