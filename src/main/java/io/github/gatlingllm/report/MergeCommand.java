package io.github.gatlingllm.report;

import io.github.gatlingllm.merge.InjectorJoin;
import io.github.gatlingllm.metric.NumberText;
import io.github.gatlingllm.record.RecordCodec;
import io.github.gatlingllm.record.RecordFile;
import io.github.gatlingllm.record.RecordFile.ReadReport;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.ServerFile;
import io.github.gatlingllm.record.ServerSample;
import io.github.gatlingllm.stats.RunStatistics;
import io.github.gatlingllm.store.RunInputs;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * Makes one run of the injectors of a load test, and its report. Records go from file to file one
 * by one, whatever their number.
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

  private List<Path> runs = List.of();

  @Override
  public Integer call() throws IOException {
    refuseUsed(out);
    try (RunInputs inputs = from.open(places)) {
      runs = inputs.runs();
      int code = merge();
      inputs.forget();
      return code;
    }
  }

  private int merge() throws IOException {
    if (runs.size() < 2) {
      throw new IllegalArgumentException(runs.get(0) + " is one run; name two or more to join");
    }
    List<RunInfo> infos = new ArrayList<>();
    for (Path run : runs) {
      infos.add(info(new RunFiles(run)));
    }
    Path name = out.toAbsolutePath().normalize().getFileName();
    InjectorJoin join = InjectorJoin.of(String.valueOf(name), infos);
    RunFiles files = new RunFiles(out);
    Files.createDirectories(files.folder());
    Copied copied = copy(join, files.requests());
    copyLines(RunFiles::arrivals, files);
    copyLines(RunFiles::generator, files);
    copyServer(files);
    RunInfo joined = join.info();
    joined.dropped(joined.dropped() + copied.lost).write(files.info());
    join.remarks().forEach(Main::print);
    copied.remarks.forEach(Main::print);
    return Main.written(RunReport.of(files), files);
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

  private static RunInfo info(RunFiles files) throws IOException {
    if (!Files.exists(files.requests())) {
      throw new NoSuchFileException(
          files.requests() + " is not there; expected the directory of a recorded run");
    }
    return RunStatistics.completed(
        RunInfo.read(files.info()).orElse(null), sink -> RecordFile.read(files.requests(), sink));
  }

  /** What happened to the records on their way. */
  private static final class Copied {
    private final List<String> remarks = new ArrayList<>();
    private long lost;
    private long moved;
  }

  private Copied copy(InjectorJoin join, Path target) throws IOException {
    Copied copied = new Copied();
    try (OutputStream to = new BufferedOutputStream(Files.newOutputStream(target), 1 << 18)) {
      for (Path run : runs) {
        RunFiles files = new RunFiles(run);
        ReadReport read =
            RecordFile.read(files.requests(), record -> copy(record, join, to, copied));
        report(run, read, copied);
      }
    }
    if (copied.moved > 0) {
      copied.remarks.add(
          NumberText.count(copied.moved)
              + " requests were scheduled outside the common measure window: they count as"
              + " stabilize, cooldown or drain");
    }
    return copied;
  }

  private static void copy(
      RequestRecord record, InjectorJoin join, OutputStream to, Copied copied) {
    RequestRecord placed = join.placed(record);
    copied.moved += placed.identity().phase() == record.identity().phase() ? 0 : 1;
    try {
      to.write(RecordCodec.write(placed));
    } catch (IOException e) {
      throw new UncheckedIOException(e.getMessage(), e);
    }
  }

  /** The lines of a file of all injectors, one after the other. */
  private void copyLines(Function<RunFiles, Path> of, RunFiles target) throws IOException {
    for (Path run : runs) {
      Path file = of.apply(new RunFiles(run));
      if (Files.isRegularFile(file)) {
        try (InputStream from = Files.newInputStream(file);
            OutputStream to =
                Files.newOutputStream(
                    of.apply(target), StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
          byte[] buffer = new byte[1 << 16];
          byte last = '\n';
          for (int count = from.read(buffer); count > 0; count = from.read(buffer)) {
            to.write(buffer, 0, count);
            last = buffer[count - 1];
          }
          if (last != '\n') {
            to.write('\n');
          }
        }
      }
    }
  }

  /** What servers said; a page that several injectors read as the first of them did. */
  private void copyServer(RunFiles target) throws IOException {
    ServerFile to = new ServerFile(target.server());
    Map<String, Path> readBy = new HashMap<>();
    for (Path run : runs) {
      var unused =
          ServerFile.read(
              new RunFiles(run).server(),
              sample -> {
                if (run.equals(readBy.computeIfAbsent(sample.url(), url -> run))) {
                  append(sample, to);
                }
              });
    }
  }

  private static void append(ServerSample sample, ServerFile to) {
    try {
      to.append(sample);
    } catch (IOException e) {
      throw new UncheckedIOException(e.getMessage(), e);
    }
  }

  /** A damaged line, and one that is cut off, are each a request that is in no figure. */
  private static void report(Path run, ReadReport read, Copied copied) {
    if (read.badLines() > 0) {
      ReadReport.BadLine first = read.firstBadLines().get(0);
      copied.remarks.add(
          "%s: %s lines are damaged and left out, the first is line %s: %s"
              .formatted(
                  run,
                  NumberText.count(read.badLines()),
                  NumberText.count(first.number()),
                  first.reason()));
    }
    if (read.cutTailBytes() > 0) {
      copied.remarks.add(
          "%s: the last line is cut off (%s bytes) and left out"
              .formatted(run, NumberText.count(read.cutTailBytes())));
    }
    copied.lost += read.badLines() + (read.cutTailBytes() > 0 ? 1 : 0);
  }
}
