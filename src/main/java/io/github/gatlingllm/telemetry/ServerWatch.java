package io.github.gatlingllm.telemetry;

import io.github.gatlingllm.record.ServerFile;
import io.github.gatlingllm.record.ServerSample;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Reads pages of metrics once a second, all at the same time, and writes {@code server.jsonl}: from
 * the last reading before the first request to one after the last. What a page does, hanging,
 * failing, or sending what is no page, costs the run nothing but a line in that file. Safe for use
 * by several threads; all work is done on one of its own.
 */
public final class ServerWatch {

  private static final Duration INTERVAL = Duration.ofSeconds(1);

  /** Below the interval, so that no reading waits for the one before. */
  private static final Duration TIMEOUT = Duration.ofMillis(900);

  /** Between readings because all users have left: they may come again at once. */
  private static final Duration LEAST_GAP = Duration.ofMillis(200);

  private final ServerFile file;
  private final LongUnaryOperator unixNanos;
  private final LongSupplier nanoClock;
  private final Consumer<String> say;
  private final Duration timeout;
  private final PageClient client;
  private final ScheduledExecutorService worker;
  private final Map<URI, Endpoint> endpoints = new LinkedHashMap<>();
  private final AtomicBoolean isDue = new AtomicBoolean();
  private volatile boolean isWatching;
  private volatile boolean hasBegun;

  /** Whether the last user has left: whoever answers then may go too. */
  private volatile boolean isIdle;

  /** Whether all was read since the last user left; of the worker. */
  private boolean isSettled;

  private long lastNanos;
  private boolean isFailed;

  /** A page, and what is known of it; of the worker. */
  private static final class Endpoint {
    private final MetricsPage page;
    private final PageReader reader = new PageReader();
    private @Nullable String target;
    private String source = "";
    private boolean wasLate;
    private boolean isGivenUp;
    private boolean hasComplained;

    /** Not written yet, as no request was sent. */
    private @Nullable ServerSample latest;

    Endpoint(MetricsPage page) {
      this.page = page;
      target = page.target();
    }
  }

  /**
   * A watch that has no page yet.
   *
   * @param unixNanos epoch time of a reading of {@code nanoClock}
   * @param say takes lines for the console
   */
  public ServerWatch(
      Path serverJsonl, LongUnaryOperator unixNanos, LongSupplier nanoClock, Consumer<String> say) {
    this(serverJsonl, unixNanos, nanoClock, say, TIMEOUT);
  }

  ServerWatch(
      Path serverJsonl,
      LongUnaryOperator unixNanos,
      LongSupplier nanoClock,
      Consumer<String> say,
      Duration timeout) {
    this.timeout = timeout;
    client = new PageClient(timeout);
    file = new ServerFile(serverJsonl);
    this.unixNanos = unixNanos;
    this.nanoClock = nanoClock;
    this.say = say;
    worker =
        Executors.newSingleThreadScheduledExecutor(
            new DefaultThreadFactory("llm-server-metrics", true));
  }

  /**
   * Reads these pages from now on; a page that several targets name is about all. Waits for their
   * first reading, at most for a second: what the server had counted before is known when load
   * starts.
   */
  public void add(List<MetricsPage> pages) {
    await(
        () -> {
          List<Endpoint> added = new ArrayList<>();
          for (MetricsPage page : pages) {
            Endpoint known = endpoints.get(page.uri());
            if (known == null) {
              known = new Endpoint(page);
              endpoints.put(page.uri(), known);
              added.add(known);
            } else if (!page.target().equals(known.target)) {
              known.target = null;
            }
          }
          read(added);
          if (!added.isEmpty() && !isWatching) {
            isWatching = true;
            every(this::readAll);
          }
        });
  }

  private void every(Runnable task) {
    var unused =
        worker.scheduleAtFixedRate(
            task, INTERVAL.toNanos(), INTERVAL.toNanos(), TimeUnit.NANOSECONDS);
  }

  /** Reads all pages now, and waits for that: the load is about to start. */
  public void refresh() {
    if (isWatching) {
      await(this::readAll);
    }
  }

  /** The first request is about to be sent: what is read from now on is kept, and what was last. */
  public void begin() {
    hasBegun = true;
  }

