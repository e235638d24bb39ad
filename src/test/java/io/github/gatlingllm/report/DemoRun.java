package io.github.gatlingllm.report;

import static java.util.stream.Collectors.toMap;

import io.github.gatlingllm.figures.level.Recorded;
import io.github.gatlingllm.figures.level.RunStatistics.RunFigures;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.LevelInfo.PhaseWindow;
import io.github.gatlingllm.record.LevelInfo.PlannedArrival;
import io.github.gatlingllm.record.Objectives.Assertion;
import io.github.gatlingllm.record.RecordFile;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.RunInfo.RunEnvironment;
import io.github.gatlingllm.record.RunOutcome.SingleStream;
import io.github.gatlingllm.record.ServerSample;
import io.github.gatlingllm.record.ServerSample.EngineMetric;
import io.github.gatlingllm.record.ServerSample.ServerFile;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.record.StartCommand;
import io.github.gatlingllm.simulations.CheckedSettings;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * A synthetic sweep against a simulated server with continuous batching: each step gives every
 * running answer one token, a new prompt makes the step longer, and requests without a slot wait.
 * So throughput grows with load until the slots are full; then latency grows instead.
 * Deterministic.
 */
final class DemoRun {

  private static final long START = 1_795_226_400_000_000_000L;
  private static final double LEVEL_MS = 20_000;
  private static final int SLOTS = 24;

  private final List<Integer> levels;
  private final List<String> targets;
  private final List<String> names;
  private Random random = new Random(7);
  private double slowness = 1;
  private final List<RequestRecord> records = new ArrayList<>();
  private final List<LevelInfo> stages = new ArrayList<>();
  private Slo slo = Slo.parse("ttft<500ms,tpot<30ms", 95, Slo.Rule.PERCENTILES);
  private List<Assertion> assertions = List.of();
  private int failOneIn = 180;
  private long mostRequests = Long.MAX_VALUE;
  private List<String> scenarios = List.of("default");
  private boolean open;
  private RunInfo.State state = RunInfo.State.COMPLETE;
  private Map<String, Double> server = Map.of();
  private boolean observed;
  private int gpus = 4;

  DemoRun(List<Integer> levels, List<String> targets, List<String> names) {
    this.levels = levels;
    this.targets = targets;
    this.names = names;
  }

  static DemoRun sweep() {
    return new DemoRun(
        List.of(1, 2, 4, 8, 16, 24, 32, 48, 64), List.of("local"), List.of("ask", "follow-up"));
  }

  /** Another run of the same server. */
  DemoRun seed(long seed) {
    random = new Random(seed);
    return this;
  }

  /** This run with steps that take this many times as long. */
  DemoRun slower(double factor) {
    slowness = factor;
    return this;
  }

  /** Open loops of two scenarios at a server that reports its times. */
  static DemoRun openScenarios() {
    return new DemoRun(List.of(1, 8, 24, 48), List.of("local"), List.of("ask"))
        .open()
        .reporting()
        .scenarios("chat", "summary");
  }

  DemoRun withoutSlo() {
    slo = Slo.NONE;
    return this;
  }

  /** With assertions as they are written in settings. */
  DemoRun demanding(String... gates) {
    assertions = CheckedSettings.assertions(gates);
    return this;
  }

  /** With assertions of any form. */
  DemoRun demanding(List<Assertion> gates) {
    assertions = gates;
    return this;
  }

  DemoRun failing() {
    failOneIn = 1;
    return this;
  }

  DemoRun single() {
    mostRequests = 1;
    return this;
  }

  /** This run with its requests as planned arrivals, each a little late. */
  DemoRun open() {
    open = true;
    return this;
  }

  DemoRun scenarios(String... labels) {
    scenarios = List.of(labels);
    return this;
  }

  DemoRun interrupted() {
    state = RunInfo.State.INTERRUPTED;
    return this;
  }

  /** This run with answers that report their queue time in the server. */
  DemoRun reporting() {
    return reporting(Map.of("queue_s", 0.002, "prefill_s", 0.011));
  }

  /** This run with answers that report these times, in seconds. */
  DemoRun reporting(Map<String, Double> times) {
    server = times;
    return this;
  }

  /** This run with metrics of the engine and four GPUs, one failed reading, and a price. */
  DemoRun observed() {
    observed = true;
    return this;
  }

