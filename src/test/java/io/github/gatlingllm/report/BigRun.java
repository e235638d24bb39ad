package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.level.Recorded;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.LevelInfo.PhaseWindow;
import io.github.gatlingllm.record.RecordFile;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.Slo;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.UUID;

/**
 * Writes the records of a synthetic open-loop run of any size, to measure how long its report takes
 * to write and to open. Arguments: directory, requests, gaps per request, seconds of load (960),
 * name of the injector (local). Deterministic for each injector.
 *
 * <pre>{@code
 * BigRun big 1000000 10          10 million gaps
 * BigRun big 1800000 199 3600    an hour of 500 requests/s with 200 tokens each: 5.2 GB
 * BigRun part 1000000 5 960 one   an injector of several that are merged: 1.5 GB
 * }</pre>
 */
final class BigRun {

  private static final long START = 1_795_226_400_000_000_000L;
  private static final int LEVELS = 8;

  private final Random random;
  private final String injector;
  private final int requests;
  private final int gaps;
  private final long levelNanos;

  BigRun(int requests, int gaps, int seconds) {
    this(requests, gaps, seconds, "local");
  }

  private BigRun(int requests, int gaps, int seconds, String injector) {
    this.injector = injector;
    random = new Random(injector.equals("local") ? 11 : injector.hashCode());
    this.requests = requests;
    this.gaps = gaps;
    levelNanos = seconds * 1_000_000_000L / LEVELS;
  }

  public static void main(String[] args) throws IOException {
    int seconds = args.length > 3 ? Integer.parseInt(args[3]) : 960;
    String injector = args.length > 4 ? args[4] : "local";
    new BigRun(Integer.parseInt(args[1]), Integer.parseInt(args[2]), seconds, injector)
        .write(Path.of(args[0]));
  }

  void write(Path directory) throws IOException {
    RunFiles files = new RunFiles(directory);
    Files.createDirectories(files.folder());
    try (OutputStream out =
        new BufferedOutputStream(Files.newOutputStream(files.requests()), 1 << 20)) {
      for (int i = 0; i < requests; i++) {
        out.write(RecordFile.line(record(i)));
      }
    }
    info().write(files.info());
  }

  private RunInfo info() {
    List<LevelInfo> stages = new ArrayList<>();
    for (int level = 0; level < LEVELS; level++) {
      long from = START + level * levelNanos;
      PhaseWindow measure = new PhaseWindow(Phase.MEASURE, from, from + levelNanos);
      double rate = rate(level);
      stages.add(
          new LevelInfo(
              label(level), "local", null, "open loop", rate, "requests/s", List.of(measure)));
    }
    return RunInfo.started("bigrun", "demo.BigRun", injector, START)
        .ended(START + LEVELS * levelNanos, RunInfo.State.COMPLETE)
        .slo(Slo.parse("ttft<500ms,tpot<30ms", 95, Slo.Rule.PERCENTILES))
        .stages(stages);
  }

  private double rate(int level) {
    return Math.round(requests * 1e9 / LEVELS / levelNanos * 10) / 10.0 + level * 0.1;
  }

  private String label(int level) {
    return String.format(Locale.ROOT, "r=%.1f", rate(level));
  }

  private RequestRecord record(int i) {
    int level = (int) ((long) i * LEVELS / requests);
    long offset = (long) ((double) i / requests * LEVELS * levelNanos) - level * levelNanos;
    long lag = (long) (50_000 * -Math.log(1 - random.nextDouble()));
    boolean ok = random.nextInt(200) > 0;
    int turn = 1 + i % 5;
    int prompt = (int) Math.min(16_000, 60 * turn * Math.exp(random.nextGaussian()) + 8);
    double[] tokens = new double[ok ? gaps + 1 : random.nextInt(gaps + 1)];
    double ms = (20 + prompt * (turn == 1 ? 0.05 : 0.01)) * (1 + level);
    for (int k = 0; k < tokens.length; k++) {
      tokens[k] = ms;
      ms += 12 * Math.exp(0.3 * random.nextGaussian()) + k * 0.003;
      ms += random.nextInt(20_000) == 0 ? 400 : 0;
    }
    Recorded request =
        Recorded.at((START - Recorded.ORIGIN + level * levelNanos + offset + lag) / 1e6)
            .id(new UUID(random.nextLong(), random.nextLong()).toString())
            .injector(injector)
            .scenario(i % 3 == 0 ? "summary" : "chat")
            .name(i % 3 == 0 ? "summarise" : "ask")
            .turn(turn)
            .target("local")
            .stage(label(level))
            .offset(offset / 1e6)
            .lag(lag / 1e6)
            .connect(0.3)
            .prompt(prompt)
            .server(Map.of("queue_s", 0.002 * (level + 1), "prefill_s", 0.015))
            .tokens(tokens);
    return ok
        ? request.record()
        : request.failed(RequestStatus.TRUNCATED, "The stream ended early").record();
  }
}
