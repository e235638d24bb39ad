package io.github.gatlingllm.clock;

import io.github.gatlingllm.record.ClockOffset;
import io.github.gatlingllm.record.ClockOffset.DateChange;
import io.github.gatlingllm.record.ProcessSetting;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Compares the clock of a run with another clock, before the load and after it. A comparison that
 * fails prints a line, and the run goes on. Thread-safe. Blocks: not for threads that carry load.
 */
public final class ComparedClock {

  private static final Duration TIMEOUT = Duration.ofMillis(500);

  /** Between exchanges with the NTP server. */
  private static final Duration PAUSE = Duration.ofMillis(20);

  private final TimeServer server;
  private final LongSupplier unixNanos;
  private final Consumer<String> console;
  private @Nullable ClockOffset measured;

  /**
   * @param unixNanos the run's clock, in epoch time
   * @param console takes lines for the user
   */
  public ComparedClock(TimeServer server, LongSupplier unixNanos, Consumer<String> console) {
    this.server = server;
    this.unixNanos = unixNanos;
    this.console = console;
  }

  /**
   * Asks the NTP server before the load, for some seconds at most.
   *
   * @return null unless the setting names an NTP server
   */
  public synchronized @Nullable ClockOffset before() {
    if (server.kind() == TimeServer.Kind.NTP) {
      measured = new NtpClient(server, unixNanos, TIMEOUT, PAUSE).ask();
      console.accept("LLM clock: " + text(measured));
    }
    return measured;
  }

  /**
   * Asks the NTP server again after the load.
   *
   * @param timeout longest wait for an answer; at most three answers are waited for in vain
   */
  public synchronized void after(Duration timeout) {
    if (measured == null) {
      return;
    }
    Duration atMost = timeout.compareTo(TIMEOUT) < 0 ? timeout : TIMEOUT;
    ClockOffset again = new NtpClient(server, unixNanos, atMost, PAUSE).ask();
    if (measured.readings().isEmpty()) {
      measured = again;
    } else if (again.readings().isEmpty()) {
      console.accept("LLM clock: compared only before the load; " + text(again));
    } else {
      measured = measured.and(again.readings().get(0));
    }
  }

  /**
   * The result so far; null where clocks are not compared.
   *
   * @param dates when the {@code Date} of answers changed, by server
   */
  public synchronized @Nullable ClockOffset offset(Supplier<Map<String, List<DateChange>>> dates) {
    return switch (server.kind()) {
      case OFF -> null;
      case DATE -> ClockOffset.ofDates(dates.get());
      case NTP -> measured == null ? null : measured.withDates(dates.get());
    };
  }

  private static String text(ClockOffset offset) {
    Long ahead = offset.offsetNanos();
    Long uncertainty = offset.uncertaintyNanos();
    return ahead == null || uncertainty == null
        ? offset.source() + ": " + offset.unknown() + "; the offset of this clock stays unknown"
        : String.format(
            Locale.ROOT,
            "%.2f ms %s %s, ± %.2f ms",
            Math.abs(ahead) / 1e6,
            ahead < 0 ? "ahead of" : "behind",
            offset.source(),
            uncertainty / 1e6);
  }

  /**
   * The clock that the one of this machine is compared with: the setting {@code clock}.
   *
   * @param kind how they are compared
   * @param host of the NTP server; empty for other kinds
   * @param port of the NTP server, UDP; {@value #PORT} by default
   */
  public record TimeServer(Kind kind, String host, int port) {

    /** System property of the setting; {@code LLM_CLOCK} in the environment. */
    public static final String PROPERTY = "llm.clock";

    private static final int PORT = 123;

    /** How clocks are compared. */
    public enum Kind {
      /** Not at all. */
      OFF,
      /** With the {@code Date} of the answers to the load's requests. */
      DATE,
      /** With an NTP server. */
      NTP
    }

    /**
     * Reads the setting; {@link Kind#DATE} where it is not set.
     *
     * @throws IllegalArgumentException in one line that names the setting, if it is invalid
     */
    public static TimeServer of(Map<?, ?> properties, Map<String, String> environment) {
      TimeServer set = new ProcessSetting(PROPERTY).read(properties, environment, TimeServer::of);
      return set == null ? of("auto") : set;
    }

    /**
     * Parses {@code auto}, {@code off}, or {@code host[:port]}.
     *
     * @throws IllegalArgumentException that says what was expected, if the text is none of these
     */
    public static TimeServer of(String text) {
      if (text.equals("auto") || text.equals("off")) {
        return new TimeServer(text.equals("off") ? Kind.OFF : Kind.DATE, "", PORT);
      }
      int colon = text.lastIndexOf(':');
      boolean isAddress = colon > text.indexOf(':') && !text.startsWith("[");
      boolean hasPort = colon > text.lastIndexOf(']') && !isAddress;
      String host = hasPort ? text.substring(0, colon) : text;
      Integer port = hasPort ? port(text.substring(colon + 1)) : (Integer) PORT;
      if (port == null || !host.matches("[\\w.-]+|\\[[0-9A-Fa-f:.%\\w]+]|[0-9A-Fa-f:.]+")) {
        throw new IllegalArgumentException(
            "expected auto, off, or host[:port] of an NTP server such as pool.ntp.org");
      }
      return new TimeServer(Kind.NTP, host, port);
    }

    private static @Nullable Integer port(String text) {
      boolean isPort =
          text.matches("\\d{1,5}") && Integer.parseInt(text) > 0 && Integer.parseInt(text) < 65_536;
      return isPort ? (Integer) Integer.parseInt(text) : null;
    }

    /** The setting in full: {@code auto}, {@code off}, or host and port. */
    @Override
    public String toString() {
      return kind == Kind.NTP
          ? (host.contains(":") && !host.startsWith("[") ? "[" + host + "]" : host) + ":" + port
          : kind == Kind.OFF ? "off" : "auto";
    }
  }
}
