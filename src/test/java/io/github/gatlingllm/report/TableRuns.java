package io.github.gatlingllm.report;

import static io.github.gatlingllm.figures.level.Recorded.ORIGIN;
import static io.github.gatlingllm.figures.level.Recorded.at;

import io.github.gatlingllm.figures.compare.ClassRuns;
import io.github.gatlingllm.figures.level.Levels;
import io.github.gatlingllm.figures.level.Recorded;
import io.github.gatlingllm.figures.level.Runs;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.record.GeneratorSecond;
import io.github.gatlingllm.record.GeneratorSecond.GeneratorField;
import io.github.gatlingllm.record.InjectorRun;
import io.github.gatlingllm.record.InjectorRun.InjectorShare;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.HookCall;
import io.github.gatlingllm.record.LevelInfo.PhaseWindow;
import io.github.gatlingllm.record.LevelInfo.PlannedArrival;
import io.github.gatlingllm.record.Objectives.TargetSlo;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestRecord.AnswerPass;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.RunInfo.TargetFacts;
import io.github.gatlingllm.record.RunOutcome.SingleStream;
import io.github.gatlingllm.record.SelfTest;
import io.github.gatlingllm.record.SelfTest.Errors;
import io.github.gatlingllm.record.SelfTest.Machine;
import io.github.gatlingllm.record.SelfTest.TestedLoad;
import io.github.gatlingllm.record.ServerSample;
import io.github.gatlingllm.record.ServerSample.EngineMetric;
import io.github.gatlingllm.record.ServerSample.Histogram;
import io.github.gatlingllm.record.ServerSample.SampleKind;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.simulations.CheckedSettings;
import io.github.gatlingllm.testing.Reading;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Runs that together have everything that a table can show. */
final class TableRuns {

  static final List<Summary> ALL =
      List.of(
          rich(),
          starting(),
          closed(),
          pairs(),
          embeddings(),
          trials(),
          selfTest(),
          tiers(),
          answers(),
          ClassRuns.run(1, true));

  private TableRuns() {}

  /** The SLO has two tiers, one of which no load holds. */
  private static Summary tiers() {
    Slo gold = Slo.parse("ttft<200ms");
    Map<String, TargetSlo> tiers = new LinkedHashMap<>();
    tiers.put("gold", TargetSlo.of(gold, Map.of()));
    tiers.put("dear", TargetSlo.of(Slo.parse("ttft<50ms"), Map.of()));
    return Levels.of("1:500:100 2:500:300").figures(run -> run.slo(gold).sloTiers(tiers)).summary();
  }

  /** Two targets and two injectors, open loads, with everything that servers can tell. */
  private static Summary rich() {
    List<LevelInfo> levels = new ArrayList<>();
    List<RequestRecord> records = new ArrayList<>();
    List<PlannedArrival> plan = new ArrayList<>();
    for (int k = 0; k < 4; k++) {
      String target = k < 2 ? "a" : "b";
      double from = 10_000.0 * k;
      String label = "r=" + (k % 2 + 1);
      LevelInfo level =
          Runs.stage(label, target, "open loop", k % 2 + 1.0, "requests/s", from, from + 10_000);
      levels.add(hooked(level));
      for (int i = 0; i < 20; i++) {
        double ms = from + 450 * i;
        plan.add(
            new PlannedArrival(
                "scn", target, label, 0, null, ORIGIN + (long) (ms * 1e6), null, null));
        records.add(
            request(at(ms), i)
                .target(target)
                .stage(label)
                .lag(1)
                .model(k > 1 ? "base" : i % 4 < 2 ? "base" : "lora")
                .replica("pod-" + i % 4 / 2)
                .injector("injector-" + (1 + i % 2))
                .record());
      }
    }
    RunInfo run =
        Runs.run(40, levels.toArray(LevelInfo[]::new))
            .slo(Slo.parse("ttft<100ms,tpot<500ms"))
            .targets(
                Map.of(
                    "a", new TargetFacts(false, "chars4", 4.0, 2.5, null),
                    "b", new TargetFacts(false, "chars4", 4.0, 2.5, null)))
            .singleStreams(Map.of("a", new SingleStream(10, 1, 0), "b", new SingleStream(10, 1, 0)))
            .injectors(List.of(injector(1), injector(2)), 2)
            .assertions(CheckedSettings.assertions("ttft.p50<1m", "r=9:ttft.p50<1s"));
    List<GeneratorSecond> seconds = new ArrayList<>();
    List<ServerSample> readings = new ArrayList<>();
    for (int second = 0; second <= 40; second++) {
      long start = ORIGIN + second * 1_000_000_000L;
      seconds.add(second(1, start, 1, 0.1));
      seconds.add(second(2, start, 1, 0.1));
      readings.add(reading(second, "a"));
      readings.add(reading(second, "b"));
    }
    return Runs.figures(run, new Runs.Source(records, plan, seconds, readings)).summary();
  }