  DemoRun gpus(int count) {
    gpus = count;
    return this;
  }

  private List<ServerSample> readings() {
    List<ServerSample> readings = new ArrayList<>();
    long end = records.stream().mapToLong(r -> closed(r)).max().orElse(START);
    List<Double> bounds = List.of(0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56);
    for (long at = START - nanos(300); at < end + nanos(1_000); at += nanos(1_000)) {
      long now = at;
      List<RequestRecord> ended = records.stream().filter(r -> closed(r) <= now).toList();
      long running =
          records.stream()
              .filter(r -> r.outcome().ok() && first(r) <= now && closed(r) > now)
              .count();
      long waiting =
          records.stream()
              .filter(r -> r.outcome().ok() && r.timing().startUnixNanos() <= now && first(r) > now)
              .count();
      double tokens = 0;
      long[] counts = new long[bounds.size()];
      double sum = 0;
      for (RequestRecord record : records) {
        for (int micros : record.events().offsetsMicros()) {
          tokens += record.timing().startUnixNanos() + micros * 1_000L <= now ? 1 : 0;
        }
      }
      for (RequestRecord record : ended) {
        double ttft = 0.9 * (first(record) - record.timing().startUnixNanos()) / 1e9;
        sum += ttft;
        for (int i = 0; i < counts.length; i++) {
          counts[i] += ttft <= bounds.get(i) ? 1 : 0;
        }
      }
      List<Long> buckets = Arrays.stream(counts).boxed().toList();
      boolean failed = readings.size() == 10;
      readings.add(
          new ServerSample(
              at,
              targets.get(0),
              "http://127.0.0.1:8000/metrics",
              "vllm+dcgm",
              2.5,
              failed ? "no answer within 900 ms" : null,
              false,
              Map.of(
                  EngineMetric.REQUESTS_RUNNING, "vllm:num_requests_running",
                  EngineMetric.REQUESTS_WAITING, "vllm:num_requests_waiting",
                  EngineMetric.KV_CACHE_USE, "vllm:kv_cache_usage_perc",
                  EngineMetric.GENERATION_TOKENS, "vllm:generation_tokens_total",
                  EngineMetric.ENGINE_TTFT_S, "vllm:time_to_first_token_seconds",
                  EngineMetric.GPU_POWER_W, "DCGM_FI_DEV_POWER_USAGE"),
              failed
                  ? Map.of()
                  : Map.ofEntries(
                      Map.entry(EngineMetric.REQUESTS_RUNNING, (double) running),
                      Map.entry(EngineMetric.REQUESTS_WAITING, (double) waiting),
                      Map.entry(EngineMetric.KV_CACHE_USE, running / 33.0),
                      Map.entry(EngineMetric.PREFIX_CACHE_QUERIES, tokens),
                      Map.entry(EngineMetric.PREFIX_CACHE_HITS, tokens / 4),
                      Map.entry(EngineMetric.PREEMPTIONS, (double) Math.max(0, ended.size() - 900)),
                      Map.entry(EngineMetric.GENERATION_TOKENS, 7_000 + tokens),
                      Map.entry(EngineMetric.SPEC_DRAFTS, tokens / 2),
                      Map.entry(EngineMetric.SPEC_DRAFT_TOKENS, tokens),
                      Map.entry(EngineMetric.SPEC_ACCEPTED_TOKENS, tokens / 2),
                      Map.entry(EngineMetric.PROMPT_TOKENS, 70_000 + 2 * tokens),
                      Map.entry(EngineMetric.REQUESTS_FINISHED, 50.0 + ended.size()),
                      Map.entry(EngineMetric.GPU_UTILIZATION, running == 0 ? 0.02 : 0.93),
                      Map.entry(EngineMetric.GPU_MEMORY_USED_BYTES, 68e9),
                      Map.entry(EngineMetric.GPU_MEMORY_TOTAL_BYTES, 80e9),
                      Map.entry(EngineMetric.GPU_POWER_W, 400 + 60.0 * running),
                      Map.entry(EngineMetric.NODE_CPU_USE, 0.1 + running / 100.0),
                      Map.entry(EngineMetric.NODE_MEMORY_AVAILABLE_BYTES, 210e9)),
              failed
                  ? Map.of()
                  : Map.of(
                      EngineMetric.ENGINE_TTFT_S,
                      new ServerSample.Histogram(ended.size(), sum, bounds, buckets),
                      EngineMetric.ENGINE_QUEUE_S,
                      new ServerSample.Histogram(ended.size(), 0.7 * sum, List.of(), List.of())),
              failed ? Map.of() : gpus(running, (double) (at - START) / (end - START))));
    }
    return readings;
  }

