package io.github.gatlingllm.run;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.github.gatlingllm.figures.level.LiveStats.LiveFigures;
import io.github.gatlingllm.figures.level.Series;
import io.github.gatlingllm.figures.level.Series.OverTime;
import io.github.gatlingllm.record.GeneratorSecond;
import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.report.RunReport.LivePage;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The live page of a run, with the charts of the report. Thread-safe. */
final class LiveView implements RunObserver {

  private static final long EVENT_NANOS = 1_500_000_000L;

  private final Run run;
  private final long startUnixNanos;
  private final OverTime overTime;
  private final @Nullable LiveServer server;

  /** Figures last shown; retained between two load levels. */
  private @Nullable LiveFigures latest;

  private RunView seen = RunView.OPENED;
  private boolean isJudged;
  private boolean isOver;
  private String event = "";
  private long eventNanos;

  /** If the address is not available, prints a line, and the run continues. */
  LiveView(Run run, InetSocketAddress address, @Nullable GenAiMeters meters) {
    this.run = run;
    startUnixNanos = run.unixNanos(System.nanoTime());
    overTime = new OverTime(startUnixNanos);
    server =
        server(
            address,
            () -> now().html(),
            this::event,
            meters == null ? null : meters.scraped(),
            PrintableText::print);
  }

  @Override
  public String name() {
    return "live page";
  }

  static @Nullable LiveServer server(
      InetSocketAddress address,
      Supplier<String> page,
      Supplier<String> event,
      @Nullable Supplier<String> meters,
      Consumer<String> print) {
    try {
      LiveServer started = new LiveServer(address, page, event, meters);
      print.accept("LLM live page: " + started.address());
      return started;
    } catch (IOException e) {
      print.accept(
          ("LLM live page: %s is not available (%s), so there is none; port 0 takes any "
                  + "free port")
              .formatted(address.getHostString() + ":" + address.getPort(), e.getMessage()));
      return null;
    }
  }

  @Override
  public synchronized void records(List<RequestRecord> batch) {
    for (RequestRecord record : batch) {
      isJudged |= record.outcome().sloOk() != null;
      overTime.accept(record);
    }
  }

  @Override
  public synchronized void tick(RunView view) {
    GeneratorSecond second = view.generator;
    if (second != null && second != seen.generator) {
      overTime.add(second);
    }
    seen = view;
  }

  /** The current event; shared by all viewers that request it within {@value #EVENT_NANOS} ns. */
  private synchronized String event() {
    long nanos = System.nanoTime();
    if (event.isEmpty() || isOver || nanos - eventNanos > EVENT_NANOS) {
      event = now().event();
      eventNanos = nanos;
    }
    return event;
  }

  private synchronized LivePage now() {
    Series series = overTime.soFar(isJudged);
    List<Map.Entry<String, LiveFigures>> finished =
        seen.levels.stream()
            .filter(level -> level.figures() != null)
            .map(level -> Map.entry(level.toString(), level.figures()))
            .toList();
    LiveFigures figures = run.levels().figures(false);
    latest = figures == null ? latest : figures;
    return new LivePage(
        run.simulation(),
        run.id(),
        run.files().page(),
        startUnixNanos,
        isOver,
        isJudged,
        series,
        run.levels().all(),
        latest,
        finished);
  }

  @Override
  public void stop(RunView view) {
    synchronized (this) {
      isOver = true;
    }
    if (server != null) {
      server.close();
    }
  }

  /**
   * Serves the live page at {@code /}, its server-sent events at {@code /events} and meters at
   * {@code /metrics}. Against DNS rebinding, a {@code Host} must be an IP address or a name without
   * a dot, such as {@code localhost} or that of a service of Docker Compose.
   */
  static final class LiveServer implements AutoCloseable {

    /** Each viewer has a thread, which is mostly idle. */
    private static final int MAX_VIEWERS = 16;

    private static final long EVERY_SECONDS = 2;

    /** The JDK's server reads a request on a viewer's thread, by default without a time limit. */
    private static final String MAX_REQUEST_SECONDS = "sun.net.httpserver.maxReqTime";

