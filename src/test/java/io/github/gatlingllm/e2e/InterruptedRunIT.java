package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;
import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;

import io.gatling.javaapi.core.*;
import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.engine.EmbeddedEngine.GroundTruth;
import io.github.gatlingllm.record.RecordFile;
import io.github.gatlingllm.record.RecordFile.ReadReport;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.testing.GatlingRun;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Interrupted runs keep their records. */
class InterruptedRunIT {
  private static final int SIGTERM = 128 + 15;
  private static final int SIGKILL = 128 + 9;

  /** Streams of 300 ms, so that the signal interrupts some of them. */
  private static EmbeddedEngine engine() {
    return EmbeddedEngine.builder().fixed(ofMillis(5), ofMillis(3)).recordGroundTruth().start();
  }

  /** {@code RecorderTest} checks how many records a kill can lose: those of one second. */
  @Test
  void recordsOfAKilledRunAreReadable() throws Exception {
    try (EmbeddedEngine engine = engine();
        GatlingRun run = GatlingRun.of(LongSimulation.class, engine.baseUrl()).start()) {
      run.awaitRecords(20);
      run.kill();
      run.await();

      assertThat(run.exitCode()).isEqualTo(SIGKILL);
      List<RequestRecord> records = new ArrayList<>();
      ReadReport report = RecordFile.read(run.files().requests(), records::add);
      assertThat(report.badLines()).isZero();
      assertThat(records)
          .hasSizeGreaterThanOrEqualTo(20)
          .extracting(r -> r.identity().requestId())
          .doesNotHaveDuplicates()
          .isSubsetOf(engine.groundTruth().stream().map(GroundTruth::requestId).toList());
      assertThat(run.info().state()).isEqualTo(RunInfo.State.RUNNING);
    }
  }

  @Test
  void interruptBeforeTheFirstRequestIsOneLine() throws Exception {
    try (GatlingRun run =
        GatlingRun.of(LongSimulation.class, "http://127.0.0.1:1/v1").set("idle", 300).start()) {
      run.awaitLine("started...");
      run.terminate();
      run.await();

      assertThat(run.exitCode()).isEqualTo(SIGTERM);
      assertThat(run.output()).doesNotContain("\tat ", "Exception");
      assertThat(run.lines().stream().filter(line -> line.contains("LLM report")))
          .containsExactly("LLM report: none, because no llm request was sent");
      assertThat(run.files().page()).doesNotExist();
      assertThat(run.info().state()).isEqualTo(RunInfo.State.INTERRUPTED);
    }
  }

  /** Load that lasts longer than a test; with {@code idle} users send no requests. */
  public static final class LongSimulation extends Simulation {

    public LongSimulation() {
      ScenarioBuilder chat =
          scenario("Chat")
              .pause(Integer.getInteger("idle", 0))
              .exec(llm("ask").chat().user("Hello").maxTokens(100));
      setUp(closedLoop(8).fill(0).stabilize(0).measure(300).inject(chat))
          .protocols(llm.baseUrl(System.getProperty("baseUrl")).disableJvmWarmUp());
    }
  }
}
