package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.record.StartCommand;
import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * The command line over recorded runs.
 *
 * <p>Exit codes: 0 success, 2 an assertion of the run or a condition of the comparison failed, 1
 * any other error, with one line that names its cause.
 */
@Command(
    name = "gatling-llm",
    description = "Renders, merges and compares recorded runs, and shows their trend.",
    mixinStandardHelpOptions = true,
    subcommands = {Main.Render.class, MergeCommand.class, CompareCommand.class})
public final class Main {

  static final int MISSED = 2;

  private static final String LOGBACK = "logback.configurationFile";

  private Main() {}

  public static void main(String[] arguments) {
    System.exit(execute(arguments));
  }

  public static int execute(String... arguments) {
    quietLogging();
    return commandLine(new Main()).execute(arguments);
  }

  /** Without a configuration Logback prints everything that libraries log. */
  private static void quietLogging() {
    ClassLoader files = Main.class.getClassLoader();
    if (System.getProperty(LOGBACK) == null
        && files.getResource("logback.xml") == null
        && files.getResource("logback-test.xml") == null) {
      System.setProperty(LOGBACK, "io/github/gatlingllm/simulations/cli/logback.xml");
    }
  }

  /** Reports mistakes in one line with exit code 1; usage follows if nothing was given. */
  public static CommandLine commandLine(Object command) {
    return new CommandLine(command)
        .setUsageHelpWidth(120)
        .setOut(printingTo(System.out))
        .setErr(printingTo(System.err))
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setExitCodeExceptionMapper(failure -> 1)
        .setParameterExceptionHandler(
            (failure, given) -> {
              CommandLine failed = failure.getCommandLine();
              failed.getErr().println(PrintableText.of(String.valueOf(failure.getMessage())));
              boolean isNamedAlone =
                  given.length == 1 && failed.getCommandSpec().names().contains(given[0]);
              if (given.length == 0 || isNamedAlone) {
                failed.usage(failed.getErr());
              }
              return 1;
            })
        .setExecutionExceptionHandler(
            (failure, failed, parsed) -> {
              failed.getErr().println(PrintableText.of(RunFiles.message(failure)));
              return 1;
            });
  }

  /** Prints in the encoding of the stream; picocli's own writers use the JVM's default charset. */
  private static PrintWriter printingTo(PrintStream stream) {
    return new PrintWriter(
        new StringWriter() {
          @Override
          public void flush() {
            stream.print(this);
            stream.flush();
            getBuffer().setLength(0);
          }
        },
        true);
  }

  @Command(
      name = "render",
      description =
          "Makes llm.html, summary.json, summary.md and junit.xml again from a run's records.",
      mixinStandardHelpOptions = true)
  static final class Render implements Callable<Integer> {

    @Parameters(
        index = "0",
        paramLabel = "<run>",
        description = "the run: its folder or s3://bucket/prefix")
    private String place = ".";

    @Option(
        names = "--out",
        paramLabel = "<dir>",
        description = "folder for a copy of the records and the report [the run's folder]")
    private @Nullable Path out;

    @Mixin private Places from = new Places();

    @Option(
        names = "--slo",
        paramLabel = "<slo>",
        description = "SLO to judge the run by [the SLO of the run]")
    private @Nullable String slo;

    @Option(
        names = "--slo-percentile",
        paramLabel = "<percent>",
        description =
            "percentage of requests that must meet the SLO [that of the run; with --slo 99]")
    private @Nullable Double percentile;

    @Option(
        names = "--slo-rule",
        paramLabel = "<rule>",
        description =
            "percentiles: that percentage meets each objective by itself; requests: it meets all"
                + " objectives together [that of the run; with --slo percentiles]")
    private Slo.@Nullable Rule rule;

    @Option(names = "--csv", description = "writes llm/requests.csv too")
    private boolean csv;

    @Option(
        names = "--export",
        split = ",",
        paramLabel = "<formats>",
        description =
            "writes results for other tools too: benchmark-report, vllm, aiperf [the run's own]")
    private List<String> exports = new ArrayList<>();

    @Override
    public Integer call() throws IOException {
      if (percentile != null && !(percentile > 0 && percentile <= 100)) {
        throw new IllegalArgumentException(
            "--slo-percentile "
                + percentile
                + " is out of range; expected more than 0, at most 100");
      }
      checkFolder(out);
      try (RunInputs inputs = from.inputs(List.of(place))) {
        Path run = inputs.one();
        if (out == null) {
          inputs.requireFolder(run, "report");
          return render(run);
        }
        return render(inputs.copy(run, out));
      }
    }

    private int render(Path run) throws IOException {
      RunFiles files = new RunFiles(run);
      Slo objectives = slo == null ? null : Slo.parse(slo);
      UnaryOperator<RunInfo> judged =
          info -> (objectives == null ? info : info.slo(objectives)).sloHeldBy(percentile, rule);
      RunReport report = RunReport.of(files, judged, csv, Export.checked(exports));
      Summary summary = written(report, files);
      if (summary.slo() == null && (percentile != null || rule != null)) {
        PrintableText.print("LLM: the run has no SLO to judge by; set one with --slo");
      }
      String started = StartCommand.of(summary.config()).text();
      if (started != null) {
        PrintableText.print("LLM: started by " + started);
      }
      return codeOf(summary);
    }
  }

  static void checkFolder(@Nullable Path out) throws IOException {
    if (out != null && Files.exists(out) && !Files.isDirectory(out)) {
      throw new IOException(out + " is not a directory; expected one for --out");
    }
  }

  static final class Places {

    @Option(
        names = "--cache",
        paramLabel = "<dir>",
        description =
            "folder for downloaded objects; a later call downloads what is missing [none]")
    private @Nullable Path cache;

    RunInputs inputs(List<String> places) {
      return new RunInputs(places, cache, PrintableText::print);
    }
  }

  static Summary written(RunReport report, RunFiles files) throws IOException {
    Summary summary = report.write(List.of(), PrintableText::print);
    PrintableText.print("LLM report: " + files.page().toUri());
    return summary;
  }

  static int codeOf(Summary summary) {
    return summary.assertionsHold() ? 0 : MISSED;
  }
}
