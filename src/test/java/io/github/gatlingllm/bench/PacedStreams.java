package io.github.gatlingllm.bench;

import static java.util.stream.Collectors.joining;

import io.github.gatlingllm.record.RecordFile;
import io.github.gatlingllm.record.RequestRecord;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/**
 * How exact a run of ours is on one core, and what it costs, beside the bare Netty client, in
 * turns: server on core 0, client on core 1. A main, not a test, because times depend on the
 * machine.
 *
 * <pre>{@code
 * java -cp target/classes:target/test-classes:… io.github.gatlingllm.bench.PacedStreams \
 *     <case> <rounds> <clients, comma> [JVM option of the clients …]
 * }</pre>
 *
 * <p>Clients are {@code netty} and {@code llm}; with {@code +c2} after its name a client runs
 * without the given options. Errors are a client's duration less the server's, without sign: TTFT
 * from the begin of a request and from the last byte that the server read, gaps between tokens on
 * both sides. Delivery is how much later than the quickest token a token was read.
 */
final class PacedStreams {

  private static final String HERE = "java.class.path";

  private PacedStreams() {}

  private enum Case {
    PACED64(64, 6, 100, 100, 20, 30),
    PACED(256, 6, 100, 100, 20, 30),
    STEP(1_024, 9, 300, 100, 20, 0),
    SHORT(64, Double.parseDouble(System.getProperty("s", "6")), 2, 1, 1, 0),
    SUSTAINED(2_048, 10, 200, 100, 20, 30);

    private final int streams;
    private final double seconds;
    private final int tokens;
    private final double ttftMillis;
    private final double itlMillis;
    private final double spread;

    Case(
        int streams,
        double seconds,
        int tokens,
        double ttftMillis,
        double itlMillis,
        double spread) {
      this.streams = streams;
      this.seconds = seconds;
      this.tokens = tokens;
      this.ttftMillis = ttftMillis;
      this.itlMillis = itlMillis;
      this.spread = spread;
    }
  }

  public static void main(String[] args) throws Exception {
    Case which = Case.valueOf(args[0].toUpperCase(Locale.ROOT));
    List<String> options = List.of(args).subList(3, args.length);
    System.out.println(
        "client      requests    TTFT err p50     p99     max   ITL err p50     p99     max"
            + "   late p50     p99   CPU s  us/event  us/request");
    for (int round = 0; round < Integer.parseInt(args[1]); round++) {
      for (String client : args[2].split(",", -1)) {
        run(which, client, options);
      }
    }
  }

