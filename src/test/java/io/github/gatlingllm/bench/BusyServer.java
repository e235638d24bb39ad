package io.github.gatlingllm.bench;

import io.github.gatlingllm.engine.EmbeddedEngine;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

/**
 * A server on a busy machine: an embedded engine with a fixed timetable in a separate process, with
 * threads that only use CPU time, like the polling processes of an inference server. It prints its
 * URL, and ends with its standard input.
 */
final class BusyServer {

  private static final Duration TTFT = Duration.ofMillis(10);
  private static final Duration ITL = Duration.ofMillis(3);

  private static final int WARM_ROUNDS = 10;
  private static final int WARM_STREAMS = 64;

  private static volatile long turns;

  private BusyServer() {}

  /** Argument: number of threads that use CPU time. */
  public static void main(String[] args) throws IOException {
    try (EmbeddedEngine engine = EmbeddedEngine.builder().fixed(TTFT, ITL).start()) {
      warm(engine);
      for (int i = 0; i < Integer.parseInt(args[0]); i++) {
        Thread busy = new Thread(BusyServer::spin, "busy");
        busy.setDaemon(true);
        busy.start();
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

  @SuppressWarnings("NonAtomicVolatileUpdate") // a count that nobody reads
  private static void spin() {
    while (true) {
      turns = turns + 1;
    }
  }
}