  /** A server that answers from the fourth second of its first level on. */
  private static Summary starting() {
    List<RequestRecord> records =
        Recorded.requests(
            800,
            i -> {
              double waitsMs = Math.max(0, 4_000 - i * 50);
              return at(i * 50)
                  .stage(i < 400 ? "r=20" : "r=30")
                  .tokens(waitsMs + 100, waitsMs + 150);
            });
    return Runs.summary(
        Runs.run(40, Runs.rate(20, 0, 20_000), Runs.rate(30, 20_000, 40_000))
            .slo(Slo.parse("ttft<1s")),
        records);
  }

  private static LevelInfo hooked(LevelInfo level) {
    return new LevelInfo(
        level.label(),
        level.target(),
        null,
        level.kind(),
        level.offered(),
        level.unit(),
        level.phases(),
        20L,
        null,
        null,
        List.of(new HookCall("POST /reset", 200, 0.1, false, null)));
  }

  private static Recorded request(Recorded of, int i) {
    if (i == 4) {
      return of.failed(RequestStatus.RATE_LIMITED, "HTTP 429")
          .limits(Map.of("requests_limit", 60.0, "requests_remaining", 0.0), 2.0)
          .paced(100);
    }
    return i == 5
        ? of.failed(RequestStatus.TIMEOUT, "too late").closed(300)
        : of.name(i % 2 == 0 ? "ask" : "follow-up")
            .turn(1 + i % 2)
            .gate(i % 3 * 10.0)
            .tokens(30 + 7 * i, 60 + 8 * i, 700 + 9 * i)
            .prompt(100 + i)
            .cached(30)
            .idealCached(40)
            .session(1_000, 400)
            .finish("stop")
            .server(Map.of("queue_s", 0.01, "own", 3.0))
            .closed(900);
  }

  private static InjectorRun injector(int index) {
    return new InjectorRun(
        "injector-" + index,
        "run-" + index,
        new InjectorShare(index, 2),
        RunInfo.State.COMPLETE,
        ORIGIN,
        ORIGIN + 40_000_000_000L,
        40L,
        40,
        40L,
        40,
        0,
        List.of(
            new InjectorRun.InjectorLevel("r=1", "a", null, 10L, 0L),
            new InjectorRun.InjectorLevel("r=2", "a", null, 10L, 0L),
            new InjectorRun.InjectorLevel("r=1", "b", null, 10L, 0L),
            new InjectorRun.InjectorLevel("r=2", "b", null, 10L, 0L)),
        Map.of());
  }

  /** A second of an injector that uses this share of its two processors. */
  static GeneratorSecond second(int injector, long startUnixNanos, int lagMs, double ownCpu) {
    long own = Math.round(2e9 * ownCpu);
    return new GeneratorSecond()
        .with(GeneratorField.INJECTOR, "injector-" + injector)
        .with(GeneratorField.START_UNIX_NS, startUnixNanos)
        .with(GeneratorField.LENGTH_S, 1_000_000_000L)
        .with(GeneratorField.LOOP_LAG_MAX_US, new int[] {lagMs * 1_000})
        .with(GeneratorField.LATEST_LOOP_US, new int[10])
        .with(GeneratorField.PROCESS_CPU_S, own)
        .with(GeneratorField.MACHINE_USER_S, own)
        .with(GeneratorField.MACHINE_SYSTEM_S, 0L)
        .with(GeneratorField.MACHINE_STEAL_S, 0L)
        .with(GeneratorField.MACHINE_IDLE_S, 2_000_000_000L - own);
  }

  /** Counters grow by 100 a second, gauges are 0.5; two GPUs have the gauges of GPUs. */
  private static ServerSample reading(int second, String target) {
    Map<EngineMetric, Double> values = new EnumMap<>(EngineMetric.class);
    Map<EngineMetric, Double> gpu = new EnumMap<>(EngineMetric.class);
    Map<EngineMetric, Histogram> histograms = new EnumMap<>(EngineMetric.class);
    for (EngineMetric metric : EngineMetric.values()) {
      if (metric.kind() == SampleKind.HISTOGRAM) {
        Histogram grown =
            new Histogram(
                10L * second, second, List.of(0.1, 1.0), List.of(5L * second, 10L * second));
        histograms.put(metric, grown);
      } else {
        values.put(metric, metric.kind() == SampleKind.COUNTER ? 100.0 * second : 0.5);
      }
      if (metric.name().startsWith("GPU_") && metric.kind() == SampleKind.GAUGE) {
        gpu.put(metric, 0.5);
      }
    }
    return Reading.at(ORIGIN + second * 1_000_000_000L, values)
        .histograms(histograms)
        .gpus(Map.of("GPU 0", gpu, "GPU 1", gpu))
        .of(target, "http://" + target + "/metrics")
        .role("decode")
        .sample();
  }

