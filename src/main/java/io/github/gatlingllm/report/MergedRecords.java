package io.github.gatlingllm.report;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.github.gatlingllm.figures.level.RunStatistics.RecordSource;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.record.InjectorRun;
import io.github.gatlingllm.record.RecordFile;
import io.github.gatlingllm.record.RecordFile.ReadReport;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.ServerSample.ServerFile;
import io.github.gatlingllm.report.InjectorMerge.InjectorPart;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;

/** Merges the files of injectors in one pass: a record goes to the statistics and is copied. */
final class MergedRecords implements RecordSource {

  static final ReadReport NOTHING = ReadReport.of(0);

  private final InjectorMerge merge;
  private final RunFiles target;
  private final List<String> remarks = new ArrayList<>();
  private List<InjectorRun> read = List.of();
  private long moved;
  private long measured;

  /** Merges into an existing folder. */
  MergedRecords(InjectorMerge merge, RunFiles target) {
    this.merge = merge;
    this.target = target;
  }

  void copyOthers() throws IOException {
    copyLines(RunFiles::arrivals);
    copyLines(RunFiles::generator);
    copyServer();
  }

  @Override
  public ReadReport replay(Consumer<RequestRecord> sink) throws IOException {
    List<InjectorRun> found = new ArrayList<>();
    remarks.clear();
    moved = 0;
    long records = 0;
    try (OutputStream to =
        new BufferedOutputStream(Files.newOutputStream(target.requests()), 1 << 18)) {
      for (InjectorRun injector : merge.merged.injectors()) {
        InjectorPart part = merge.parts.get(found.size());
        ReadReport file = copy(part, to, sink);
        long damaged = file.badLines() + (file.cutTailBytes() > 0 ? 1 : 0);
        found.add(injector.read(file.records(), measured, injector.dropped() + damaged));
        records += file.records();
        report(part.files(), file);
      }
    }
    read = List.copyOf(found);
    if (moved > 0) {
      remarks.add(
          NumberText.count(moved)
              + " requests were scheduled outside the common measure window: they count as"
              + " stabilize, cooldown or drain");
    }
    return ReadReport.of(records);
  }

  private ReadReport copy(InjectorPart part, OutputStream to, Consumer<RequestRecord> sink)
      throws IOException {
    measured = 0;
    Path file = part.files().requests();
    if (!Files.exists(file)) {
      return NOTHING;
    }
    return RecordFile.readLines(
        file,
        (record, line) -> {
          RequestRecord placed = merge.levels.placed(record);
          sink.accept(placed);
          measured += LevelMerge.isPlanned(part.info(), record) ? 1 : 0;
          boolean isSamePhase = placed.identity().phase() == record.identity().phase();
          moved += isSamePhase ? 0 : 1;
          try {
            if (isSamePhase) {
              to.write(line.array(), line.position(), line.remaining());
              to.write('\n');
            } else {
              to.write(RecordFile.line(placed));
            }
          } catch (IOException e) {
            throw new UncheckedIOException(e.getMessage(), e);
          }
        });
  }

  /** Adds the counts of the records and writes {@code run.json}. */
  @Override
  public RunInfo ended(RunInfo info) throws IOException {
    RunInfo merged =
        info.dropped(read.stream().mapToLong(InjectorRun::dropped).sum())
            .injectors(read, info.injectorsExpected());
    merged.write(target.info());
    return merged;
  }

  List<String> remarks() {
    return List.copyOf(remarks);
  }

  /** Each damaged line, or line that is cut off, is a request that no figure includes. */
  private void report(RunFiles run, ReadReport file) {
    if (file.badLines() > 0) {
      long first = file.firstBadLines().firstKey();
      remarks.add(
          "%s: %s ignored, the first is line %s: %s"
              .formatted(
                  run.run(),
                  NumberText.counted(file.badLines(), "damaged line"),
                  NumberText.count(first),
                  file.firstBadLines().get(first)));
    }
    if (file.cutTailBytes() > 0) {
      remarks.add(
          "%s: the last line is cut off (%s bytes) and ignored"
              .formatted(run.run(), NumberText.count(file.cutTailBytes())));
    }
  }

  @SuppressWarnings("StreamToIterable") // iterated once
  private void copyLines(Function<RunFiles, Path> of) throws IOException {
    for (InjectorPart part : merge.parts) {
      Path file = of.apply(part.files());
      if (Files.isRegularFile(file)) {
        try (Stream<String> lines = Files.lines(file, ISO_8859_1)) {
          Files.write(
              of.apply(target),
              (Iterable<String>) lines::iterator,
              ISO_8859_1,
              StandardOpenOption.CREATE,
              StandardOpenOption.APPEND);
        }
      }
    }
  }

  /** Samples of each page from the first injector that read it; complete runs first. */
  private void copyServer() throws IOException {
    ServerFile to = new ServerFile(target.server());
    Map<String, InjectorPart> readBy = new HashMap<>();
    for (boolean complete : new boolean[] {true, false}) {
      for (InjectorPart part : merge.parts) {
        if ((part.info().state() == RunInfo.State.COMPLETE) == complete) {
          var unused =
              ServerFile.read(
                  part.files().server(),
                  sample -> {
                    if (readBy.computeIfAbsent(sample.url(), url -> part).equals(part)) {
                      try {
                        to.append(sample);
                      } catch (IOException e) {
                        throw new UncheckedIOException(e.getMessage(), e);
                      }
                    }
                  });
        }
      }
    }
  }
}
