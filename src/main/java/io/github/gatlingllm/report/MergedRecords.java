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
import org.jspecify.annotations.Nullable;

/** Merges the files of injectors in one pass: a record goes to the statistics and is copied. */
final class MergedRecords implements RecordSource {

  static final ReadReport NOTHING = new ReadReport(0, 0, 0, List.of());

  private final InjectorMerge merge;
  private final List<RunInfo> infos;
  private final List<RunFiles> runs;
  private final RunFiles target;
  private final List<String> remarks = new ArrayList<>();
  private List<InjectorRun> read = List.of();
  private long moved;
  private long measured;

  /** Merges into an existing folder; throws with one line if the runs are not of one load test. */
  MergedRecords(
      String id,
      List<RunInfo> infos,
      @Nullable Integer expected,
      boolean isForced,
      List<RunFiles> runs,
      RunFiles target)
      throws IOException {
    this.merge = new InjectorMerge(id, infos, runs, expected, isForced);
    this.infos = List.copyOf(infos);
    this.runs = List.copyOf(runs);
    this.target = target;
  }

  /** The merged run, without the counts that are known only when the records are read. */
  RunInfo info() {
    return merge.merged;
  }

  List<String> remarksOnRuns() {
    return merge.remarks();
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
      for (int i = 0; i < runs.size(); i++) {
        ReadReport file = copy(i, to, sink);
        InjectorRun injector = info().injectors().get(i);
        long damaged = file.badLines() + (file.cutTailBytes() > 0 ? 1 : 0);
        found.add(injector.read(file.records(), measured, injector.dropped() + damaged));
        records += file.records();
        report(runs.get(i), file);
      }
    }
    read = List.copyOf(found);
    if (moved > 0) {
      remarks.add(
          NumberText.count(moved)
              + " requests were scheduled outside the common measure window: they count as"
              + " stabilize, cooldown or drain");
    }
    return new ReadReport(records, 0, 0, List.of());
  }

  private ReadReport copy(int injector, OutputStream to, Consumer<RequestRecord> sink)
      throws IOException {
    measured = 0;
    Path file = runs.get(injector).requests();
    if (!Files.exists(file)) {
      return NOTHING;
    }
    return RecordFile.readLines(
        file,
        (record, line, from, end) -> {
          RequestRecord placed = merge.levels.placed(record);
          sink.accept(placed);
          measured += LevelMerge.isPlanned(infos.get(injector), record) ? 1 : 0;
          boolean isSamePhase = placed.identity().phase() == record.identity().phase();
          moved += isSamePhase ? 0 : 1;
          try {
            if (isSamePhase) {
              to.write(line, from, end - from);
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
            .injectors(read, info.merged().injectorsExpected());
    merged.write(target.info());
    return merged;
  }

  List<String> remarks() {
    return List.copyOf(remarks);
  }

  /** Each damaged line, or line that is cut off, is a request that no figure includes. */
  private void report(RunFiles run, ReadReport file) {
    if (file.badLines() > 0) {
      ReadReport.BadLine first = file.firstBadLines().get(0);
      remarks.add(
          "%s: %s left out, the first is line %s: %s"
              .formatted(
                  run.run(),
                  NumberText.counted(file.badLines(), "damaged line"),
                  NumberText.count(first.number()),
                  first.reason()));
    }
    if (file.cutTailBytes() > 0) {
      remarks.add(
          "%s: the last line is cut off (%s bytes) and left out"
              .formatted(run.run(), NumberText.count(file.cutTailBytes())));
    }
  }

  @SuppressWarnings("StreamToIterable") // iterated once
  private void copyLines(Function<RunFiles, Path> of) throws IOException {
    for (RunFiles run : runs) {
      Path file = of.apply(run);
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
    Map<String, Integer> readBy = new HashMap<>();
    for (boolean complete : new boolean[] {true, false}) {
      for (int i = 0; i < runs.size(); i++) {
        if (info().injectors().get(i).isComplete() == complete) {
          int injector = i;
          var unused =
              ServerFile.read(
                  runs.get(i).server(),
                  sample -> {
                    if (readBy.computeIfAbsent(sample.url(), url -> injector) == injector) {
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