  /** The last GPU gets hot in the second half of the run. */
  private Map<String, Map<EngineMetric, Double>> gpus(long running, double part) {
    Map<String, Map<EngineMetric, Double>> all = new LinkedHashMap<>();
    for (int i = 0; i < gpus; i++) {
      boolean isHot = i == gpus - 1 && part > 0.5;
      double use = running == 0 ? 0.02 : Math.min(0.99, 0.6 + running / 64.0);
      all.put(
          "node-1 GPU " + i,
          Map.of(
              EngineMetric.GPU_CLOCK_MHZ,
              isHot ? 1_980 - 1_600 * (part - 0.5) : 1_980.0 - 15 * i,
              EngineMetric.GPU_TEMPERATURE_C,
              isHot ? 88 : 45 + 30 * use - i % 4,
              EngineMetric.GPU_POWER_W,
              (isHot ? 0.7 : 1) * (120 + 450 * use + 3 * i),
              EngineMetric.GPU_UTILIZATION,
              use - 0.01 * (i % 4),
              EngineMetric.GPU_MEMORY_USED_BYTES,
              68e9 + 1e9 * (i % 4),
              EngineMetric.GPU_MEMORY_TOTAL_BYTES,
              80e9));
    }
    return all;
  }

  private static long first(RequestRecord record) {
    Long ttft = record.timing().ttftNanos();
    return record.timing().startUnixNanos() + (ttft == null ? 0 : ttft);
  }

  private static long closed(RequestRecord record) {
    Long closed = record.timing().closedUnixNanos();
    return closed == null ? record.timing().startUnixNanos() : closed;
  }

  /** Writes the records and {@code run.json} like a real run. */
  void write(Path run) throws IOException {
    RunFiles files = new RunFiles(run);
    RunInfo info = recorded();
    info.write(files.info());
    try (OutputStream out = Files.newOutputStream(files.requests())) {
      for (RequestRecord record : records) {
        out.write(RecordFile.line(record));
      }
    }
    PlannedArrival.append(files.arrivals(), plan().iterator(), each -> each);
    if (observed) {
      ServerFile file = new ServerFile(files.server());
      for (ServerSample reading : readings()) {
        file.append(reading);
      }
    }
  }

  /** An arrival for each request, where they are planned. */
  private List<PlannedArrival> plan() {
    return records.stream()
        .filter(record -> record.timing().scheduledOffsetNanos() != null)
        .map(
            record ->
                new PlannedArrival(
                    record.identity().scenario(),
                    record.identity().target(),
                    record.identity().stage(),
                    0,
                    null,
                    record.timing().scheduledUnixNanos(),
                    null,
                    null))
        .toList();
  }

  RunFigures figures() {
    RunInfo info = recorded();
    List<ServerSample> readings = observed ? readings() : List.of();
    return Recorded.figures(info, new Recorded.Source(records, plan(), List.of(), readings));
  }

  private RunInfo recorded() {
    double clock = 0;
    for (int t = 0; t < targets.size(); t++) {
      for (int users : levels) {
        clock = level(users, targets.get(t), slowness * (1 + 0.5 * t), clock) + 1000;
      }
    }
    return RunInfo.started(
            "demosimulation-20261121021500000", "demo.DemoSimulation", "local", START)
        .ended(START + nanos(clock), state)
        .seed(42L)
        .versions(Map.of("gatling", "3.15.1", "java", "17.0.12"))
        .config(
            Map.of(
                "tokenizer",
                "tiktoken:cl100k_base",
                "dataset",
                "built in",
                StartCommand.CONFIG_NAME,
                "mvn -B -q verify -Dgatling.simulationClass=demo.DemoSimulation"
                    + " -DbaseUrl=http://gpu-host.example.com:8000/v1 -Dmodel=llama-8b"))
        .targets(
            targets.stream()
                .collect(
                    toMap(
                        t -> t,
                        t ->
                            new RunEnvironment.TargetFacts(
                                false, "chars4", 4.0, observed ? 2.5 : null))))
        .singleStreams(observed ? Map.of(targets.get(0), new SingleStream(128, 2.56, 2)) : Map.of())
        .slo(slo)
        .stages(stages)
        .assertions(assertions);
  }

