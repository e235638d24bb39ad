package io.github.gatlingllm.live;

import io.github.gatlingllm.record.GeneratorSecond;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.report.LivePage;
import io.github.gatlingllm.setting.ProcessSetting;
import io.github.gatlingllm.stats.LiveStats.LiveFigures;
import io.github.gatlingllm.stats.OverTime;
import io.github.gatlingllm.stats.Series;
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
 * A run as it goes, for who watches it: a page with the report's own charts, and meters. Nothing of
 * it is there, no thread and no memory, unless the run asks for it. Records come from the
 * recorder's thread; a viewer takes what is there every 2 s. Thread-safe.
 */
public final class LiveView implements AutoCloseable {

  private static final long NEWS_NANOS = 1_500_000_000L;

  /**
   * Where the page listens.
   *
   * @param host an IP address; {@value #THIS_MACHINE} where only this machine may see the page
   * @param port 0 for any that is free
   */
  public record Address(String host, int port) {

    static final String THIS_MACHINE = "127.0.0.1";

    /** What {@link #parse} takes, in a few words. */
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

    /** As {@link #parse} takes it. */
    @Override
    public String toString() {
      return host + ":" + port;
    }
  }

  /**
   * What is asked for.
   *
   * @param page where the page listens; null for none
   * @param otlp where meters are sent; null for nowhere
   */
  public record Options(@Nullable Address page, @Nullable String otlp) {

    /** System property with the address of the page; {@code LLM_LIVE} in the environment. */
    public static final String PAGE_PROPERTY = "llm.live";

    /** System property with the URL that meters go to; {@code LLM_OTLP} in the environment. */
    public static final String OTLP_PROPERTY = "llm.otlp";

    /**
     * Of this process.
     *
     * @throws IllegalArgumentException for what is no address, in one line
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
        throw new IllegalArgumentException(e.getMessage() + "; port 0 takes any that is free", e);
      }
    }

    boolean isOff() {
      return page == null && otlp == null;
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
    meters = GenAiMeters.open(run.id(), options, say);
    server = server(options.page(), say);
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
              + " cannot be had ("
              + e.getMessage()
              + "), so there is none; port 0 takes any that is free");
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
    overTime.add(second);
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
