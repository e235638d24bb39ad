package io.github.gatlingllm.run.live;

import io.github.gatlingllm.figures.level.LiveStats.LiveFigures;
import io.github.gatlingllm.figures.level.OverTime;
import io.github.gatlingllm.figures.level.Series;
import io.github.gatlingllm.record.GeneratorSecond;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.ProcessSetting;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.report.LivePage;
import io.github.gatlingllm.run.Run;
import io.github.gatlingllm.run.RunObserver;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The live page of a run, with the report's own charts; viewers are updated every 2 s. Thread-safe.
 */
public final class LiveView implements RunObserver, AutoCloseable {

  private static final long EVENT_NANOS = 1_500_000_000L;

  public record Address(String host, int port) {

    static final String THIS_MACHINE = "127.0.0.1";

    /** The formats that {@link #parse} accepts, for error messages. */
    public static final String FORMS = "a port, or <IP address>:<port>";

    private static final Pattern FORM =
        Pattern.compile("(?:([\\d.]+|\\[[\\da-fA-F:]+\\]):)?(\\d{1,5})");

    /** Reads {@code 8088}, {@code 0.0.0.0:8088}, {@code [::]:8088}. */
    public static Address parse(String text) {
      Matcher form = FORM.matcher(text);
      if (!form.matches() || Integer.parseInt(form.group(2)) > 65_535) {
        throw new IllegalArgumentException("expected " + FORMS);
      }
      return new Address(
          Objects.requireNonNullElse(form.group(1), THIS_MACHINE), Integer.parseInt(form.group(2)));
    }

    @Override
    public String toString() {
      return host + ":" + port;
    }
  }

  public record Options(@Nullable Address page, @Nullable String otlp) {

    /** The address of the page; {@code LLM_LIVE} in the environment. */
    public static final String PAGE_PROPERTY = "llm.live";

    /** The URL to which meters are sent; {@code LLM_OTLP} in the environment. */
    public static final String OTLP_PROPERTY = "llm.otlp";

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
  }

  record Watched(
      String simulation,
      String id,
      Path page,
      long startUnixNanos,
      Supplier<@Nullable LiveFigures> figures,
      Supplier<List<LevelInfo>> levels) {}

  private final Watched run;
  private final OverTime overTime;
  private final List<LivePage.Finished> finished = new ArrayList<>();
  private final Queue<GeneratorSecond> seconds = new ConcurrentLinkedQueue<>();
  private final @Nullable LiveServer server;

  /** Figures last shown; kept between two load levels. */
  private @Nullable LiveFigures latest;

  private boolean isJudged;
  private boolean isOver;
  private String event = "";
  private long eventNanos;

  LiveView(Watched run, Address address, @Nullable Supplier<String> meters, Consumer<String> say) {
    this.run = run;
    overTime = new OverTime(run.startUnixNanos());
    server = server(address, meters, say);
  }

  /**
   * Serves the page of a run, if enabled. If the address is not available, prints a line, and the
   * run continues.
   */
  public static @Nullable LiveView open(Run run, Options options, @Nullable GenAiMeters meters) {
    return options.page() == null
        ? null
        : new LiveView(
            new Watched(
                run.simulation(),
                run.id(),
                run.files().page(),
                run.unixNanos(System.nanoTime()),
                () -> run.levels().figures(false),
                run.levels()::all),
            options.page(),
            meters == null ? null : meters.scraped(),
            System.out::println);
  }

  @Override
  public String name() {
    return "live page";
  }

  private @Nullable LiveServer server(
      Address address, @Nullable Supplier<String> meters, Consumer<String> say) {
    try {
      LiveServer.Views views = new LiveServer.Views(this::page, this::event, meters);
      LiveServer started = new LiveServer(address, views);
      say.accept("LLM live page: " + started.address());
      return started;
    } catch (IOException e) {
      say.accept(
          ("LLM live page: %s is not available (%s), so there is none; port 0 takes any "
                  + "free port")
              .formatted(address, e.getMessage()));
      return null;
    }
  }

  @Override
  public synchronized void requestEnded(RequestRecord record) {
    isJudged |= record.outcome().sloOk() != null;
    overTime.accept(record);
  }

  /** Adds a second of the load generator's state; returns at once. */
  public void generatorSecond(GeneratorSecond second) {
    seconds.add(second);
  }

  @Override
  public synchronized void levelEnded(ObservedLevel level, @Nullable LiveFigures figures) {
    if (figures != null) {
      finished.add(new LivePage.Finished(level.toString(), figures));
    }
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
    for (GeneratorSecond second = seconds.poll(); second != null; second = seconds.poll()) {
      overTime.add(second);
    }
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

  @Override
  public @Nullable UnaryOperator<RunInfo> runEnded(RunInfo info) {
    close();
    return null;
  }

  @Override
  public void close() {
    synchronized (this) {
      isOver = true;
    }
    if (server != null) {
      server.close();
    }
  }
}
