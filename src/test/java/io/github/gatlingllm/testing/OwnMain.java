package io.github.gatlingllm.testing;

import io.gatling.app.Gatling;

/** A main class as users write it to start a simulation from an IDE. */
public final class OwnMain {

  /** System property with the arguments for Gatling; the command line has none. */
  static final String ARGUMENTS = "ownMain.arguments";

  private OwnMain() {}

  public static void main(String[] args) {
    Gatling.main(System.getProperty(ARGUMENTS).split(" ", -1));
  }
}
