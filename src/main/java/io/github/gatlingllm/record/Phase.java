package io.github.gatlingllm.record;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;

/**
 * The phase of a load level in which a request was scheduled. Figures use {@link #MEASURE} only.
 */
public enum Phase {
  /** Users are being started. */
  FILL,
  /** All users run, and the system settles. */
  STABILIZE,
  /** The window of all figures. */
  MEASURE,
  /** The load continues until the requests scheduled in {@link #MEASURE} have ended. */
  COOLDOWN,
  /** No request starts; open requests may end. */
  DRAIN;

  private final String key = name().toLowerCase(Locale.ROOT);

  /** The name used in files: lower case. */
  @JsonValue
  public String key() {
    return key;
  }
}
