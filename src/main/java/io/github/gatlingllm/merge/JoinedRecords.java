package io.github.gatlingllm.merge;

import io.github.gatlingllm.metric.NumberText;
import io.github.gatlingllm.record.RecordFile;
import io.github.gatlingllm.record.RecordFile.ReadReport;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.RunInfo.InjectorRun;
import io.github.gatlingllm.record.ServerFile;
import io.github.gatlingllm.record.ServerSample;
import io.github.gatlingllm.stats.RunStatistics.RecordSource;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The files of a joined run, put together from those of its injectors. Records are counted while
 * they are copied: each is read once, and its line goes on as it is unless something in it changes.
 * Memory is that of one record, whatever their number.
 */
public final class JoinedRecords implements RecordSource {

  private static final String START = "start_unix_ns";

  private final InjectorJoin join;
  private final List<RunFiles> runs;
  private final RunFiles target;
  private final List<String> remarks = new ArrayList<>();
  private List<InjectorRun> read = List.of();
  private long moved;
  private long measured;

  /**
   * Joins injectors whose ends and levels are all known.
   *
   * @param id of the joined run
   * @param infos what is known of their runs
   * @param expected how many injectors the load test had; null where nobody said
   * @param runs their folders, in the same order
   * @param target the folder of the joined run, which exists when something is written
   * @throws IllegalArgumentException in one line, if they are not injectors of one load test
   */
  public JoinedRecords(
      String id,
      List<RunInfo> infos,
      @Nullable Integer expected,
      List<RunFiles> runs,
      RunFiles target) {
    this.join = InjectorJoin.of(id, infos, expected);
    this.runs = List.copyOf(runs);
    this.target = target;
  }

  /** The joined run, as far as it is known before its records are read. */
  public RunInfo info() {
    return join.info();
  }

  /** What to know about the runs that are joined, a line each. */
  public List<String> remarksOnRuns() {
    return join.remarks();
  }

  /** Copies what is beside the records. */
  public void copyOthers() throws IOException {
    copyLines(RunFiles::arrivals, "scheduled_unix_ns");
    copyLines(RunFiles::generator, START);
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
        InjectorRun injector = join.info().injectors().get(i);
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
    if (!Files.exists(runs.get(injector).requests())) {
      return new ReadReport(0, 0, 0, List.of());
    }
    OutputStream lines = corrected(injector, to, START);
    return RecordFile.readLines(
        runs.get(injector).requests(),
        (record, line, from, end) -> {
          RequestRecord placed = join.placed(injector, record);
          sink.accept(placed);
          measured += join.isOfPlan(injector, record) ? 1 : 0;
          boolean stays = placed.identity().phase() == record.identity().phase();
          moved += stays ? 0 : 1;
          try {
            if (stays) {
              lines.write(line, from, end - from);
              lines.write('\n');
            } else {
              to.write(RecordFile.line(placed));
            }
          } catch (IOException e) {
            throw new UncheckedIOException(e.getMessage(), e);
          }
        });
  }

  /** Has the instants after that key corrected where the clock of that injector is off. */
  private OutputStream corrected(int injector, OutputStream to, String key) {
    return join.isClockOff(injector)
        ? new CorrectedInstants(to, key, instant -> join.byClock(injector, instant))
        : to;
  }

  /** With what was lost on the way; {@code run.json} is written. */
  @Override
  public RunInfo ended(RunInfo info) throws IOException {
    RunInfo joined =
        info.dropped(read.stream().mapToLong(InjectorRun::dropped).sum())
            .injectors(read, info.injectorsExpected());
    joined.write(target.info());
    return joined;
  }

  /** What happened to the records on their way, a line each. */
  public List<String> remarks() {
    return List.copyOf(remarks);
  }

  /** A damaged line, and one that is cut off, are each a request that is in no figure. */
  private void report(RunFiles run, ReadReport file) {
    if (file.badLines() > 0) {
      ReadReport.BadLine first = file.firstBadLines().get(0);
      remarks.add(
          "%s: %s lines are damaged and left out, the first is line %s: %s"
              .formatted(
                  run.run(),
                  NumberText.count(file.badLines()),
                  NumberText.count(first.number()),
                  first.reason()));
    }
    if (file.cutTailBytes() > 0) {
      remarks.add(
          "%s: the last line is cut off (%s bytes) and left out"
              .formatted(run.run(), NumberText.count(file.cutTailBytes())));
    }
  }

  /** The lines of a file of all injectors, one after the other. */
  private void copyLines(Function<RunFiles, Path> of, String instants) throws IOException {
    for (int i = 0; i < runs.size(); i++) {
      Path file = of.apply(runs.get(i));
      if (Files.isRegularFile(file)) {
        try (InputStream from = Files.newInputStream(file);
            OutputStream to =
                new BufferedOutputStream(
                    Files.newOutputStream(
                        of.apply(target), StandardOpenOption.CREATE, StandardOpenOption.APPEND),
                    1 << 16)) {
          OutputStream lines = corrected(i, to, instants);
          byte[] buffer = new byte[1 << 16];
          byte last = '\n';
          for (int count = from.read(buffer); count > 0; count = from.read(buffer)) {
            lines.write(buffer, 0, count);
            last = buffer[count - 1];
          }
          if (last != '\n') {
            lines.write('\n');
          }
        }
      }
    }
  }

  /** What servers said; a page that several injectors read as the first whole run of them did. */
  private void copyServer() throws IOException {
    ServerFile to = new ServerFile(target.server());
    Map<String, RunFiles> readBy = new HashMap<>();
    for (RunFiles run : completeFirst()) {
      int injector = runs.indexOf(run);
      var unused =
          ServerFile.read(
              run.server(),
              sample -> {
                if (run.equals(readBy.computeIfAbsent(sample.url(), url -> run))) {
                  append(sample.at(join.byClock(injector, sample.unixNanos())), to);
                }
              });
    }
  }

  /** One that died has read a page up to its death only. */
  private List<RunFiles> completeFirst() {
    List<RunFiles> sorted = new ArrayList<>(runs);
    sorted.sort(
        Comparator.comparing(run -> !join.info().injectors().get(runs.indexOf(run)).isComplete()));
    return sorted;
  }

  private static void append(ServerSample sample, ServerFile to) {
    try {
      to.append(sample);
    } catch (IOException e) {
      throw new UncheckedIOException(e.getMessage(), e);
    }
  }
}
