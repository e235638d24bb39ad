package io.github.gatlingllm.bench;

import static java.time.Duration.ofMillis;

import io.github.gatlingllm.record.JvmOptions;
import io.github.gatlingllm.record.LevelInfo.PhaseWindow;
import io.github.gatlingllm.record.Phase;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.testing.GatlingRun;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.DoubleStream;

/**
 * The same load under different JVM options: how far TTFT and inter-token gaps are from the
 * server's own times, and what compiler and collector take of the measure window.
 */
final class JvmComparison {

  /** What Gatling's plugin sets. */
  private static final List<String> GATLING =
      List.of("-XX:+HeapDumpOnOutOfMemoryError", "-XX:MaxInlineLevel=20", "-XX:MaxTrivialSize=12");

  private static final Map<String, List<String>> OPTIONS = options();

  private JvmComparison() {}

  private static Map<String, List<String>> options() {
    Map<String, List<String>> all = new LinkedHashMap<>();
    all.put("default", List.of("-Xmx1G"));
    all.put("c1-g1", List.of("-Xmx1G", "-XX:TieredStopAtLevel=1"));
    String fixed = "-Xms1g -Xmx1g -Xmn512m -XX:MetaspaceSize=256m -XX:TieredStopAtLevel=1 ";
    all.put("c1-serial", List.of((fixed + "-XX:+UseSerialGC").split(" ")));
    all.put(
        "c1-serial-touch", List.of((fixed + "-XX:+UseSerialGC -XX:+AlwaysPreTouch").split(" ")));
    all.put("c1-serial-small", List.of("-Xmx1G", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
    all.put("c1-parallel", List.of((fixed + "-XX:+UseParallelGC").split(" ")));
    all.put("c1-zgc", List.of("-Xms1g", "-Xmx1g", "-XX:TieredStopAtLevel=1", "-XX:+UseZGC"));
    all.put(
        "c1-serial-1loop",
        List.of((fixed + "-XX:+UseSerialGC -Dio.netty.eventLoopThreads=1").split(" ")));
    all.put(
        "c1-serial-2loops",
        List.of((fixed + "-XX:+UseSerialGC -Dio.netty.eventLoopThreads=2").split(" ")));
    String c2 = "-Xms1g -Xmx1g -Xmn512m -XX:MetaspaceSize=256m ";
    all.put("c2-serial", List.of((c2 + "-XX:+UseSerialGC").split(" ")));
    all.put(
        "c2-nice",
        List.of(
            (c2 + "-XX:+UseSerialGC -XX:ThreadPriorityPolicy=1 -XX:CompilerThreadPriority=19")
                .split(" ")));
    all.put("recommended", JvmOptions.RECOMMENDED);
    return all;
  }

  public static void main(String[] args) throws Exception {
    String[] names = System.getProperty("rows", "default,recommended").split(",", -1);
    int streams = Integer.getInteger("streams", 64);
    int seconds = Integer.getInteger("seconds", 10);
    int fill = Integer.getInteger("fill", 2);
    int tokens = Integer.getInteger("tokens", 100);
    String clientCores = System.getProperty("clientCores", "1");
    System.out.printf("%d streams, %d s, cores %s%n", streams, seconds, clientCores);
    System.out.println(
        "row | requests | TTFT err p50 / p99 | ITL err p50 / p99 / max | us/event | compiler ms |"
            + " GC ms (max pause) | others");
    for (String name : names) {
      EngineProcess engine =
          EngineProcess.start(List.of("taskset", "-c", "0"), ofMillis(100), ofMillis(20), 0);
      Path gcLog = Files.createTempFile("gc", ".log");
      List<String> jvm = new ArrayList<>(GATLING);
      jvm.addAll(OPTIONS.get(name));
      jvm.add("-Xlog:gc:file=" + gcLog + ":uptime");
      GatlingRun run =
          GatlingRun.of(SteadySimulation.class)
              .set("baseUrl", engine.baseUrl())
              .set("streams", streams)
              .set("seconds", seconds)
              .set("fill", fill)
              .set("tokens", tokens)
              .noReports()
              .jvm(jvm)
              .launchedBy("taskset", "-c", clientCores)
              .start();
      ThreadTimes times = ThreadTimes.until(run.process());
      Map<String, long[]> truths = engine.end();
      PhaseWindow window = run.info().stages().get(0).window(Phase.MEASURE).orElseThrow();
      List<RequestRecord> requests =
          run.requests().stream()
              .filter(r -> r.identity().phase() != Phase.DRAIN && r.outcome().ok())
              .toList();
      double[] ttft = requests.stream().mapToDouble(r -> ttftError(r, truths)).toArray();
      double[] gaps = requests.stream().flatMapToDouble(r -> gapErrors(r, truths)).toArray();
      Map<String, Double> cpu = times.between(window.startUnixNanos(), window.endUnixNanos());
      double compiler = sum(cpu, "C[12] Comp.*");
      double gc = sum(cpu, "(VM Thread|GC Thread.*|G1 .*|ZWorker.*|ZDirector|ZDriver.*|XWorker.*)");
      double all = sum(cpu, ".*");
      double events = window.endUnixNanos() - window.startUnixNanos();
      events = events / 1e9 * streams * tokens / (0.1 + 0.02 * (tokens - 1));
      System.out.printf(
          Locale.ROOT,
          "%s | %d | %.2f / %.1f | %.3f / %.2f / %.1f | %.1f | %.0f | %.0f (%s) | %s%n",
          name,
          requests.size(),
          BenchReport.quantile(ttft, 0.5),
          BenchReport.quantile(ttft, 0.99),
          BenchReport.quantile(gaps, 0.5),
          BenchReport.quantile(gaps, 0.99),
          BenchReport.quantile(gaps, 1),
          all * 1e3 / events,
          compiler,
          gc,
          pauses(gcLog),
          others(cpu));
      Files.delete(gcLog);
    }
  }

  private static String pauses(Path gcLog) throws Exception {
    double max = 0;
    int count = 0;
    Matcher pause = Pattern.compile("Pause .* (\\d+\\.\\d+)ms").matcher(Files.readString(gcLog));
    while (pause.find()) {
      count++;
      max = Math.max(max, Double.parseDouble(pause.group(1)));
    }
    return count + " pauses, max " + max;
  }

  private static String others(Map<String, Double> cpu) {
    StringBuilder text = new StringBuilder();
    cpu.entrySet().stream()
        .filter(e -> e.getValue() >= 20)
        .sorted(Map.Entry.<String, Double>comparingByValue().reversed())
        .forEach(
            e -> text.append(String.format(Locale.ROOT, "%s %.0f, ", e.getKey(), e.getValue())));
    return text.toString();
  }

  private static double sum(Map<String, Double> cpu, String names) {
    return cpu.entrySet().stream()
        .filter(e -> e.getKey().matches(names))
        .mapToDouble(Map.Entry::getValue)
        .sum();
  }

  private static long[] truth(Map<String, long[]> truths, RequestRecord request) {
    long[] truth = truths.get(request.identity().requestId());
    if (truth == null || truth.length - 1 != request.events().offsetsMicros().length) {
      throw new IllegalStateException("not as the engine noted it: " + request.identity());
    }
    return truth;
  }

  private static double ttftError(RequestRecord measured, Map<String, long[]> truths) {
    long[] truth = truth(truths, measured);
    return Math.abs(measured.timing().ttftNanos() - (truth[1] - truth[0])) / 1e6;
  }

  private static DoubleStream gapErrors(RequestRecord measured, Map<String, long[]> truths) {
    int[] arrived = measured.events().offsetsMicros();
    long[] truth = truth(truths, measured);
    double[] errors = new double[arrived.length - 1];
    Arrays.setAll(
        errors,
        i -> Math.abs((arrived[i + 1] - arrived[i]) / 1e3 - (truth[i + 2] - truth[i + 1]) / 1e6));
    return Arrays.stream(errors);
  }
}