  /** Closed loops: two levels of a target, one of another. */
  private static Summary closed() {
    List<RequestRecord> records = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      records.add(request(at(900 * i), i).stage(i < 10 ? "c=1" : "c=2").record());
    }
    records.add(at(19_000).target("b").stage("c=1").tokens(10, 20).ids("trace", "answer").record());
    SingleStream alone = new SingleStream(10, 1, 0);
    return Runs.summary(
        Runs.run(
                20,
                Runs.stage(1, 0, 9_000),
                Runs.stage(2, 9_000, 18_000),
                Runs.stage("b", 1, 18_000, 20_000))
            .singleStreams(Map.of("a", alone, "b", alone)),
        records);
  }

  /** A grid of lengths at two targets with different models. */
  private static Summary pairs() {
    List<LevelInfo> levels = new ArrayList<>();
    List<RequestRecord> records = new ArrayList<>();
    for (String target : List.of("a", "b")) {
      for (String pair : List.of("128/8", "1024/8")) {
        double from = 10_000.0 * levels.size();
        PhaseWindow window = Runs.stage(1, from, from + 10_000).phases().get(0);
        levels.add(
            new LevelInfo("c=1", target, pair, "closed loop", 1.0, "users", List.of(window)));
        for (int i = 0; i < 9; i++) {
          records.add(
              request(at(from + 1_000 * i), 9 + i)
                  .target(target)
                  .model("model of " + target)
                  .stage("c=1")
                  .scenario(pair)
                  .record());
        }
      }
    }
    return Runs.summary(
        Runs.run(40, levels.toArray(LevelInfo[]::new))
            .slo(Slo.parse("ttft<1s"))
            .config("promptTokens", "128,1024"),
        records);
  }

  /** Embeddings at two targets with different models, of which one has two and two replicas. */
  private static Summary embeddings() {
    List<RequestRecord> records = new ArrayList<>();
    for (int i = 0; i < 24; i++) {
      records.add(
          at(1_000 * i)
              .target(i < 16 ? "a" : "b")
              .stage(i / 8 == 1 ? "c=2" : "c=1")
              .name("embed " + i % 2)
              .model("model " + (i < 16 ? i % 2 : 2))
              .replica("pod-" + i % 2)
              .api("embeddings")
              .inputs(3)
              .prompt(30)
              .closed(200)
              .record());
    }
    return Runs.summary(
        Runs.run(
            24,
            Runs.stage(1, 0, 8_000),
            Runs.stage(2, 8_000, 16_000),
            Runs.stage("b", 1, 16_000, 24_000)),
        records);
  }

  private static Summary trials() {
    return Runs.summary(
        Runs.run(90, Runs.stage("c=2", "a", LevelInfo.BATCH, 2.0, "concurrent", 0, 90_000)),
        Recorded.requests(
            60, i -> at(1_001 + 1_000 * i).stage("c=2").trial(i + 1).tokens(100, 200)));
  }

  /** A level between passes of two prompts, whose answers differ, and of which one is wrong. */
  private static Summary answers() {
    List<RequestRecord> records = new ArrayList<>(List.of(at(0).tokens(10, 20).record()));
    for (AnswerPass pass : AnswerPass.values()) {
      for (int prompt = 1; prompt <= 2; prompt++) {
        Boolean same = pass == AnswerPass.FIRST ? null : (Boolean) false;
        records.add(
            at(500).tokens(10, 20, 30).answer(pass, prompt, same, null, prompt == 1).record());
      }
    }
    return Runs.summary(Runs.run(1, Runs.stage(1, 0, 1_000)), records);
  }

  private static Summary selfTest() {
    TestedLoad level =
        new TestedLoad(4, 100, 400, 8, new Errors(0.1, 2, 3), new Errors(0.01, 0.4, 5), 1.5);
    Machine here = new Machine("A CPU", 2, 1_000, "A VM", List.of(), null);
    return Runs.summary(
        Runs.run(1, Runs.stage(4, 0, 1_000))
            .selfTest(SelfTest.of(ORIGIN, here, Map.of(), 10, List.of(level)))
            .config(SelfTest.ENGINE, "4711"),
        at(0).stage("c=4").tokens(10, 20));
  }
}
