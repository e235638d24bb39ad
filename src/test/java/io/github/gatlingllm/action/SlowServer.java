package io.github.gatlingllm.action;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/** Answers each request after a time drawn between two bounds, and notes when it had which. */
final class SlowServer implements AutoCloseable {

  /** One request as the server saw it, on the epoch's nanoseconds. */
  record Visit(String path, long fromNanos, long untilNanos) {}

  private final HttpServer server;
  private final ScheduledExecutorService scheduler = Executors.newScheduledThreadPool(2);
  private final List<ScheduledFuture<?>> answers = new ArrayList<>();
  private final List<Visit> visits = new ArrayList<>();
  private final Random random = new Random(1);
  private final int fromMillis;
  private final int untilMillis;

  SlowServer(int fromMillis, int untilMillis) throws IOException {
    // Else the answer waits for the client's delayed acknowledgement.
    System.setProperty("sun.net.httpserver.nodelay", "true");
    this.fromMillis = fromMillis;
    this.untilMillis = untilMillis;
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 512);
    server.createContext("/", this::visit);
    server.start();
  }

  String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  private synchronized void visit(HttpExchange exchange) {
    long from = EpochNanos.now();
    int millis = fromMillis + random.nextInt(untilMillis - fromMillis + 1);
    answers.add(scheduler.schedule(() -> answer(exchange, from), millis, TimeUnit.MILLISECONDS));
  }

  private void answer(HttpExchange exchange, long from) {
    synchronized (this) {
      visits.add(new Visit(exchange.getRequestURI().getPath(), from, EpochNanos.now()));
    }
    try (exchange) {
      exchange.sendResponseHeaders(204, -1);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  synchronized List<Visit> visits() {
    return List.copyOf(visits);
  }

  @Override
  public void close() {
    server.stop(0);
    scheduler.shutdownNow();
  }
}
