package io.github.gatlingllm.stats;

import io.github.gatlingllm.record.RecordFile.ReadReport;
import io.github.gatlingllm.record.RequestRecord;
import java.io.IOException;
import java.util.function.Consumer;

/**
 * Replays the records of a run, the same ones each time, e.g. {@code sink ->
 * RecordFile.read(requestsJsonl, sink)}.
 */
@FunctionalInterface
public interface RecordSource {

  /** Hands every record to {@code sink}, and says what else there was. */
  ReadReport replay(Consumer<RequestRecord> sink) throws IOException;
}