  /** An answer in progress. */
  private static final class Answer {
    final double startMs;
    final double[] tokenMs;
    int tokens;
    double prefillMs = 12;

    Answer(double startMs, int length) {
      this.startMs = startMs;
      tokenMs = new double[length];
    }
  }

  /** Runs a closed loop of this many users; returns the end of its last answer. */
  private double level(int users, String target, double slowness, double from) {
    Deque<Answer> waiting = new ArrayDeque<>();
    List<Answer> running = new ArrayList<>();
    for (int user = 0; user < users; user++) {
      ask(waiting, from + 5 * random.nextDouble(), users, target);
    }
    double now = from;
    while (!waiting.isEmpty() || !running.isEmpty()) {
      double step = slowness * (8 + 0.3 * running.size()) * Math.exp(0.07 * random.nextGaussian());
      while (!waiting.isEmpty() && running.size() < SLOTS) {
        Answer next = waiting.remove();
        next.prefillMs = 14 + 8 * random.nextDouble();
        step += slowness * next.prefillMs;
        running.add(next);
      }
      now += step;
      for (Iterator<Answer> answers = running.iterator(); answers.hasNext(); ) {
        Answer answer = answers.next();
        answer.tokenMs[answer.tokens++] = now + 0.4 * random.nextDouble() - answer.startMs;
        if (answer.tokens == answer.tokenMs.length) {
          answers.remove();
          records.add(record(answer, users, target));
          if (now < from + LEVEL_MS) {
            ask(waiting, now + 1, users, target);
          }
        }
      }
    }
    double end = Math.max(now, from + LEVEL_MS);
    stages.add(
        new LevelInfo(
            label(users),
            target,
            null,
            open ? "open loop" : "closed loop",
            (double) users,
            open ? "requests/s" : "users",
            List.of(
                new PhaseWindow(Phase.MEASURE, START + nanos(from), START + nanos(from + LEVEL_MS)),
                new PhaseWindow(Phase.DRAIN, START + nanos(from + LEVEL_MS), START + nanos(end)))));
    return end;
  }

  private String label(int users) {
    return (open ? "r=" : "c=") + users;
  }

  private void ask(Deque<Answer> waiting, double start, int users, String target) {
    if (mostRequests-- <= 0) {
      return;
    }
    if (random.nextInt(failOneIn) == 0) {
      records.add(record(new Answer(start, 0), users, target));
      if (failOneIn > 1) {
        ask(waiting, start + 20, users, target);
      }
    } else {
      waiting.add(new Answer(start, 96 + random.nextInt(65)));
    }
  }

  private RequestRecord record(Answer answer, int users, String target) {
    int index = records.size();
    double lag = open ? 0.02 + index * 7_919 % 400_000 / 1e6 : 0;
    int prompt = (int) Math.round(Math.pow(answer.prefillMs / 4, 4));
    Recorded request =
        Recorded.at((START - Recorded.ORIGIN) / 1e6 + answer.startMs + lag)
            .id("request-" + index)
            .injector("local")
            .scenario(scenarios.get(index % scenarios.size()))
            .name(names.get(index % names.size()))
            .target(target)
            .model("qwen2.5-7b-instruct")
            .stage(label(users))
            .gate(0.02 + 0.03 * random.nextDouble())
            .connect(0.3 + 0.2 * random.nextDouble())
            .prompt(prompt);
    if (open) {
      request.offset(answer.startMs).lag(lag);
    } else {
      request.turn(1 + index % 4);
    }
    return answer.tokens == 0
        ? request
            .closed(3)
            .failed(RequestStatus.HTTP_ERROR, "HTTP 503 instead of 200: the server is overloaded")
            .record()
        : request.tokens(answer.tokenMs).cached(prompt / 4).server(server).record();
  }

  private static long nanos(double ms) {
    return Math.round(ms * 1e6);
  }
}
