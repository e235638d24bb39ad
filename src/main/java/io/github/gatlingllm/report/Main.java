package io.github.gatlingllm.report;

import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.stats.Summary;
import io.github.gatlingllm.store.RunInputs;
import io.github.gatlingllm.store.RunUpload;
import io.github.gatlingllm.store.S3Location;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * The command line over recorded runs.
 *
 * <pre>
 * render &lt;run&gt; [--out &lt;dir&gt;] [--slo "ttft&lt;200ms,tpot&lt;50ms"] [--slo-percentile 99] [--slo-rule percentiles]
 *     [--csv]
 * merge &lt;run&gt;… --out &lt;dir&gt;
 * compare &lt;base&gt; &lt;run&gt;… [--fail-on "ttft.p95>+10%"] [--out &lt;dir&gt;]
 * upload &lt;run&gt;… --to s3://bucket/prefix
 * </pre>
 *
 * <p>Exit codes: 0 fine, 2 an assertion of the run was missed or a comparison failed, 1 anything
 * else, with one line that says what and why.
 */
@Command(
    name = "gatling-llm",
    description = "Works on recorded runs.",
    mixinStandardHelpOptions = true,
    subcommands = {Main.Render.class, MergeCommand.class, CompareCommand.class, Main.Upload.class})
public final class Main {

  /** What an assertion that was missed, or a comparison that failed, ends with. */
  static final int MISSED = 2;

  private static final String LOGBACK = "logback.configurationFile";

  private Main() {}

  /** Runs the command and ends the process with its exit code. */
  public static void main(String[] arguments) {
    System.exit(execute(arguments));
  }

  /** Runs the command and returns its exit code. */
  public static int execute(String... arguments) {
    quietLogging();
    return commandLine(new Main()).execute(arguments);
  }

  /** Without any configuration Logback prints all that libraries have to say. */
  private static void quietLogging() {
    ClassLoader files = Main.class.getClassLoader();
    if (System.getProperty(LOGBACK) == null
        && files.getResource("logback.xml") == null
        && files.getResource("logback-test.xml") == null) {
      System.setProperty(LOGBACK, "io/github/gatlingllm/cli/logback.xml");
    }
  }

  /**
   * A command whose mistakes and failures are one line and exit code 1; where it was given no
   * arguments but needs some, its usage follows.
   */
  public static CommandLine commandLine(Object command) {
    return new CommandLine(command)
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setExitCodeExceptionMapper(failure -> 1)
        .setParameterExceptionHandler(
            (failure, given) -> {
              CommandLine failed = failure.getCommandLine();
              failed.getErr().println(ConsoleBlock.visible(String.valueOf(failure.getMessage())));
              boolean isNamedAlone = List.of(given).equals(List.of(failed.getCommandName()));
              if (given.length == 0 || isNamedAlone) {
                failed.usage(failed.getErr());
              }
              return 1;
            })
        .setExecutionExceptionHandler(
            (failure, failed, parsed) -> {
              failed.getErr().println(ConsoleBlock.visible(String.valueOf(failure.getMessage())));
              return 1;
            });
  }

  /** Makes everything again from the records. */
  @Command(
      name = "render",
      description =
          "Makes llm.html, summary.json, summary.md and junit.xml again from a run's records.",
      mixinStandardHelpOptions = true)
  static final class Render implements Callable<Integer> {

    @Parameters(
        index = "0",
        paramLabel = "<run>",
        description = "the run: its folder, a .tar.gz, .zip or s3://bucket/prefix")
    private String place = ".";

    @Option(
        names = "--out",
        paramLabel = "<dir>",
        description = "put records and report there; else into the run's folder")
    private @Nullable Path out;

    @Mixin private Places from = new Places();

    @Option(names = "--slo", paramLabel = "<slo>", description = "judge by this SLO instead")
    private @Nullable String slo;

    @Option(
        names = "--slo-percentile",
        paramLabel = "<percent>",
        description = "share of requests at which a level holds; 99 with --slo")
    private @Nullable Double percentile;

    @Option(
        names = "--slo-rule",
        paramLabel = "<rule>",
        description =
            "percentiles: each objective by itself is met by that share; requests: all at once;"
                + " percentiles with --slo")
    private Slo.@Nullable Rule rule;

    @Option(names = "--csv", description = "write llm/requests.csv too")
    private boolean csv;

    @Override
    public Integer call() throws IOException {
      try (RunInputs inputs = from.open(List.of(place))) {
        Path run = inputs.one();
        if (out == null && inputs.isCopy(run)) {
          throw new IOException(place + " is no folder; name one for the report by --out <dir>");
        }
        int code = render(out == null ? run : inputs.copy(run, out));
        inputs.forget();
        return code;
      }
    }

    private int render(Path run) throws IOException {
      RunFiles files = new RunFiles(run);
      RunReport report = RunReport.of(files);
      if (slo != null) {
        report = report.slo(Slo.parse(slo));
      }
      if (percentile != null || rule != null) {
        report = report.sloHeldBy(percentile, rule);
      }
      if (csv) {
        report = report.csv();
      }
      return codeOf(written(report, files));
    }
  }

  /** Options of every command that is given runs. */
  static final class Places {

    @Option(
        names = "--cache",
        paramLabel = "<dir>",
        description =
            "where archives are unpacked, and objects downloaded to go on after a failure")
    private @Nullable Path cache;

    /** Finds the runs that are named so. */
    RunInputs open(List<String> places) throws IOException {
      return RunInputs.open(places, cache, Main::print);
    }
  }

  /** Puts folders of runs into object storage: again, or for the first time. */
  @Command(
      name = "upload",
      description = "Puts a run's records and report into object storage, as llm.upload does.",
      mixinStandardHelpOptions = true)
  static final class Upload implements Callable<Integer> {

    @Parameters(index = "0", arity = "1..*", paramLabel = "<run>", description = "their folders")
    private List<Path> runs = List.of();

    @Option(
        names = "--to",
        required = true,
        paramLabel = "<s3://bucket/prefix>",
        description = "below which each gets a folder <run>-<injector>")
    private String to = "";

    @Override
    public Integer call() throws IOException {
      S3Location prefix = S3Location.parse(to);
      for (Path run : runs) {
        upload(prefix, new RunFiles(run));
      }
      return 0;
    }
  }

  /** Puts a run that has ended into object storage, and says where. */
  static void upload(S3Location prefix, RunFiles files) throws IOException {
    RunInfo info =
        RunInfo.read(files.info())
            .orElseThrow(
                () ->
                    new NoSuchFileException(
                        files.info() + " is not there; expected the directory of a run"));
    if (info.state() == RunInfo.State.RUNNING) {
      throw new IOException(files.run() + " is of a run that has not ended");
    }
    try (RunUpload upload = RunUpload.open(prefix, files, info)) {
      upload.records();
      upload.report();
      print("LLM upload: " + upload.place());
    }
  }

  /** Prints a line that may hold text from anywhere. */
  static void print(String line) {
    System.out.println(ConsoleBlock.visible(line));
  }

  /** Writes the files and prints what a reader wants to know at once. */
  static Summary written(RunReport report, RunFiles files) throws IOException {
    Summary summary = report.write(List.of(), Main::print);
    System.out.println("LLM report: " + files.page().toUri());
    return summary;
  }

  /** What a command ends with that has made this. */
  static int codeOf(Summary summary) {
    return summary.assertionsHold() ? 0 : MISSED;
  }
}
