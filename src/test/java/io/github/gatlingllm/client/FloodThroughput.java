package io.github.gatlingllm.client;

import io.github.gatlingllm.client.FloodServer.Extra;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * How many events per CPU second the whole client takes, all its threads and its garbage collector
 * included, beside a bare Netty reader of the same bytes: a main, not a test, because times depend
 * on the machine.
 *
 * <p>A server process floods 64 streams; each reader is a process of its own and they take turns,
 * so that a noisy machine is as noisy for one as for the other, and each has the just-in-time
 * compiler to itself.
 *
 * <pre>{@code
 * java -cp target/classes:target/test-classes:… io.github.gatlingllm.client.FloodThroughput \
 *     [rounds [seconds per round [warm-up seconds [JVM option of the llm reader …]]]]
 * }</pre>
 */
public final class FloodThroughput {

  private static final int STREAMS = 64;
  private static final int EVENT_LOOPS = 2;
  private static final int TOKENS = 2_000;
  private static final List<String> READERS = List.of("netty", "gatling", "llm");

  /** What Gatling's own launchers set. */
  private static final List<String> JVM_OPTIONS =
      List.of(
          "-Xmx1G",
          "-XX:MaxInlineLevel=20",
          "-XX:MaxTrivialSize=12",
          "-Dio.netty.allocator.type=pooled");

  private FloodThroughput() {}

  public static void main(String[] args) throws IOException, InterruptedException {
    int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 5;
    double seconds = args.length > 1 ? Double.parseDouble(args[1]) : 5;
    double warmUp = args.length > 2 ? Double.parseDouble(args[2]) : 5;
    List<String> options = List.of(args).subList(Math.min(3, args.length), args.length);
    for (Stream stream : Stream.values()) {
      System.out.println(stream.description);
      measure(stream, rounds, seconds, warmUp, options);
    }
  }

  /** What the server floods. */
  private enum Stream {
    EVENTS("an event per HTTP chunk", 0, Extra.NOTHING),
    EVENTS_WITH_USAGE("an event per HTTP chunk, usage in each", 0, Extra.USAGE),
    EVENTS_WITH_OBFUSCATION("an event per HTTP chunk, obfuscation in each", 0, Extra.OBFUSCATION),
    BUFFERED("HTTP chunks of 16 KiB", 16 * 1024, Extra.NOTHING);

    private final String description;
    private final int chunkBytes;
    private final Extra extra;

    Stream(String description, int chunkBytes, Extra extra) {
      this.description = description;
      this.chunkBytes = chunkBytes;
      this.extra = extra;
    }
  }

  private static void measure(
      Stream stream, int rounds, double seconds, double warmUp, List<String> options)
      throws IOException, InterruptedException {
    List<Java> started = new ArrayList<>();
    try {
      Java server =
          Java.start(List.of(), FloodServer.class, TOKENS, stream.chunkBytes, stream.extra);
      started.add(server);
      String port = server.line();
      Map<String, Java> readers = new TreeMap<>();
      Map<String, List<Round>> measured = new TreeMap<>();
      for (String name : READERS) {
        Java reader =
            Java.start(
                name.equals("llm") ? options : List.of(),
                FloodClient.class,
                name,
                port,
                STREAMS,
                TOKENS,
                EVENT_LOOPS);
        started.add(reader);
        readers.put(name, reader);
        measured.put(name, new ArrayList<>());
        reader.round(warmUp);
      }
      for (int round = 0; round < rounds; round++) {
        for (String name : READERS) {
          measured.get(name).add(readers.get(name).round(seconds));
        }
      }
      double reference = Round.median(measured.get("netty")).perCpuSecond();
      for (String name : READERS) {
        Round median = Round.median(measured.get(name));
        System.out.printf(
            Locale.ROOT,
            "  %-8s %,10.0f events per CPU second, %3.0f ns each, %3.0f %% of bare Netty,"
                + " %4.0f bytes of garbage each%n",
            name,
            median.perCpuSecond(),
            1e9 / median.perCpuSecond(),
            100 * median.perCpuSecond() / reference,
            (double) median.allocated() / median.events());
      }
    } finally {
      for (Java java : started) {
        java.end();
      }
    }
  }

  private record Round(long events, long cpuNanos, long allocated) {

    static Round of(String line) {
      String[] numbers = line.split(" ", -1);
      return new Round(
          Long.parseLong(numbers[0]), Long.parseLong(numbers[1]), Long.parseLong(numbers[2]));
    }

    static Round median(List<Round> rounds) {
      return rounds.stream()
          .sorted(java.util.Comparator.comparingDouble(Round::perCpuSecond))
          .toList()
          .get(rounds.size() / 2);
    }

    double perCpuSecond() {
      return events * 1e9 / cpuNanos;
    }
  }

  /** A process of this class path, talked to line by line; it ends with its standard input. */
  private record Java(Process process, PrintStream in, BufferedReader out) {

    static Java start(List<String> options, Class<?> main, Object... args) throws IOException {
      List<String> command = new ArrayList<>();
      command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
      command.addAll(JVM_OPTIONS);
      command.addAll(options);
      command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
      for (Object arg : args) {
        command.add(arg.toString());
      }
      Process process =
          new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
      return new Java(
          process,
          new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8),
          new BufferedReader(
              new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8)));
    }

    Round round(double seconds) throws IOException {
      in.println(seconds);
      return Round.of(line());
    }

    String line() throws IOException {
      String line = out.readLine();
      if (line == null) {
        throw new IOException("a process ended early: " + process.info().commandLine().orElse(""));
      }
      return line;
    }

    void end() throws InterruptedException {
      in.close();
      process.waitFor();
    }
  }
}
