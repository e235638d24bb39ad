package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.level.RunStatistics.RecordSource;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.record.GeneratorSecond;
import io.github.gatlingllm.record.LevelInfo.PlannedArrival;
import io.github.gatlingllm.record.RecordFile;
import io.github.gatlingllm.record.RecordFile.ReadReport;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.ServerSample;
import io.github.gatlingllm.record.ServerSample.ServerFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.function.Consumer;

/**
 * The files of a recorded run. What is damaged in files other than that of the requests, whose
 * damage is in their figures, is omitted, with a line to {@code messages}.
 */
record RunRecords(RunFiles files, RecordSource requests, Consumer<String> messages)
    implements RecordSource {

  static RunRecords of(RunFiles files, Consumer<String> messages) {
    return new RunRecords(files, sink -> RecordFile.read(files.requests(), sink), messages);
  }

  @Override
  public ReadReport replay(Consumer<RequestRecord> sink) throws IOException {
    return requests.replay(sink);
  }

  @Override
  public RunInfo ended(RunInfo read) throws IOException {
    return requests.ended(read);
  }

  @Override
  public void arrivals(Consumer<PlannedArrival> sink) throws IOException {
    report(files.arrivals(), PlannedArrival.read(files.arrivals(), sink));
  }

  @Override
  public void generator(Consumer<GeneratorSecond> sink) throws IOException {
    String damage = GeneratorSecond.read(files.generator(), sink);
    if (damage != null) {
      messages.accept(files.generator() + " is read up to its " + damage);
    }
  }

  @Override
  public void server(Consumer<ServerSample> sink) throws IOException {
    report(files.server(), ServerFile.read(files.server(), sink));
  }

  private void report(Path file, long damaged) {
    if (damaged > 0) {
      messages.accept(file + ": ignored " + NumberText.counted(damaged, "damaged line"));
    }
  }
}
