package io.github.gatlingllm.record;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;

/**
 * The part of a load level in which a request was scheduled. Figures come from {@link #MEASURE}
 * only.
 */
public enum Phase {
  /** Users are being started. */
  FILL,
  /** All users run; the system settles. */
  STABILIZE,
  /** The window that figures are made from. */
  MEASURE,
  /** The load stays on until the requests scheduled in {@link #MEASURE} have ended. */
  COOLDOWN,
  /** Nothing new starts; pending requests may end. */
  DRAIN;

  private final String key = name().toLowerCase(Locale.ROOT);

  /** The name used in files: lower case. */
  @JsonValue
  public String key() {
    return key;
  }
}