  /** No user is left: soon nobody may answer any more. Returns at once. */
  public void usersLeft() {
    isIdle = true;
    if (isWatching && isDue.compareAndSet(false, true)) {
      long since = nanoClock.getAsLong() - lastNanos;
      try {
        var unused =
            worker.schedule(
                () -> {
                  isDue.set(false);
                  readAll();
                  isSettled = true;
                },
                Math.max(0, LEAST_GAP.toNanos() - since),
                TimeUnit.NANOSECONDS);
      } catch (RejectedExecutionException e) {
        // The run is over.
      }
    }
  }

  /** A user has come again. */
  public void usersCame() {
    isIdle = false;
  }

  /** Reads all pages a last time, unless that was done since the last user left, and ends. */
  public void close() {
    if (isWatching) {
      await(
          () -> {
            if (!isIdle || !isSettled || isDue.get()) {
              readAll();
            }
          });
    }
    worker.shutdownNow();
  }

  private void await(Runnable task) {
    try {
      // One reading may be under way already.
      worker
          .submit(task)
          .get(timeout.multipliedBy(2).plus(INTERVAL).toMillis(), TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException | TimeoutException e) {
      // Over, or the machine stands still: the run does not wait for it.
    } catch (ExecutionException e) {
      say.accept("LLM server metrics: " + e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void readAll() {
    try {
      read(endpoints.values());
    } catch (RuntimeException e) {
      say.accept("LLM server metrics: " + e);
    }
  }

  private record Answer(long askedNanos, String text, @Nullable String error, long tookNanos) {}

  private void read(Iterable<Endpoint> some) {
    Map<Endpoint, CompletableFuture<Answer>> answers = new LinkedHashMap<>();
    for (Endpoint endpoint : some) {
      if (!endpoint.isGivenUp) {
        long asked = nanoClock.getAsLong();
        answers.put(
            endpoint,
            client
                .get(endpoint.page)
                .handle(
                    (text, failure) ->
                        new Answer(
                            asked,
                            text == null ? "" : text,
                            failure == null ? null : failure.getMessage(),
                            nanoClock.getAsLong() - asked)));
      }
    }
    answers.forEach((endpoint, answer) -> take(endpoint, answer.join()));
    lastNanos = nanoClock.getAsLong();
  }

  private void take(Endpoint endpoint, Answer answer) {
    PageReader.Reading reading = null;
    String error = answer.error();
    if (error == null) {
      try {
        reading = endpoint.reader.read(answer.text());
      } catch (IllegalArgumentException e) {
        error = e.getMessage();
      }
    }
    if (reading == null && endpoint.source.isEmpty() && !endpoint.page.isSet()) {
      // The first time, this JVM or the server may be slow.
      boolean isLate = answer.tookNanos() >= timeout.toNanos();
      endpoint.isGivenUp = !isLate || endpoint.wasLate;
      endpoint.wasLate = true;
      return;
    }
    if (reading == null && isIdle) {
      return; // Nobody is left whom it would concern.
    }
    if (reading != null) {
      String source = String.join("+", reading.sources());
      if (endpoint.source.isEmpty()) {
        say.accept(
            "LLM server metrics: %s of %s, once a second".formatted(source, endpoint.page.shown()));
      }
      endpoint.source = source;
    } else if (!endpoint.hasComplained) {
      endpoint.hasComplained = true;
      say.accept(
          "LLM server metrics: nothing from %s: %s; the run goes on without"
              .formatted(endpoint.page.shown(), error));
    }
    PageReader.Reading said = reading == null ? PageReader.Reading.NONE : reading;
    ServerSample sample =
        new ServerSample(
            unixNanos.applyAsLong(answer.askedNanos()),
            endpoint.target,
            endpoint.page.shown(),
            endpoint.source,
            answer.tookNanos() / 1e6,
            reading == null ? error : null,
            said.reset(),
            said.names(),
            said.values(),
            said.histograms());
    if (!hasBegun) {
      if (endpoint.latest == null || reading != null) {
        endpoint.latest = sample;
      }
      return;
    }
    if (endpoint.latest != null) {
      ServerSample first = endpoint.latest;
      endpoint.latest = null;
      write(first.asFirst(endpoint.target));
    }
    write(sample);
  }

  private void write(ServerSample sample) {
    try {
      file.append(sample);
    } catch (IOException e) {
      if (!isFailed) {
        say.accept("LLM server.jsonl could not be written: " + e.getMessage());
      }
      isFailed = true;
    }
  }
}
