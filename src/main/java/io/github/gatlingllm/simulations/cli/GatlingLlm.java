package io.github.gatlingllm.simulations.cli;

import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.report.Main;
import java.util.List;
import java.util.Objects;

/** Entry point of the runnable jar; its exit code is that of the command. */
final class GatlingLlm {

  static final String USAGE =
      """
      Usage: gatling-llm <command>, or java -jar gatling-llm.jar <command>

        --<setting> <value> …    runs the benchmark, e.g. --endpoint http://localhost:8000/v1 --concurrency 1,2,4,8
        benchmark [--<setting>]  the same; without --endpoint against the embedded engine, in about a minute
        probe [--endpoint <url>] reports what a server is and has, by one request; without --endpoint those of this machine
        render, merge, compare, trend
                                 work on recorded runs: folders, s3://bucket/prefix
        engine                   serves the embedded engine until it is stopped
        anonymize <log>          makes sessions to replay, without texts, of a log of requests
        --help, --version        this text and all settings; the version. <command> --help describes a command

      Options of a run, defaults in [brackets]:
        --results <folder>       folder below which the run gets its own folder [results]
        --jvm <options>          more JVM options [none]
        --simulation <class or file of Java source>
                                 a simulation of your own in place of the benchmark [the benchmark]
        --class-path <jars and folders>
                                 where its classes are [none]
      """;

  private GatlingLlm() {}

  /** Runs a command and ends the process with its exit code. */
  public static void main(String[] arguments) {
    System.exit(execute(List.of(arguments)));
  }

  static int execute(List<String> arguments) {
    String command = arguments.isEmpty() ? "" : arguments.get(0);
    return switch (command) {
      case "" -> {
        System.out.print(USAGE);
        yield 0;
      }
      case "--help", "-h", "help" -> {
        System.out.println(USAGE);
        yield BenchmarkProcess.run(List.of("--help"));
      }
      case "--version", "-V" -> {
        System.out.println("gatling-llm " + version());
        yield 0;
      }
      case "render", "merge", "compare", "trend" -> Main.execute(arguments.toArray(String[]::new));
      case "engine", "anonymize" ->
          Main.commandLine(command.equals("engine") ? new EngineCommand() : new AnonymizeCommand())
              .execute(arguments.subList(1, arguments.size()).toArray(String[]::new));
      case "probe" -> ProbeCommand.run(arguments.subList(1, arguments.size()));
      case "benchmark" -> BenchmarkProcess.run(arguments.subList(1, arguments.size()));
      default -> {
        if (command.startsWith("--")) {
          yield BenchmarkProcess.run(arguments);
        }
        PrintableText.printError(
            "Unknown command "
                + command
                + "; expected benchmark, probe, render, merge, compare, trend, engine, anonymize");
        yield 1;
      }
    };
  }

  private static String version() {
    return Objects.requireNonNullElse(
        GatlingLlm.class.getPackage().getImplementationVersion(), "of a build without a jar");
  }
}
