package io.github.gatlingllm.simulations;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How requests travel.
 *
 * @param timeout longest whole request
 * @param idleTimeout longest silence between events
 * @param maxInFlight more requests to one target wait; null for no limit
 * @param verifyTls whether certificates are checked
 */
public record Transport(
    Duration timeout,
    Duration idleTimeout,
    @Nullable Integer maxInFlight,
    boolean verifyTls,
    Connections connections) {

  /** Who may use a kept-alive connection again. */
  public enum Connections {
    /** Any virtual user. */
    SHARED("shared"),
    /** Only the virtual user that opened it. */
    PER_USER("perUser");

    private final String key;

    Connections(String key) {
      this.key = key;
    }

    /** The name used in settings. */
    @Override
    public String toString() {
      return key;
    }
  }
}
