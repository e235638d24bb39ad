package io.github.gatlingllm.action;

/**
 * A mistake in a simulation, found before any load. Gatling would bury it in the stack traces of
 * its start, so there its one line is printed and the JVM ends with exit code 1. Anywhere else, in
 * a unit test of a simulation's parts say, it is an exception like any other.
 */
public final class InvalidSimulation extends IllegalArgumentException {

  private static final String LAUNCHER = "io.gatling.app.Gatling";
  private static final StackWalker STACK = StackWalker.getInstance();

  private InvalidSimulation(String message) {
    super(message);
  }

  /**
   * To be thrown.
   *
   * @param message what is wrong, what was expected, what to do; one line
   */
  @SuppressWarnings("SystemExitOutsideMain") // an exception would print Gatling's stack traces
  public static InvalidSimulation because(String message) {
    if (isGatlingStarting()) {
      System.out.println(message);
      System.exit(1);
    }
    return new InvalidSimulation(message);
  }

  private static boolean isGatlingStarting() {
    return STACK.walk(frames -> frames.anyMatch(frame -> frame.getClassName().equals(LAUNCHER)));
  }
}
