package io.github.gatlingllm.report;

import io.github.gatlingllm.merge.JoinedRecords;
import io.github.gatlingllm.record.DurationText;
import io.github.gatlingllm.record.InjectorShare;
import io.github.gatlingllm.record.RecordFile;
import io.github.gatlingllm.record.RecordFile.ReadReport;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.stats.RunStatistics;
import io.github.gatlingllm.stats.Summary;
import io.github.gatlingllm.store.RunInputs;
import io.github.gatlingllm.store.RunUpload;
import io.github.gatlingllm.store.S3Location;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * Makes one run of the injectors of a load test, and its report. Records go from file to file one
 * by one, whatever their number, and are counted on their way.
 */
@Command(
    name = "merge",
    description = "Joins the injectors of one load test into one run.",
    mixinStandardHelpOptions = true)
final class MergeCommand implements Callable<Integer> {

  @Parameters(
      index = "0..*",
      arity = "1..*",
      paramLabel = "<run>",
      description = "their runs: folders, .tar.gz, .zip, s3://bucket/prefix; of one or of several")
  private List<String> places = new ArrayList<>();

  @Mixin private Main.Places from = new Main.Places();

  @Option(
      names = "--out",
      required = true,
      paramLabel = "<dir>",
      description = "directory of the joined run; must not hold anything yet")
  private Path out = Path.of(".");

  @Option(
      names = "--expect",
      paramLabel = "<n>",
      description = "how many injectors the load test had, where their runs do not say it")
  private @Nullable Integer expected;

  @Option(
      names = "--wait",
      paramLabel = "<duration>",
      description = "wait so long for the runs of all injectors to have ended, e.g. 10m")
  private @Nullable String wait;

  @Option(
      names = "--upload",
      paramLabel = "<s3://bucket/prefix>",
      description = "put the joined run there too, into <prefix>/<dir>/")
  private @Nullable String upload;

  @Option(
      names = "--fail-as-run",
      description =
          "end with 2 where the run itself would have: where it is invalid too, unless its"
              + " failOnInvalid or failBuild is false")
  private boolean failAsRun;

  @Override
  public Integer call() throws IOException {
    refuseUsed(out);
    if (upload != null) {
      RunUpload.check(S3Location.parse(upload));
    }
    if (wait != null) {
      expected = RunInputs.await(places, atMost(wait), expected, Main::print);
    }
    try (RunInputs inputs = from.open(places)) {
      int code = merge(inputs.runs());
      inputs.forget();
      return code;
    }
  }

  private static Duration atMost(String text) {
    try {
      return Duration.ofNanos(DurationText.nanos(text, "s"));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "--wait " + text + " is no duration; expected one such as 10m", e);
    }
  }

  /** A run, and what its {@code run.json} says. */
  private record Part(RunFiles files, RunInfo info) {

    static Part of(Path run) throws IOException {
      RunFiles files = new RunFiles(run);
      return new Part(files, read(files));
    }

    /**
     * Its place among the injectors; those that say nothing of it stay last, as they were given.
     */
    int index() {
      InjectorShare share = info.share();
      return share == null ? Integer.MAX_VALUE : share.index();
    }
  }

  private int merge(List<Path> runs) throws IOException {
    List<Part> parts = new ArrayList<>();
    for (Path run : runs) {
      parts.add(Part.of(run));
    }
    if (parts.size() < 2 && expected == null && parts.get(0).info.share() == null) {
      throw new IllegalArgumentException(
          runs.get(0) + " is one run; name two or more to join, or say with --expect how many");
    }
    parts.sort(Comparator.comparingInt(Part::index));
    Path name = out.toAbsolutePath().normalize().getFileName();
    RunFiles files = new RunFiles(out);
    JoinedRecords records =
        new JoinedRecords(
            String.valueOf(name),
            parts.stream().map(Part::info).toList(),
            expected,
            parts.stream().map(Part::files).toList(),
            files);
    Files.createDirectories(files.folder());
    records.copyOthers();
    records.remarksOnRuns().forEach(Main::print);
    Summary summary = Main.written(RunReport.of(files, records.info(), records), files);
    records.remarks().forEach(Main::print);
    if (upload != null) {
      Main.upload(S3Location.parse(upload), files);
    }
    return failAsRun ? codeOfRun(summary, records.info()) : Main.codeOf(summary);
  }

  private static int codeOfRun(Summary summary, RunInfo run) {
    boolean isWhole = run.state() == RunInfo.State.COMPLETE;
    return RunReport.failsBuild(summary, run.reportOptions(), isWhole, Main::print)
        ? Main.MISSED
        : 0;
  }

  private static void refuseUsed(Path out) throws IOException {
    if (Files.isDirectory(out)) {
      try (Stream<Path> inside = Files.list(out)) {
        if (inside.findAny().isEmpty()) {
          return;
        }
      }
    }
    if (Files.exists(out)) {
      throw new FileAlreadyExistsException(
          out + " is not an empty directory; name one for --out that does not exist yet");
    }
  }

  /** An injector that died early may have left no records, but what it had to do. */
  private static RunInfo read(RunFiles files) throws IOException {
    RunInfo info = RunInfo.read(files.info()).orElse(null);
    if (Files.exists(files.requests())) {
      return RunStatistics.completed(info, sink -> RecordFile.read(files.requests(), sink));
    }
    if (info == null) {
      throw new NoSuchFileException(
          files.requests() + " is not there; expected the directory of a recorded run");
    }
    return RunStatistics.completed(info, sink -> new ReadReport(0, 0, 0, List.of()));
  }
}
