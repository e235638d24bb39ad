package io.github.gatlingllm.action;

import java.util.function.Supplier;

/**
 * A mistake in a simulation or its settings, found before any load. The message is the one line to
 * show. Where Gatling is starting and nobody catches it, {@link InvalidSimulationFilter} prints
 * that line instead of Gatling's stack traces, and the JVM ends with exit code 1; anywhere else, in
 * a unit test of a simulation's parts say, it is an exception like any other.
 */
public final class InvalidSimulation extends IllegalArgumentException {

  private static final long serialVersionUID = 1L;

  private InvalidSimulation(String message) {
    super(message);
  }

  /**
   * To be thrown.
   *
   * @param message what is wrong, what was expected, what to do; one line
   */
  public static InvalidSimulation because(String message) {
    InvalidSimulationFilter.install();
    return new InvalidSimulation(message);
  }

  /**
   * What the supplier makes of values that the simulation gave.
   *
   * @throws InvalidSimulation in place of the {@link IllegalArgumentException} that refuses them
   */
  public static <T> T checked(Supplier<T> made) {
    try {
      return made.get();
    } catch (InvalidSimulation e) {
      throw e;
    } catch (IllegalArgumentException e) {
      throw because(String.valueOf(e.getMessage()));
    }
  }
}
