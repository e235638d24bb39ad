package io.github.gatlingllm.action;

import org.jspecify.annotations.Nullable;

/**
 * Finds what is wrong with the parameters of a builder whatever the session, before anything is
 * sent.
 *
 * <pre>{@code
 * new ParameterCheck("llm(\"ask\")").of("maxTokens", maxTokens).of("model", model);
 * }</pre>
 */
public final class ParameterCheck {

  private static final int LONGEST_SHOWN = 60;

  private final String builder;

  /**
   * @param builder as it stands in the simulation
   */
  public ParameterCheck(String builder) {
    this.builder = builder;
  }

  /** That of a request; it starts with the name itself. */
  static ParameterCheck ofRequest(Dynamic<String> name) {
    String text = name.text();
    ParameterCheck request =
        new ParameterCheck(text == null ? "llm(…)" : "llm(" + quoted(text) + ")");
    String mistake = name.mistake();
    if (mistake != null) {
      throw request.wrong("", mistake);
    }
    return request;
  }

  /**
   * Looks at one of them.
   *
   * @param method that takes it
   * @param value null where it is not set
   * @throws InvalidSimulation if no session can make it right
   */
  public ParameterCheck of(String method, @Nullable Dynamic<?> value) {
    String mistake = value == null ? null : value.mistake();
    if (mistake != null) {
      throw wrong("." + method + "(" + quoted(String.valueOf(value.text())) + ")", mistake);
    }
    return this;
  }

  /** As {@link #of}, without showing the value. */
  ParameterCheck secret(String method, @Nullable Dynamic<?> value) {
    String mistake = value == null ? null : value.mistake();
    if (mistake != null) {
      throw wrong("." + method + "(…)", mistake);
    }
    return this;
  }

  /** As {@link #of}; a number that is the same for every session must be 1 or more. */
  ParameterCheck atLeastOne(String method, @Nullable Dynamic<Integer> value) {
    Integer number = value == null ? null : value.constant();
    if (number != null && number < 1) {
      throw wrong("." + method + "(" + number + ")", "expected 1 or more");
    }
    return of(method, value);
  }

  /**
   * To be thrown.
   *
   * @param where the call behind the builder; empty for the builder itself
   */
  InvalidSimulation wrong(String where, String what) {
    return InvalidSimulation.because(builder + where + ": " + what);
  }

  private static String quoted(String text) {
    String line = text.lines().findFirst().orElse("");
    boolean whole = line.equals(text) && line.length() <= LONGEST_SHOWN;
    return '"'
        + (whole ? line : line.substring(0, Math.min(line.length(), LONGEST_SHOWN)) + "…")
        + '"';
  }
}
