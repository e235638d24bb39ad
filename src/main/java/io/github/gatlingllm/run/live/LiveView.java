package io.github.gatlingllm.run.live;

import io.github.gatlingllm.figures.level.LiveStats.LiveFigures;
import io.github.gatlingllm.figures.level.OverTime;
import io.github.gatlingllm.figures.level.Series;
import io.github.gatlingllm.record.GeneratorSecond;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.ProcessSetting;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.report.LivePage;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The live page of a run, with the report's own charts, and its meters. Uses no thread and no
 * memory unless enabled. Records come from the recorder's thread; viewers are updated every 2 s.
 * Thread-safe.
 */
public final class LiveView implements AutoCloseable {

  private static final long EVENT_NANOS = 1_500_000_000L;

  /**
   * The address at which the page is served.
   *
   * @param host an IP address; {@value #THIS_MACHINE} if only this machine may open the page
   * @param port 0 for any free port
   */
  public record Address(String host, int port) {

    static final String THIS_MACHINE = "127.0.0.1";

    /** The formats that {@link #parse} accepts, for error messages. */
    public static final String FORMS = "a port, or <IP address>:<port>";

    private static final Pattern FORM =
        Pattern.compile("(?:([\\d.]+|\\[[\\da-fA-F:]+\\]):)?(\\d{1,5})");

    /**
     * Reads {@code 8088}, {@code 0.0.0.0:8088}, {@code [::]:8088}.
     *
     * @throws IllegalArgumentException for anything else
     */
    public static Address parse(String text) {
      Matcher form = FORM.matcher(text);
      if (!form.matches() || Integer.parseInt(form.group(2)) > 65_535) {
        throw new IllegalArgumentException("expected " + FORMS);
      }
      return new Address(
          Objects.requireNonNullElse(form.group(1), THIS_MACHINE), Integer.parseInt(form.group(2)));
    }

    /** The format that {@link #parse} accepts. */
    @Override
    public String toString() {
      return host + ":" + port;
    }
  }

  /**
   * What is enabled.
   *
   * @param page address of the page; null for none
   * @param otlp URL to which meters are sent; null for none
   */
  public record Options(@Nullable Address page, @Nullable String otlp) {

    /** System property with the address of the page; {@code LLM_LIVE} in the environment. */
    public static final String PAGE_PROPERTY = "llm.live";

    /**
     * System property with the URL to which meters are sent; {@code LLM_OTLP} in the environment.
     */
    public static final String OTLP_PROPERTY = "llm.otlp";

    /**
     * The options of this process.
     *
     * @throws IllegalArgumentException with one line, for an invalid address
     */
    public static Options of(Map<?, ?> properties, Map<String, String> environment) {
      return new Options(
          new ProcessSetting(PAGE_PROPERTY).read(properties, environment, Options::page),
          new ProcessSetting(OTLP_PROPERTY).text(properties, environment));
    }

    private static Address page(String text) {
      try {
        return Address.parse(text);
      } catch (IllegalArgumentException e) {
        throw new IllegalArgumentException(e.getMessage() + "; port 0 takes any free port", e);
      }
    }

    boolean isOff() {
      return page == null && otlp == null;
    }
  }

  /**
   * The run that is shown.
   *
   * @param page path of the future report
   * @param startUnixNanos start of the run
   * @param figures figures of the current load level; null before there are any
   * @param levels the load levels and phases that have started
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
  private final List<LivePage.Finished> finished = new ArrayList<>();
  private final @Nullable LiveServer server;
  private final @Nullable GenAiMeters meters;

  /** Figures last shown; kept between two load levels. */
  private @Nullable LiveFigures latest;

  private boolean isJudged;
  private boolean isOver;
  private String event = "";
  private long eventNanos;

  private LiveView(Watched run, Options options, Consumer<String> say) {
    this.run = run;
    overTime = new OverTime(run.startUnixNanos());
    meters = GenAiMeters.open(run.id(), options, say);
    server = server(options.page(), say);
  }

  /**
   * Opens what is enabled. If something cannot be opened, prints a line, and the run continues.
   *
   * @param say prints a line on the console
   * @return null if nothing is enabled
   */
  public static @Nullable LiveView open(Watched run, Options options, Consumer<String> say) {
    return options.isOff() ? null : new LiveView(run, options, say);
  }

  private @Nullable LiveServer server(@Nullable Address address, Consumer<String> say) {
    if (address == null) {
      return null;
    }
    try {
      LiveServer.Views views =
          new LiveServer.Views(this::page, this::event, meters == null ? null : meters.scraped());
      LiveServer started = new LiveServer(address, views);
      say.accept("LLM live page: " + started.address());
      return started;
    } catch (IOException e) {
      say.accept(
          "LLM live page: "
              + address
              + " is not available ("
              + e.getMessage()
              + "), so there is none; port 0 takes any free port");
      return null;
    }
  }

  /** A request has ended. */
  public void requestEnded(RequestRecord record) {
    synchronized (this) {
      isJudged |= record.outcome().sloOk() != null;
      overTime.accept(record);
    }
    if (meters != null) {
      meters.accept(record);
    }
  }

  /** Adds a second of the load generator's state. */
  public synchronized void generatorSecond(GeneratorSecond second) {
    overTime.add(second);
  }

  /** A load level has ended. */
  public synchronized void levelFinished(String level, LiveFigures figures) {
    finished.add(new LivePage.Finished(level, figures));
  }

  private String page() {
    return LivePage.html(now());
  }

  /** The current event; shared by all viewers that request it within {@value #EVENT_NANOS} ns. */
  private synchronized String event() {
    long nanos = System.nanoTime();
    if (event.isEmpty() || isOver || nanos - eventNanos > EVENT_NANOS) {
      event = LivePage.event(now());
      eventNanos = nanos;
    }
    return event;
  }

  private synchronized LivePage.Now now() {
    Series series = overTime.soFar(isJudged);
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

  /** The run has ended: sends the last event to viewers, and the final meters. */
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
