package io.github.gatlingllm.clock;

import io.github.gatlingllm.record.ClockOffset;
import io.github.gatlingllm.record.ClockOffset.DateChange;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The clock of a run, compared before the load and after it. A comparison that fails costs a line,
 * and the run goes on. Thread-safe; never to be asked by a thread that carries load.
 */
public final class ComparedClock {

  private static final Duration PATIENCE = Duration.ofMillis(500);
  private static final Duration PAUSE = Duration.ofMillis(20);

  private final TimeServer server;
  private final LongSupplier unixNanos;
  private final Consumer<String> say;
  private @Nullable ClockOffset asked;

  /**
   * @param unixNanos the run's clock, in epoch time
   * @param say takes lines for the console
   */
  public ComparedClock(TimeServer server, LongSupplier unixNanos, Consumer<String> say) {
    this.server = server;
    this.unixNanos = unixNanos;
    this.say = say;
  }

  /**
   * Asks the server before the load: at most some seconds.
   *
   * @return null where none is to be asked
   */
  public synchronized @Nullable ClockOffset before() {
    if (server.kind() == TimeServer.Kind.NTP) {
      asked = new NtpClient(server, unixNanos, PATIENCE, PAUSE).ask();
      say.accept("LLM clock: " + text(asked));
    }
    return asked;
  }

  /**
   * Asks again after the load.
   *
   * @param patience how long each of at most three lost answers is waited for
   */
  public synchronized void after(Duration patience) {
    if (asked == null) {
      return;
    }
    Duration atMost = patience.compareTo(PATIENCE) < 0 ? patience : PATIENCE;
    ClockOffset again = new NtpClient(server, unixNanos, atMost, PAUSE).ask();
    if (asked.readings().isEmpty()) {
      asked = again;
    } else if (again.readings().isEmpty()) {
      say.accept("LLM clock: compared only before the load; " + text(again));
    } else {
      asked = asked.and(again.readings().get(0));
    }
  }

  /**
   * What is known; null where nothing is to be compared.
   *
   * @param dates when the {@code Date} of servers' answers changed, by server
   */
  public synchronized @Nullable ClockOffset offset(Supplier<Map<String, List<DateChange>>> dates) {
    return switch (server.kind()) {
      case OFF -> null;
      case DATE -> ClockOffset.ofDates(dates.get());
      case NTP -> asked == null ? null : asked.withDates(dates.get());
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
}