  private static void run(Case of, String client, List<String> options) throws Exception {
    Path folder = Files.createTempDirectory("paced");
    Process server =
        java(
                0,
                List.of("-XX:+UseSerialGC", "-Xmx1g"),
                PacedServer.class.getName(),
                of.tokens,
                of.ttftMillis,
                of.itlMillis,
                of.spread,
                folder.resolve("truth"))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    Process warm =
        java(
                1,
                List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
                PacedServer.class.getName(),
                100,
                1,
                0.2,
                0,
                folder.resolve("warm"))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try {
      String port = lines(server).readLine();
      String warmPort = lines(warm).readLine();
      List<String> jvm = client.endsWith("+c2") ? List.of() : options;
      Map<String, long[]> measured;
      long cpu;
      if (client.startsWith("netty")) {
        Path file = folder.resolve("netty");
        Process netty =
            java(
                    1,
                    jvm,
                    PacedNetty.class.getName(),
                    port,
                    of.streams,
                    of.seconds,
                    of.tokens,
                    file,
                    warmPort)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        cpu = Long.parseLong(lines(netty).readLine());
        var unused = netty.waitFor();
        measured = numbers(file);
      } else {
        warm.getOutputStream().close();
        List<String> all = new ArrayList<>(jvm);
        all.addAll(
            List.of(
                "-Dgatling.http.warmUpUrl=",
                "-Dgatling.data.enableAnalytics=false",
                "--add-opens=java.base/java.lang=ALL-UNNAMED",
                "-Dhttps.proxyHost=127.0.0.1",
                "-Dhttps.proxyPort=1",
                "-Djava.util.prefs.userRoot=" + folder,
                "-Dstreams=" + of.streams,
                "-Dseconds=" + of.seconds,
                "-DbaseUrl=http://127.0.0.1:" + port + "/v1"));
        Process llm =
            java(
                    1,
                    all,
                    "io.gatling.app.Gatling",
                    "-s",
                    PacedSimulation.class.getName(),
                    "-rf",
                    folder.resolve("runs"),
                    "-nr")
                .redirectErrorStream(true)
                .start();
        List<String> said = lines(llm).lines().toList();
        if (Boolean.getBoolean("say")) {
          said.forEach(System.out::println);
        }
        cpu =
            said.stream()
                .filter(line -> line.startsWith("CPU "))
                .mapToLong(line -> Long.parseLong(line.substring(4)))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException(String.join("\n", said)));
        measured = records(folder.resolve("runs"));
      }
      server.getOutputStream().close();
      var unused = server.waitFor();
      print(client, of.tokens, measured, numbers(folder.resolve("truth")), cpu);
    } finally {
      server.destroy();
      warm.destroy();
    }
    try (Stream<Path> all = Files.walk(folder)) {
      for (Path each : all.sorted((a, b) -> b.compareTo(a)).toList()) {
        Files.delete(each);
      }
    }
  }

  private static BufferedReader lines(Process process) {
    return new BufferedReader(
        new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
  }

  private static ProcessBuilder java(int core, List<String> options, String main, Object... args) {
    List<String> command = new ArrayList<>(List.of("taskset", "-c", String.valueOf(core)));
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(options);
    command.addAll(List.of("-cp", System.getProperty(HERE), main));
    Arrays.stream(args).map(Object::toString).forEach(command::add);
    return new ProcessBuilder(command);
  }

  /** Per request: its begin or the read of its last byte, then each token. */
  private static Map<String, long[]> numbers(Path file) throws IOException {
    Map<String, long[]> all = new HashMap<>();
    try (Stream<String> lines = Files.lines(file)) {
      lines.forEach(
          line -> {
            int id = line.indexOf(' ');
            all.put(
                line.substring(0, id),
                Arrays.stream(line.substring(id + 1).split(" ", -1))
                    .mapToLong(Long::parseLong)
                    .toArray());
          });
    }
    return all;
  }

  /** The same of our records: token instants there are whole microseconds after the begin. */
  private static Map<String, long[]> records(Path runs) throws IOException {
    Map<String, long[]> all = new HashMap<>();
    try (Stream<Path> files = Files.find(runs, 3, (p, a) -> p.endsWith("requests.jsonl"))) {
      var unused =
          RecordFile.read(
              files.findFirst().orElseThrow(),
              record -> all.put(record.identity().requestId(), instants(record)));
    }
    return all;
  }

  private static long[] instants(RequestRecord record) {
    long begin = record.timing().admittedUnixNanos();
    int[] offsets = record.events().offsetsMicros();
    long[] instants = new long[offsets.length + 1];
    instants[0] = begin;
    for (int i = 0; i < offsets.length; i++) {
      instants[i + 1] = begin + 1_000L * offsets[i];
    }
    return instants;
  }

  private static void print(
      String client,
      int tokens,
      Map<String, long[]> measured,
      Map<String, long[]> truth,
      long cpu) {
    long missing =
        measured.entrySet().stream()
            .filter(e -> !truth.containsKey(e.getKey()) || e.getValue().length != tokens + 1)
            .count();
    measured
        .entrySet()
        .removeIf(e -> !truth.containsKey(e.getKey()) || e.getValue().length != tokens + 1);
    int requests = measured.size();
    double[] ttft = new double[requests];
    double[] gaps = new double[requests * (tokens - 1)];
    double[] late = new double[requests * tokens];
    int request = 0;
    for (Map.Entry<String, long[]> each : measured.entrySet()) {
      long[] ours = each.getValue();
      long[] theirs = truth.get(each.getKey());
      ttft[request] = Math.abs(ours[1] - ours[0] - (theirs[1] - theirs[0])) / 1e6;
      for (int i = 1; i <= tokens; i++) {
        late[request * tokens + i - 1] = ours[i] - theirs[i];
        if (i > 1) {
          gaps[request * (tokens - 1) + i - 2] =
              Math.abs(ours[i] - ours[i - 1] - (theirs[i] - theirs[i - 1])) / 1e6;
        }
      }
      request++;
    }
    double quickest = Arrays.stream(late).min().orElse(0);
    for (int i = 0; i < late.length; i++) {
      late[i] = (late[i] - quickest) / 1e6;
    }
    System.out.printf(
        Locale.ROOT,
        "%-10s %9d %s %s %s %7.2f %9.2f %11.1f%s%n",
        client,
        requests,
        figures("%15.3f %7.2f %7.1f", ttft),
        figures("%13.4f %7.3f %7.1f", gaps),
        Stream.of(0.5, 0.99)
            .map(share -> String.format(Locale.ROOT, "%8.3f", BenchReport.quantile(late, share)))
            .collect(joining(" ")),
        cpu / 1e9,
        cpu / 1e3 / (requests * (double) tokens),
        cpu / 1e3 / requests,
        missing == 0 ? "" : "  (" + missing + " requests not as the server noted them)");
  }

  private static String figures(String format, double[] values) {
    return String.format(
        Locale.ROOT,
        format,
        BenchReport.quantile(values, 0.5),
        BenchReport.quantile(values, 0.99),
        BenchReport.quantile(values, 1));
  }
}
