package io.github.gatlingllm.report;

import static java.util.stream.Collectors.toMap;

import io.github.gatlingllm.figures.level.Recorded;
import io.github.gatlingllm.figures.level.RunStatistics.RunFigures;
import io.github.gatlingllm.figures.level.Runs;
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
import io.github.gatlingllm.record.RunInfo.TargetFacts;
import io.github.gatlingllm.record.RunOutcome.SingleStream;
import io.github.gatlingllm.record.ServerSample;
import io.github.gatlingllm.record.ServerSample.EngineMetric;
import io.github.gatlingllm.record.ServerSample.ServerFile;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.record.StartCommand;
import io.github.gatlingllm.simulations.CheckedSettings;
import io.github.gatlingllm.testing.Reading;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
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

  DemoRun seed(long seed) {
    random = new Random(seed);
    return this;
  }

  /** This run with steps that take this many times as long. */
  DemoRun slower(double factor) {
    slowness = factor;
    return this;
  }

  DemoRun withoutSlo() {
    slo = Slo.NONE;
    return this;
  }

  DemoRun demanding(String... gates) {
    assertions = CheckedSettings.assertions(gates);
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

  /** This run with answers that report these times, in seconds. */
  DemoRun reporting(Map<String, Double> times) {
    server = times;
    return this;
  }

  /** This run with metrics of the engine and its GPUs, one failed reading, and a price. */
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
    for (long at = START - nanos(300); at < end + nanos(1_000); at += nanos(1_000)) {
      long now = at;
      double running =
          records.stream()
              .filter(r -> r.outcome().ok() && first(r) <= now && closed(r) > now)
              .count();
      double tokens = 0;
      for (RequestRecord record : records) {
        for (int micros : record.events().offsetsMicros()) {
          tokens += record.timing().startUnixNanos() + micros * 1_000L <= now ? 1 : 0;
        }
      }
      boolean failed = readings.size() == 10;
      Reading reading =
          failed
              ? Reading.at(at, Map.of()).failed("no answer within 900 ms")
              : Reading.at(
                      at,
                      Map.of(
                          EngineMetric.REQUESTS_RUNNING, running,
                          EngineMetric.GENERATION_TOKENS, 7_000 + tokens,
                          EngineMetric.GPU_POWER_W, 400 + 60.0 * running))
                  .gpus(gpus(running));
      readings.add(reading.of(targets.get(0), "http://127.0.0.1:8000/metrics").sample());
    }
    return readings;
  }

  private Map<String, Map<EngineMetric, Double>> gpus(double running) {
    Map<String, Map<EngineMetric, Double>> all = new LinkedHashMap<>();
    for (int i = 0; i < gpus; i++) {
      all.put(
          "node-1 GPU " + i,
          Map.of(
              EngineMetric.GPU_CLOCK_MHZ,
              1_980.0 - 15 * i,
              EngineMetric.GPU_TEMPERATURE_C,
              45 + running - i % 4));
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

  void write(Path run) throws IOException {
    RunFiles files = write(run, recorded(), records);
    PlannedArrival.append(files.arrivals(), plan().iterator(), each -> each);
    ServerFile server = new ServerFile(files.server());
    for (ServerSample reading : observed ? readings() : List.<ServerSample>of()) {
      server.append(reading);
    }
  }

  static RunFiles write(Path run, RunInfo info, List<RequestRecord> records) throws IOException {
    RunFiles files = new RunFiles(run);
    info.write(files.info());
    try (OutputStream out = Files.newOutputStream(files.requests())) {
      for (RequestRecord record : records) {
        out.write(RecordFile.line(record));
      }
    }
    return files;
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
    return Runs.figures(info, new Runs.Source(records, plan(), List.of(), readings));
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
                        t -> new TargetFacts(false, "chars4", 4.0, observed ? 2.5 : null, null))))
        .singleStreams(observed ? Map.of(targets.get(0), new SingleStream(128, 2.56, 2)) : Map.of())
        .slo(slo)
        .stages(stages)
        .assertions(assertions);
  }

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
    if (random.nextInt(180) == 0) {
      records.add(record(new Answer(start, 0), users, target));
      ask(waiting, start + 20, users, target);
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
        : request
            .tokens(answer.tokenMs)
            .cached(prompt / 4)
            .idealCached(prompt / 3)
            .server(server)
            .record();
  }

  private static long nanos(double ms) {
    return Math.round(ms * 1e6);
  }
}
