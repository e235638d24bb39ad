package io.github.gatlingllm.bench;

import io.github.gatlingllm.engine.EmbeddedEngine;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A server on a busy machine: an embedded engine with a fixed timetable in a separate process, with
 * pairs of threads that use CPU time in turns of {@value #TURN_MICROS} µs, as the processes of vLLM
 * wait for each other by polling: a processor's load changes thousands of times a second. It prints
 * its URL, and ends with its standard input.
 */
final class BusyServer {

  private static final Duration TTFT = Duration.ofMillis(10);
  private static final Duration ITL = Duration.ofMillis(3);

  private static final int WARM_ROUNDS = 10;
  private static final int WARM_STREAMS = 64;

  private static final int TURN_MICROS = 150;

  private BusyServer() {}

  /** Argument: number of pairs of threads that use CPU time. */
  public static void main(String[] args) throws IOException {
    try (EmbeddedEngine engine = EmbeddedEngine.builder().fixed(TTFT, ITL).start()) {
      warm(engine);
      for (int i = 0; i < Integer.parseInt(args[0]); i++) {
        Semaphore first = new Semaphore(1);
        Semaphore second = new Semaphore(0);
        busy(first, second);
        busy(second, first);
      }
      System.out.println(engine.baseUrl());
      while (System.in.read() >= 0) {
        // Whoever started it ends it so.
      }
    }
  }

  /** Warms up the engine, which would be late in the first burst while it loads classes. */
  private static void warm(EmbeddedEngine engine) {
    HttpClient client = HttpClient.newHttpClient();
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(engine.baseUrl() + "/chat/completions"))
            .POST(
                HttpRequest.BodyPublishers.ofString(
                    "{\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}],"
                        + "\"stream\":true,\"ignore_eos\":true,\"max_tokens\":20}"))
            .build();
    for (int round = 0; round < WARM_ROUNDS; round++) {
      Stream.generate(() -> client.sendAsync(request, HttpResponse.BodyHandlers.discarding()))
          .limit(WARM_STREAMS)
          .toList()
          .forEach(CompletableFuture::join);
    }
  }

  private static void busy(Semaphore own, Semaphore other) {
    Thread busy =
        new Thread(
            () -> {
              while (true) {
                own.acquireUninterruptibly();
                long end = System.nanoTime() + TimeUnit.MICROSECONDS.toNanos(TURN_MICROS);
                while (System.nanoTime() < end) {
                  Thread.onSpinWait();
                }
                other.release();
              }
            },
            "busy");
    busy.setDaemon(true);
    busy.start();
  }
}
