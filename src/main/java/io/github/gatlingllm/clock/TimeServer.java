package io.github.gatlingllm.clock;

import io.github.gatlingllm.setting.ProcessSetting;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the clock of this machine is compared with.
 *
 * @param kind of comparison
 * @param host of an NTP server; empty where none is asked
 * @param port of it; {@value #PORT} unless said otherwise
 */
public record TimeServer(Kind kind, String host, int port) {

  /** System property that names it; {@code LLM_CLOCK} in the environment. */
  public static final String PROPERTY = "llm.clock";

  private static final int PORT = 123;

  /** How clocks are compared. */
  public enum Kind {
    /** Not at all. */
    OFF,
    /** By the {@code Date} of the answers that the load gets. */
    DATE,
    /** By asking an NTP server. */
    NTP
  }

  /**
   * That of this process; by {@code Date} where it says nothing.
   *
   * @throws IllegalArgumentException for what is none, in one line
   */
  public static TimeServer of(Map<?, ?> properties, Map<String, String> environment) {
    TimeServer said = new ProcessSetting(PROPERTY).read(properties, environment, TimeServer::of);
    return said == null ? of("auto") : said;
  }

  /**
   * {@code auto}, {@code off}, or {@code host[:port]}.
   *
   * @throws IllegalArgumentException that says what was expected
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

  /** As it is written: host and port. */
  @Override
  public String toString() {
    return kind == Kind.NTP
        ? (host.contains(":") && !host.startsWith("[") ? "[" + host + "]" : host) + ":" + port
        : kind == Kind.OFF ? "off" : "auto";
  }
}
