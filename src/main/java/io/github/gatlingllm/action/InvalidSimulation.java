package io.github.gatlingllm.action;

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
}
