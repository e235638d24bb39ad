package io.github.gatlingllm.live;

import io.github.gatlingllm.record.GeneratorSecond;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.report.LivePage;
import io.github.gatlingllm.stats.GeneratorTally;
import io.github.gatlingllm.stats.LiveStats.LiveFigures;
import io.github.gatlingllm.stats.OverTime;
import io.github.gatlingllm.stats.Series;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A run as it goes, for who watches it: a page with the report's own charts, and meters. Nothing of
 * it is there, no thread and no memory, unless the run asks for it. Records come from the
 * recorder's thread; a viewer takes what is there every 2 s. Thread-safe.
 */
public final class LiveView implements AutoCloseable {

  private static final long NEWS_NANOS = 1_500_000_000L;

  /**
   * What is asked for.
   *
   * @param port of the page; null for none, 0 for any that is free
   * @param otlp where meters are sent; null for nowhere
   */
  public record Options(@Nullable Integer port, @Nullable String otlp) {

    /** System property with the port of the page; {@code LLM_LIVE} in the environment. */
    public static final String PORT_PROPERTY = "llm.live";

    /** System property with the URL that meters go to; {@code LLM_OTLP} in the environment. */
    public static final String OTLP_PROPERTY = "llm.otlp";

    /**
     * Of this process.
     *
     * @throws IllegalArgumentException for what is no port, in one line
     */
    public static Options of(Map<?, ?> properties, Map<String, String> environment) {
      String port = text(properties.get(PORT_PROPERTY), environment.get("LLM_LIVE"));
      return new Options(
          port == null ? null : (Integer) port(port),
          text(properties.get(OTLP_PROPERTY), environment.get("LLM_OTLP")));
    }

    private static int port(String text) {
      if (text.matches("\\d{1,5}") && Integer.parseInt(text) <= 65_535) {
        return Integer.parseInt(text);
      }
      throw new IllegalArgumentException(
          "llm.live=" + text + " is no port: use one from 1 to 65535, or 0 for any that is free");
    }

    private static @Nullable String text(@Nullable Object property, @Nullable String variable) {
      String text = property == null ? variable : property.toString();
      return text == null || text.isBlank() ? null : text.trim();
    }

    boolean isOff() {
      return port == null && otlp == null;
    }
  }

  /**
   * The run that is watched.
   *
   * @param page the report to come
   * @param startUnixNanos when it began
   * @param figures of the current load level; null before there are any
   * @param levels those that began, with the phases that did
   */
  public record Watched(
      String simulation,
      String id,
      Path page,
      long startUnixNanos,
      Supplier<@Nullable LiveFigures> figures,
      Supplier<List<LevelInfo>> levels) {}

  private final Watched run;
  private final OverTime overTime;
  private final GeneratorTally generator;
  private final List<LivePage.Finished> finished = new ArrayList<>();
  private final @Nullable LiveServer server;
  private final @Nullable GenAiMeters meters;

  /** Between two load levels those of the one before stay. */
  private @Nullable LiveFigures latest;

  private boolean isJudged;
  private boolean isOver;
  private String news = "";
  private long newsNanos;

  private LiveView(Watched run, Options options, Consumer<String> say) {
    this.run = run;
    overTime = new OverTime(run.startUnixNanos());
    generator = new GeneratorTally(run.startUnixNanos());
    meters = GenAiMeters.open(run.id(), options, say);
    server = server(options.port(), say);
  }

  /**
   * Opens what is asked for. What of it cannot be had costs a line, and the run goes on.
   *
   * @param say takes lines for the console
   * @return null where nothing is asked for
   */
  public static @Nullable LiveView open(Watched run, Options options, Consumer<String> say) {
    return options.isOff() ? null : new LiveView(run, options, say);
  }

  private @Nullable LiveServer server(@Nullable Integer port, Consumer<String> say) {
    if (port == null) {
      return null;
    }
    try {
      LiveServer.Views views =
          new LiveServer.Views(this::page, this::event, meters == null ? null : meters.scraped());
      LiveServer started = new LiveServer(port, views);
      say.accept("LLM live page: " + started.address());
      return started;
    } catch (IOException e) {
      say.accept(
          "LLM live page: port "
              + port
              + " cannot be had ("
              + e.getMessage()
              + "), so there is none; llm.live=0 takes any that is free");
      return null;
    }
  }

  /** A request has ended. */
  public void ended(RequestRecord record) {
    synchronized (this) {
      isJudged |= record.outcome().sloOk() != null;
      overTime.accept(record);
    }
    if (meters != null) {
      meters.accept(record);
    }
  }

  /** How the load generator fared in the last second. */
  public synchronized void fared(GeneratorSecond second) {
    generator.add(second);
  }

  /** A load level is over. */
  public synchronized void finished(String level, LiveFigures figures) {
    finished.add(new LivePage.Finished(level, figures));
  }

  private String page() {
    return LivePage.html(now());
  }

  /** The same for all viewers that ask within {@value #NEWS_NANOS} ns. */
  private synchronized String event() {
    long nanos = System.nanoTime();
    if (news.isEmpty() || isOver || nanos - newsNanos > NEWS_NANOS) {
      news = LivePage.event(now());
      newsNanos = nanos;
    }
    return news;
  }

  private synchronized LivePage.Now now() {
    Series series = overTime.soFar(isJudged, generator);
    LiveFigures figures = run.figures().get();
    latest = figures == null ? latest : figures;
    return new LivePage.Now(
        run.simulation(),
        run.id(),
        run.page(),
        run.startUnixNanos(),
        isOver,
        isJudged,
        series,
        run.levels().get(),
        latest,
        List.copyOf(finished));
  }

  /** The run is over: viewers are told, and meters sent once more. */
  @Override
  public void close() {
    synchronized (this) {
      isOver = true;
    }
    if (server != null) {
      server.close();
    }
    if (meters != null) {
      meters.close();
    }
  }
}
