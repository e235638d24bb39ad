package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.record.DurationText;
import io.github.gatlingllm.record.InjectorRun;
import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.storage.S3Location;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * Merges the runs of several injectors of one load test, and writes the report of the merged run.
 * Records are copied and counted one by one, so memory does not grow with their number.
 */
@Command(
    name = "merge",
    description = "Merges the injectors of one load test into one run.",
    mixinStandardHelpOptions = true)
final class MergeCommand implements Callable<Integer> {

  @Parameters(
      index = "0..*",
      arity = "1..*",
      paramLabel = "<run>",
      description =
          "runs of the injectors: folders or s3://bucket/prefix, each with one or"
              + " several runs")
  private List<String> places = new ArrayList<>();

  @Mixin private Main.Places from = new Main.Places();

  @Option(
      names = "--out",
      required = true,
      paramLabel = "<dir>",
      description = "folder of the merged run: new, empty, or with an incomplete merge (required)")
  private Path out = Path.of(".");

  @Option(
      names = "--expect",
      paramLabel = "<n>",
      description = "number of injectors of the load test [as their runs record it]")
  private @Nullable Integer expected;

  @Option(
      names = "--force",
      description =
          "merges runs of different simulations, SLOs, models, endpoints, load plans or times too,"
              + " and prints what differs")
  private boolean isForced;

  @Option(
      names = "--wait",
      paramLabel = "<duration>",
      description =
          "longest wait for runs of injectors that nothing is written to, e.g. 10m [no wait]")
  private @Nullable String wait;

  @Option(
      names = "--upload",
      paramLabel = "<s3-prefix>",
      description =
          "uploads the merged run to <s3-prefix>/<dir>/, e.g. to s3://bucket/prefix [none]")
  private @Nullable String upload;

  @Option(
      names = "--fail-as-run",
      description =
          "exit code 2 also if the merged run is invalid, unless its failOnInvalid or failBuild is"
              + " false")
  private boolean failsAsRun;

  @Override
  public Integer call() throws IOException {
    if (!isIncomplete(out)) {
      requireEmpty(out);
    }
    if (expected != null && expected < 1) {
      throw new IllegalArgumentException(
          "--expect " + expected + " is out of range; expected an integer ≥ 1");
    }
    if (upload != null) {
      S3Location.parse(upload).check();
    }
    if (wait != null) {
      try {
        RunFiles.requireWritable(out);
      } catch (IOException e) {
        throw new IOException(out + " cannot be written: " + e.getMessage(), e);
      }
    }
    try (RunInputs inputs = from.inputs(places).without(out)) {
      if (wait != null) {
        expected = inputs.await(longest(wait), expected, System::nanoTime, RunInputs::sleep);
      }
      return merge(inputs.runs());
    }
  }

  private static Duration longest(String text) {
    try {
      return Duration.ofNanos(DurationText.nanos(text, "s"));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "--wait " + text + " is not a duration; expected e.g. 10m", e);
    }
  }

  private int merge(List<Path> runs) throws IOException {
    RunFiles files = new RunFiles(out);
    InjectorMerge merge = new InjectorMerge(files, runs, expected, isForced);
    if (isIncomplete(out)) {
      RunFiles.delete(files.folder());
      PrintableText.print("the incomplete merge in " + out + " is replaced");
    }
    Files.createDirectories(files.folder());
    merge.copyOthers();
    merge.remarks().forEach(PrintableText::print);
    Summary summary = Main.written(RunReport.of(files, merge.merged(), merge), files);
    merge.damages().forEach(PrintableText::print);
    if (upload != null) {
      S3Location place = S3Location.parse(upload).of(merge.merged());
      place.uploadRecords(files);
      place.uploadReport(files);
      PrintableText.print("LLM upload: " + place);
    }
    return failsAsRun ? codeOfRun(summary, merge.merged()) : Main.codeOf(summary);
  }

  private static int codeOfRun(Summary summary, RunInfo run) {
    boolean isComplete = run.state() == RunInfo.State.COMPLETE;
    return RunReport.failsBuild(summary, run.report(), isComplete, PrintableText::print)
        ? Main.MISSED
        : 0;
  }

  /** Whether it is a merged run of which injectors are missing or still ran. */
  private static boolean isIncomplete(Path out) throws IOException {
    RunInfo merged = RunInfo.read(new RunFiles(out).info()).orElse(null);
    if (merged == null) {
      return false;
    }
    Integer of = merged.injectorsExpected();
    List<InjectorRun> injectors = merged.injectors();
    return !injectors.isEmpty()
        && ((of != null && injectors.size() < of)
            || injectors.stream().anyMatch(InjectorRun::isDead));
  }

  private static void requireEmpty(Path out) throws IOException {
    String[] inside = out.toFile().list();
    if (inside == null ? Files.exists(out) : inside.length > 0) {
      throw new IOException(
          out + " is not an empty directory; name one for --out that does not exist yet");
    }
  }
}
