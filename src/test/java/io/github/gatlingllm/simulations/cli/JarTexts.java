package io.github.gatlingllm.simulations.cli;

import io.github.gatlingllm.report.CommandLine;
import java.util.List;

/** The output of the runnable jar, for the file of all messages. */
public final class JarTexts {

  private static final List<String> COMMANDS =
      List.of(
          "",
          "mesure",
          "benchmark concurrency",
          "benchmark --rate 1 --rate 2",
          "engine --help",
          "engine --fixed 100ms",
          "engine --decode-step soon",
          "engine --fault fail",
          "engine --port",
          "render",
          "render --help",
          "render missing",
          "render missing --slo fast",
          "merge",
          "merge --help",
          "merge missing --out joined",
          "compare",
          "compare --help",
          "compare missing missing",
          "compare missing missing --fail-on slower");

  private JarTexts() {}

  /** Each command with what it prints and how it ends. */
  public static String text() {
    StringBuilder text = new StringBuilder();
    for (String command : COMMANDS) {
      List<String> words = command.isEmpty() ? List.of() : List.of(command.split(" ", -1));
      CommandLine.Called called = CommandLine.call(() -> GatlingLlm.execute(words));
      text.append("$ java -jar gatling-llm.jar ").append(command).append('\n');
      text.append((called.output() + "\n" + called.error()).strip());
      text.append("\n(exit code ").append(called.exitCode()).append(")\n\n");
    }
    return text.toString();
  }
}
