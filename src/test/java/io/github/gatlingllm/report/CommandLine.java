package io.github.gatlingllm.report;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.function.IntSupplier;

/** The command line, called as from a shell. */
public final class CommandLine {

  /** What came of it; texts without the line end at their end. */
  public record Called(int exitCode, String output, String error) {}

  private CommandLine() {}

  static Called call(String... arguments) {
    return call(() -> Main.execute(arguments));
  }

  public static Called call(IntSupplier command) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    PrintStream outBefore = System.out;
    PrintStream errBefore = System.err;
    System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
    System.setErr(new PrintStream(err, true, StandardCharsets.UTF_8));
    try {
      int exitCode = command.getAsInt();
      return new Called(exitCode, text(out), text(err));
    } finally {
      System.setOut(outBefore);
      System.setErr(errBefore);
    }
  }

  /** Without the line per class of ours that the agent of fuzz tests in the same JVM prints. */
  private static String text(ByteArrayOutputStream bytes) {
    return bytes
        .toString(StandardCharsets.UTF_8)
        .replaceAll("(?m)^INFO: Instrumented .*\\R?", "")
        .strip();
  }
}
