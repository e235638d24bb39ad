package io.github.gatlingllm.run.server;

import io.github.gatlingllm.client.Secrets;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.ServerSample;
import io.github.gatlingllm.record.ServerSample.ServerFile;
import io.github.gatlingllm.report.ConsoleBlock;
import io.github.gatlingllm.run.Run;
import io.github.gatlingllm.run.RunObserver;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
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
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Reads all metrics pages once a second, concurrently, and writes {@code server.jsonl}. A page that
 * hangs, fails or is invalid only adds a line with its error. Thread-safe; one thread reads.
 */
public final class ServerWatch implements RunObserver {

  private static final Duration INTERVAL = Duration.ofSeconds(1);

  /** Below the interval, so that no reading waits for the previous one. */
  private static final Duration TIMEOUT = Duration.ofMillis(900);

  /**
   * Least time before a reading that is triggered when the last user leaves, which may happen
   * often.
   */
  private static final Duration MIN_GAP = Duration.ofMillis(200);

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

  /** Whether no user is active: the server may then be stopped too. */
  private volatile boolean isIdle;

  /** Whether all pages were read after the last user left. Worker thread only. */
  private boolean isSettled;

  private long lastNanos;
  private boolean isFailed;

  /** A page and its state. Worker thread only. */
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

  public ServerWatch(Run run) {
    this(
        run.files().server(),
        run::unixNanos,
        System::nanoTime,
        line -> System.out.println(ConsoleBlock.visible(line)),
        TIMEOUT);
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

  @Override
  public String name() {
    return "server metrics";
  }

  /**
   * Starts to read these pages. A page that several targets have configured describes all of them.
   * Waits for the first reading, at most a second, so that the counters before the load are known.
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

  @Override
  public void loadAhead() {
    if (isWatching) {
      await(this::readAll);
    }
  }

  /** The previous reading and all following ones are kept. */
  @Override
  public void runBegan() {
    hasBegun = true;
  }

  /** After the last user has left, reads all pages soon: the server may be stopped. */
  @Override
  public void usersChanged(boolean isAnyActive) {
    isIdle = !isAnyActive;
    if (isAnyActive) {
      return;
    }
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
                Math.max(0, MIN_GAP.toNanos() - since),
                TimeUnit.NANOSECONDS);
      } catch (RejectedExecutionException e) {
        // The run has ended.
      }
    }
  }

  /** Reads all pages a last time, unless that was done after the last user left, and stops. */
  @Override
  public @Nullable UnaryOperator<RunInfo> runEnded(RunInfo info) {
    close();
    return null;
  }

  void close() {
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
      // Another reading may be in progress.
      worker
          .submit(task)
          .get(timeout.multipliedBy(2).plus(INTERVAL).toMillis(), TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException | TimeoutException e) {
      // Closed, or the machine is stalled: the run does not wait longer.
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
    PageReader.Reading reading = null;
    String error = response.error();
    if (error == null) {
      try {
        reading = endpoint.reader.read(response.text());
      } catch (IllegalArgumentException e) {
        error = e.getMessage();
      }
    }
    if (reading == null && endpoint.source.isEmpty() && !endpoint.page.isSet()) {
      // A slow first response gets a second try: JVM or server may be warming up.
      boolean isTimedOut = response.tookNanos() >= timeout.toNanos();
      endpoint.isGivenUp = !isTimedOut || endpoint.timedOutOnce;
      endpoint.timedOutOnce = true;
      return;
    }
    if (reading == null && isIdle) {
      return; // no user is active: a server that is gone is no error
    }
    if (reading != null) {
      String source = String.join("+", reading.sources());
      if (endpoint.source.isEmpty()) {
        say.accept(
            "LLM server metrics: reading %s from %s once a second"
                .formatted(source, endpoint.page.shown()));
      }
      endpoint.source = source;
    } else if (!endpoint.isErrorPrinted) {
      endpoint.isErrorPrinted = true;
      say.accept(
          "LLM server metrics: cannot read %s: %s; the run continues without them"
              .formatted(endpoint.page.shown(), error));
    }
    PageReader.Reading values = reading == null ? PageReader.Reading.NONE : reading;
    ServerSample sample =
        new ServerSample(
            unixNanos.applyAsLong(response.sentNanos()),
            endpoint.target,
            endpoint.page.shown(),
            endpoint.source,
            response.tookNanos() / 1e6,
            reading == null ? error : null,
            values.reset(),
            values.names(),
            values.values(),
            values.histograms());
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

  /**
   * A metrics page in Prometheus text format that is read while load is on.
   *
   * @param isSet whether the user configured the URL: each failed reading is then recorded. A URL
   *     that was only guessed and has no metrics of an engine is not requested again
   */
  public record MetricsPage(
      String target,
      URI uri,
      String shown,
      Map<String, String> headers,
      boolean verifyTls,
      boolean isSet) {

    /** Setting: {@code <host>/metrics} of each target, if it has metrics of an engine. */
    public static final String AUTO = "auto";

    public static final String NONE = "none";

    /** The accepted values, for error messages. */
    public static final String FORMS = "auto, none, or URLs such as http://localhost:9400/metrics";

    /**
     * The pages of a target.
     *
     * @param secrets headers that authenticate at the target; sent only to pages of the same
     *     scheme, host and port
     */
    public static List<MetricsPage> of(
        String target,
        List<String> settings,
        List<String> baseUrls,
        Map<String, String> secrets,
        boolean verifyTls) {
      List<MetricsPage> pages = new ArrayList<>();
      Set<String> origins = new LinkedHashSet<>();
      baseUrls.forEach(url -> origins.add(origin(URI.create(url))));
      Set<String> urls = new LinkedHashSet<>();
      for (String setting : settings) {
        if (setting.equals(AUTO)) {
          origins.forEach(origin -> urls.add(origin + "/metrics"));
        } else {
          urls.add(setting);
        }
      }
      for (String url : urls) {
        URI uri = URI.create(url);
        Map<String, String> headers = new LinkedHashMap<>();
        if (origins.contains(origin(uri))) {
          headers.putAll(secrets);
        }
        String user = uri.getUserInfo();
        if (user != null) {
          byte[] login = user.getBytes(StandardCharsets.UTF_8);
          headers.put("Authorization", "Basic " + Base64.getEncoder().encodeToString(login));
        }
        String bare = user == null ? url : url.replaceFirst("//[^/?#@]*@", "//");
        boolean isSet = settings.contains(url);
        pages.add(
            new MetricsPage(
                target,
                URI.create(bare),
                Secrets.redactUrl(bare),
                Map.copyOf(headers),
                verifyTls,
                isSet));
      }
      return pages;
    }

    public static List<String> check(List<String> settings) {
      if (settings.equals(List.of(NONE))) {
        return List.of();
      }
      for (String setting : settings) {
        if (!setting.equals(AUTO) && !isUrl(setting)) {
          throw new IllegalArgumentException("expected " + FORMS);
        }
      }
      return List.copyOf(settings);
    }

    private static boolean isUrl(String text) {
      try {
        URI uri = URI.create(text);
        return ("http".equals(uri.getScheme()) || "https".equals(uri.getScheme()))
            && uri.getHost() != null;
      } catch (IllegalArgumentException e) {
        return false;
      }
    }

    private static String origin(URI uri) {
      return uri.getScheme()
          + "://"
          + uri.getHost()
          + (uri.getPort() < 0 ? "" : ":" + uri.getPort());
    }

    /** Leaves out the headers, which may be secret. */
    @Override
    public String toString() {
      return shown;
    }
  }
}
