package io.github.gatlingllm.bench;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.github.gatlingllm.simulations.Benchmark;
import io.github.gatlingllm.testing.GatlingRun;
import io.github.gatlingllm.testing.JavaCommand;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * Effect of a run on a server on the same machine that uses all available CPU time, and of the
 * server on the run: TTFT of one stream at a time, beside that of a client that only writes to and
 * reads from a socket. The server is in the session of the clients, then in one of its own.
 */
final class SharedMachine {

  /** On the command line. */
  static final String NAME = "shared";

  private static final Path SETSID = Path.of("/usr/bin/setsid");

  private static final int REQUESTS = 100;
  private static final int TOKENS = 32;

  /** A delta with text. */
  private static final Pattern TOKEN = Pattern.compile("\"content\":\"[^\"]");

  private SharedMachine() {}

  static void measure() throws Exception {
    List<String> server =
        JavaCommand.of(
            List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmn256m"),
            BusyServer.class,
            Runtime.getRuntime().availableProcessors());
    measure("server in our session", server);
    if (Files.isExecutable(SETSID)) {
      List<String> apart = new ArrayList<>(List.of(SETSID.toString(), "--wait"));
      apart.addAll(server);
      measure("server in its own session", apart);
    }
  }

  private static void measure(String name, List<String> command) throws Exception {
    Process server =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    try {
      String url =
          new BufferedReader(new InputStreamReader(server.getInputStream(), StandardCharsets.UTF_8))
              .readLine();
      double before = socket(name + ", socket before", url);
      double ours = ours(name, url, Jvm.ofJar());
      double after = socket(name + ", socket between", url);
      double gatling = ours(name + ", Gatling's JVM options", url, Jvm.ofRun(List.of()));
      double last = socket(name + ", socket last", url);
      say(name + ": TTFT p50, ours ÷ socket", 2 * ours / (before + after), "");
      say(name + ": with Gatling's JVM options ÷ socket", 2 * gatling / (after + last), "");
    } finally {
      server.getOutputStream().close();
      server.waitFor();
    }
  }

  private static void say(String name, double value, String unit) {
    System.out.printf(Locale.ROOT, "%-52s %12.3f %s%n", name, value, unit);
  }

  /** The nearest-rank quantile. */
  private static double quantile(double[] values, double share) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[Math.max(0, (int) Math.ceil(share * sorted.length) - 1)];
  }

  /** Median TTFT in milliseconds. */
  private static double ours(String name, String url, List<String> jvm) throws Exception {
    GatlingRun run =
        GatlingRun.of(Benchmark.class)
            .set("llm.jvmWarmUp", true)
            .set("llm.endpoint", url)
            .llm("prompt=Hello concurrency=1")
            .set("llm.requests", REQUESTS)
            .set("llm.maxTokens", TOKENS)
            .jvm(jvm)
            .run();
    double[] ttft =
        run.requests().stream().mapToDouble(r -> r.timing().ttftNanos() / 1e6).toArray();
    say(name + ", requests", ttft.length, "");
    say(name + ", ITL p50", run.summary().at("/metrics/itl_ms/p50").asDouble(), "ms");
    say(name + ", ITL p99", run.summary().at("/metrics/itl_ms/p99").asDouble(), "ms");
    return median(name, ttft);
  }

  private static double median(String name, double[] ttft) {
    say(name + ", TTFT p50", quantile(ttft, 0.5), "ms");
    say(name + ", TTFT p90", quantile(ttft, 0.9), "ms");
    return quantile(ttft, 0.5);
  }

  /** The same with a blocking socket. */
  private static double socket(String name, String url) throws IOException {
    String body =
        "{\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}],\"stream\":true,"
            + "\"ignore_eos\":true,\"max_tokens\":"
            + TOKENS
            + "}";
    byte[] request =
        ("POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json"
                + "\r\nContent-Length: "
                + body.length()
                + "\r\n\r\n"
                + body)
            .getBytes(US_ASCII);
    double[] ttft = new double[REQUESTS];
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), URI.create(url).getPort())) {
      socket.setTcpNoDelay(true);
      for (int i = 0; i < REQUESTS; i++) {
        ttft[i] = firstToken(socket, request);
      }
    }
    return median(name, ttft);
  }

  private static double firstToken(Socket socket, byte[] request) throws IOException {
    long start = System.nanoTime();
    socket.getOutputStream().write(request);
    InputStream in = socket.getInputStream();
    byte[] buffer = new byte[1 << 16];
    StringBuilder read = new StringBuilder();
    double ttft = 0;
    while (read.indexOf("[DONE]\n\n\r\n0\r\n\r\n") < 0) {
      int length = in.read(buffer);
      if (length < 0) {
        throw new IOException("the server hung up after: " + read);
      }
      read.append(new String(buffer, 0, length, US_ASCII));
      if (ttft == 0 && TOKEN.matcher(read).find()) {
        ttft = (System.nanoTime() - start) / 1e6;
      }
    }
    return ttft;
  }
}