    static {
      if (System.getProperty(MAX_REQUEST_SECONDS) == null) {
        System.setProperty(MAX_REQUEST_SECONDS, "2");
      }
    }

    private static final Pattern HOST =
        Pattern.compile("(?:[\\w-]+|[\\d.]+|\\[[\\da-fA-F:.]+\\])(?::\\d+)?");

    private final HttpServer server;
    private final Supplier<String> page;
    private final Supplier<String> event;
    private final @Nullable Supplier<String> meters;
    private final CountDownLatch over = new CountDownLatch(1);
    private final String host;
    private final ThreadPoolExecutor viewers =
        new ThreadPoolExecutor(
            0,
            MAX_VIEWERS,
            10,
            TimeUnit.SECONDS,
            new SynchronousQueue<>(),
            Run.threads("llm-live"));

    /**
     * @param meters null where there are none
     */
    LiveServer(
        InetSocketAddress address,
        Supplier<String> page,
        Supplier<String> event,
        @Nullable Supplier<String> meters)
        throws IOException {
      this.page = page;
      this.event = event;
      this.meters = meters;
      host = address.getHostString();
      InetAddress listened = InetAddress.getByName(host);
      server = HttpServer.create(new InetSocketAddress(listened, address.getPort()), 0);
      server.setExecutor(viewers);
      server.createContext("/", this::answer);
      server.start();
    }

    URI address() {
      return URI.create("http://" + host + ":" + server.getAddress().getPort() + "/");
    }

    private void answer(HttpExchange exchange) throws IOException {
      try (exchange) {
        String requestedHost = exchange.getRequestHeaders().getFirst("Host");
        if (requestedHost == null || !HOST.matcher(requestedHost).matches()) {
          send(exchange, 403, "text/plain", "Open " + address() + "\n");
        } else if (!exchange.getRequestMethod().equals("GET")) {
          send(exchange, 405, "text/plain", "GET only\n");
        } else {
          get(exchange);
        }
      }
    }

    private void get(HttpExchange exchange) throws IOException {
      switch (exchange.getRequestURI().getPath()) {
        case "/" -> page(exchange);
        case "/events" -> follow(exchange);
        case "/metrics" -> {
          if (meters == null) {
            send(
                exchange,
                404,
                "text/plain",
                "Add io.micrometer:micrometer-registry-prometheus to the class path\n");
          } else {
            send(exchange, 200, "text/plain; version=0.0.4", meters.get());
          }
        }
        default -> send(exchange, 404, "text/plain", "There are /, /events and /metrics\n");
      }
    }

    private void page(HttpExchange exchange) throws IOException {
      String text;
      try {
        text = page.get();
      } catch (RuntimeException e) {
        send(exchange, 500, "text/plain", "The live page failed: " + e + "\n");
        return;
      }
      send(exchange, 200, "text/html", text);
    }

    private void follow(HttpExchange exchange) throws IOException {
      exchange.getResponseHeaders().set("Content-Type", "text/event-stream");
      exchange.getResponseHeaders().set("Cache-Control", "no-store");
      exchange.sendResponseHeaders(200, 0);
      OutputStream out = exchange.getResponseBody();
      boolean isLast;
      do {
        isLast = over.getCount() == 0;
        out.write(("data: " + event.get() + "\n\n").getBytes(StandardCharsets.UTF_8));
        out.flush();
        awaitNext();
      } while (!isLast);
    }

    private void awaitNext() {
      try {
        boolean unused = over.await(EVERY_SECONDS, TimeUnit.SECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    private static void send(HttpExchange exchange, int status, String type, String text)
        throws IOException {
      byte[] body = text.getBytes(StandardCharsets.UTF_8);
      exchange.getResponseHeaders().set("Content-Type", type + "; charset=utf-8");
      exchange.getResponseHeaders().set("Cache-Control", "no-store");
      exchange.getResponseHeaders().set("X-Content-Type-Options", "nosniff");
      exchange.sendResponseHeaders(status, body.length);
      exchange.getResponseBody().write(body);
    }

    /** Sends the last event to all viewers, within half a second, and stops. */
    @Override
    public void close() {
      over.countDown();
      boolean unused = Run.close(viewers, Duration.ofMillis(500));
      server.stop(0);
    }
  }
}
