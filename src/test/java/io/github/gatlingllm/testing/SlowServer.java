package io.github.gatlingllm.testing;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.ToIntFunction;

/**
 * Logs the time in which it had each request. Answers each after a random time between two bounds,
 * or as soon as a number of requests of its kind have arrived.
 */
public final class SlowServer implements AutoCloseable {

  /** One request as the server saw it, on {@link System#nanoTime()}. */
  public record Visit(String path, long fromNanos, long untilNanos) {

    /** First segment of the path. */
    public String kind() {
      return path.split("/", -1)[1];
    }

    private Occupancy.Stay stay() {
      return new Occupancy.Stay(fromNanos, untilNanos);
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

  /** Answers after random times, so that clients are not synchronized. */
  public static SlowServer between(int fromMillis, int untilMillis) {
    Random random = new Random(1);
    return new SlowServer(
        exchange -> {
          int millis = fromMillis + random.nextInt(untilMillis - fromMillis + 1);
          var unused = exchange.at(TimeUnit.MILLISECONDS.toNanos(millis));
        });
  }

  /**
   * Answers the requests of a kind when that many have arrived: a client with fewer in flight gets
   * no answer, whatever the speed of the machine.
   */
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
    return Occupancy.most(visits(kind).stream().map(Visit::stay).toList());
  }

  /** Mean number of concurrent requests of a kind in a window. */
  public double mean(String kind, long fromNanos, long untilNanos) {
    return Occupancy.mean(visits(kind).stream().map(Visit::stay).toList(), fromNanos, untilNanos);
  }

  @Override
  public void close() throws IOException {
    server.close();
  }
}
