package io.github.gatlingllm.run;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.record.RandomRecords;
import io.github.gatlingllm.record.RecordFile;
import io.github.gatlingllm.record.RecordFile.ReadReport;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.testing.JavaCommand;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A load generator that is killed in the middle of its work. */
@Timeout(120)
class KilledRecorderIT {

  @Test
  void killLosesAtMostTheLastLine(@TempDir Path directory) throws Exception {
    Path file = directory.resolve("requests.jsonl");
    Process process =
        new ProcessBuilder(JavaCommand.of(List.of(), Victim.class, file))
            .redirectError(Redirect.INHERIT)
            .start();
    long inFile;
    try (BufferedReader out =
        new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8))) {
      inFile = Long.parseLong(out.readLine());
    } finally {
      process.destroyForcibly();
    }
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();

    List<Long> indexes = new ArrayList<>();
    ReadReport report = RecordFile.read(file, r -> indexes.add(r.identity().requestIndex()));
    assertThat(report.badLines()).isZero();
    assertThat(report.records()).isGreaterThanOrEqualTo(inFile).isGreaterThan(1_000);
    for (int i = 0; i < indexes.size(); i++) {
      assertThat(indexes.get(i)).isEqualTo(i);
    }
  }

  /** Records as fast as it can until it is killed. */
  static final class Victim {

    private Victim() {}

    public static void main(String[] args) throws IOException {
      RandomRecords records = new RandomRecords(5);
      Recorder recorder = Recorder.open(Path.of(args[0]), record -> {});
      RequestRecord next = records.answer(100);
      boolean said = false;
      while (true) {
        if (recorder.record(next)) {
          next = records.answer(100);
        } else {
          Thread.onSpinWait();
        }
        if (!said && recorder.recorded() > 1_000) {
          said = true;
          System.out.println(recorder.recorded());
        }
      }
    }
  }
}
