package io.github.gatlingllm.bench;

import io.github.gatlingllm.engine.EmbeddedEngine;
import java.io.IOException;
import java.time.Duration;

/**
 * A server on a busy machine: an embedded engine with a fixed timetable in a separate process, with
 * threads that only use CPU time, like the polling processes of an inference server. It prints its
 * URL, and ends with its standard input.
 */
final class BusyServer {

  private static final Duration TTFT = Duration.ofMillis(10);
  private static final Duration ITL = Duration.ofMillis(3);

  private static volatile long turns;

  private BusyServer() {}

  /** Argument: number of threads that use CPU time. */
  public static void main(String[] args) throws IOException {
    try (EmbeddedEngine engine = EmbeddedEngine.builder().fixed(TTFT, ITL).start()) {
      MeasuredTimes.warm(engine);
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

  @SuppressWarnings("NonAtomicVolatileUpdate") // a count that nobody reads
  private static void spin() {
    while (true) {
      turns = turns + 1;
    }
  }
}
