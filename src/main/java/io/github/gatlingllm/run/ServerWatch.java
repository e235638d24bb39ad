package io.github.gatlingllm.run;

import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.record.ServerSample;
import io.github.gatlingllm.record.ServerSample.ServerFile;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Reads all metrics pages once a second, concurrently, and writes {@code server.jsonl}. A page that
 * hangs, fails or is invalid only adds a line with its error.
 */
final class ServerWatch implements RunObserver {

  /** Below a second, so that no reading waits for the previous one. */
  private static final Duration TIMEOUT = Duration.ofMillis(900);

  /** Minimum time before a reading after the last user has left, which may happen often. */
  private static final long MIN_GAP_NANOS = 200_000_000;

  private final ServerFile file;
  private final LongUnaryOperator unixNanos;
  private final LongSupplier nanoClock;
  private final Consumer<String> print;
  private final WriteFailures failures;
  private final Duration timeout;
  private final PageClient client;
  private final Map<URI, Endpoint> endpoints = new LinkedHashMap<>();
  private RunView seen = RunView.OPENED;
  private long lastNanos;

  private static final class Endpoint {
    private final MetricsPage page;
    private final PageReader reader = new PageReader();
    private @Nullable String target;
    private String source = "";
    private boolean timedOutOnce;
    private boolean isGivenUp;
    private boolean isErrorPrinted;

    /** The latest reading before the first request; not written yet. */
    private @Nullable ServerSample latest;

    Endpoint(MetricsPage page) {
      this.page = page;
      target = page.target();
    }
  }

  ServerWatch(Run run) {
    this(
        run.files().server(),
        run::unixNanos,
        System::nanoTime,
        PrintableText::print,
        run.failures(),
        TIMEOUT);
  }

  ServerWatch(
      Path serverJsonl,
      LongUnaryOperator unixNanos,
      LongSupplier nanoClock,
      Consumer<String> print,
      WriteFailures failures,
      Duration timeout) {
    this.timeout = timeout;
    client = new PageClient(timeout);
    file = new ServerFile(serverJsonl);
    this.unixNanos = unixNanos;
    this.nanoClock = nanoClock;
    this.print = print;
    this.failures = failures;
  }

  @Override
  public String name() {
    return "server metrics";
  }

  /** A page that several targets have configured describes all of them. */
  @Override
  public void start(RunView view) {
    List<Endpoint> added = new ArrayList<>();
    for (MetricsPage page : view.pages) {
      Endpoint known = endpoints.get(page.uri());
      if (known == null) {
        known = new Endpoint(page);
        endpoints.put(page.uri(), known);
        added.add(known);
      } else if (!page.target().equals(known.target)) {
        known.target = null;
      }
    }
    read(added.isEmpty() ? endpoints.values() : added);
  }

  @Override
  public void tick(RunView view) {
    boolean hasLastLeft = view.isIdle && !seen.isIdle;
    boolean isDue = view.seconds != seen.seconds;
    seen = view;
    if (isDue || (hasLastLeft && nanoClock.getAsLong() - lastNanos >= MIN_GAP_NANOS)) {
      read(endpoints.values());
    }
  }

  @Override
  public void stop(RunView view) {
    read(endpoints.values());
  }

  private record Response(long sentNanos, String text, @Nullable String error, long tookNanos) {}

  private void read(Iterable<Endpoint> some) {
    Map<Endpoint, CompletableFuture<Response>> responses = new LinkedHashMap<>();
    for (Endpoint endpoint : some) {
      if (!endpoint.isGivenUp) {
        long sent = nanoClock.getAsLong();
        responses.put(
            endpoint,
            client
                .get(endpoint.page)
                .handle(
                    (text, failure) ->
                        new Response(
                            sent,
                            text == null ? "" : text,
                            failure == null ? null : failure.getMessage(),
                            nanoClock.getAsLong() - sent)));
      }
    }
    responses.forEach((endpoint, response) -> store(endpoint, response.join()));
    lastNanos = nanoClock.getAsLong();
  }

  private void store(Endpoint endpoint, Response response) {
    ServerSample sample =
        new ServerSample(
            unixNanos.applyAsLong(response.sentNanos()),
            endpoint.target,
            endpoint.page.role(),
            endpoint.page.shown(),
            endpoint.source,
            response.tookNanos() / 1e6,
            response.error(),
            false,
            Map.of(),
            Map.of(),
            Map.of(),
            Map.of());
    if (sample.error() == null) {
      try {
        sample = endpoint.reader.read(response.text(), sample);
      } catch (IllegalArgumentException e) {
        sample = sample.failed(String.valueOf(e.getMessage()));
      }
    }
    boolean isFailed = sample.error() != null;
    boolean isGuess = !endpoint.page.isSet() && !endpoint.reader.isUnusable();
    if (isFailed && endpoint.source.isEmpty() && isGuess) {
      // A slow first response gets a second try: JVM or server may be warming up.
      boolean isTimedOut = response.tookNanos() >= timeout.toNanos();
      endpoint.isGivenUp = !isTimedOut || endpoint.timedOutOnce;
      endpoint.timedOutOnce = true;
      return;
    }
    if (isFailed && seen.isIdle) {
      return; // no user is active: a server that has stopped is not an error
    }
    if (!isFailed) {
      if (endpoint.source.isEmpty()) {
        print.accept(
            "LLM server metrics: reading %s from %s once a second"
                .formatted(sample.source(), endpoint.page.shown()));
      }
      endpoint.source = sample.source();
    } else if (!endpoint.isErrorPrinted) {
      endpoint.isErrorPrinted = true;
      print.accept(
          "LLM server metrics: cannot read %s: %s; the run continues without them"
              .formatted(endpoint.page.shown(), sample.error()));
    }
    if (seen.beganNanos == null) { // only the last reading before is written
      if (endpoint.latest == null || !isFailed) {
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
      failures.add("server.jsonl", e);
    }
  }
}
