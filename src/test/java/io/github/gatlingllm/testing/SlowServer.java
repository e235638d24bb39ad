package io.github.gatlingllm.testing;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.function.ToIntFunction;

/** Logs the time in which it had each request, which it answers when many of its kind are there. */
public final class SlowServer implements AutoCloseable {

  /** One request as the server saw it, on {@link System#nanoTime()}. */
  public record Visit(String path, long fromNanos, long untilNanos) {

    /** First segment of the path. */
    public String kind() {
      return path.split("/", -1)[1];
    }
  }

  private final ScriptedServer server;

  private SlowServer(ScriptedServer.Script waiting) {
    server =
        ScriptedServer.start(
            exchange -> {
              waiting.answer(exchange);
              exchange.respond(200, "text/plain", "");
            });
  }

  /** Answers the requests of a kind when that many have arrived. */
  public static SlowServer together(ToIntFunction<String> howMany) {
    Map<String, CountDownLatch> rounds = new ConcurrentHashMap<>();
    return new SlowServer(
        exchange -> {
          String kind = new Visit(exchange.request().path(), 0, 0).kind();
          CountDownLatch round =
              rounds.compute(
                  kind,
                  (same, last) -> {
                    boolean isOver = last == null || last.getCount() == 0;
                    CountDownLatch now =
                        isOver ? new CountDownLatch(howMany.applyAsInt(kind)) : last;
                    now.countDown();
                    return now;
                  });
          var unused = exchange.await(round);
        });
  }

  public String url() {
    return server.baseUrl();
  }

  /** All requests that were answered. */
  public List<Visit> visits() {
    return server.exchanges().stream()
        .filter(exchange -> !exchange.sends().isEmpty())
        .map(
            exchange ->
                new Visit(
                    exchange.request().path(),
                    exchange.request().receivedNanos(),
                    exchange.sends().get(0).beforeNanos()))
        .toList();
  }

  public List<Visit> visits(String kind) {
    return visits().stream().filter(visit -> visit.kind().equals(kind)).toList();
  }

  /** Highest number of concurrent requests of a kind. */
  public int most(String kind) {
    List<Visit> visits = visits(kind);
    return visits.stream()
        .mapToInt(
            at ->
                (int)
                    visits.stream()
                        .filter(v -> v.fromNanos <= at.fromNanos && at.fromNanos < v.untilNanos)
                        .count())
        .max()
        .orElse(0);
  }

  @Override
  public void close() throws IOException {
    server.close();
  }
}
