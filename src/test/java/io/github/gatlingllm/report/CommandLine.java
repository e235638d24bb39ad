package io.github.gatlingllm.report;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/** The command line, called as from a shell. */
final class CommandLine {

  /** What came of it; texts without the line end at their end. */
  record Called(int exitCode, String output, String error) {}

  private CommandLine() {}

  static Called call(String... arguments) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    PrintStream outBefore = System.out;
    PrintStream errBefore = System.err;
    System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
    System.setErr(new PrintStream(err, true, StandardCharsets.UTF_8));
    try {
      int exitCode = Main.execute(arguments);
      return new Called(exitCode, text(out), text(err));
    } finally {
      System.setOut(outBefore);
      System.setErr(errBefore);
    }
  }

  private static String text(ByteArrayOutputStream bytes) {
    return bytes.toString(StandardCharsets.UTF_8).strip();
  }
}
