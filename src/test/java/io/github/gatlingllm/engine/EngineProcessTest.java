package io.github.gatlingllm.engine;

import static io.github.gatlingllm.engine.EngineProcess.STOP_PATIENCE;
import static java.time.Duration.ofMillis;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gatlingllm.engine.EmbeddedEngine.GroundTruth;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EngineProcessTest {

  private static EngineProcess played(String script) throws IOException {
    return new EngineProcess(new ProcessBuilder("sh", "-c", "echo http://x; " + script).start());
  }

  @Test
  void answersArriveWithTheInstantsOfOurClock(@TempDir Path folder) throws Exception {
    Path answer = folder.resolve("answer");
    try (PrintStream out = new PrintStream(Files.newOutputStream(answer))) {
      EngineProcess.write(List.of(truth("a", 1_000, 2_000L, 3_000L), truth("b", 1_500)), out);
    }
    List<GroundTruth> answers =
        played("read stop; cat '" + answer + "'").stop(nanos -> nanos - 500, STOP_PATIENCE);
    assertThat(answers).as("b has not begun").hasSize(1);
    assertThat(answers.get(0).requestId()).isEqualTo("a");
    assertThat(answers.get(0).receivedNanos()).isEqualTo(500);
    assertThat(answers.get(0).tokenNanos()).containsExactly(1_500, 2_500);
  }

  @Test
  void anEngineThatHangsDoesNotKeepTheRunFromEnding() throws Exception {
    EngineProcess engine = played("exec sleep 99");
    assertThatThrownBy(() -> engine.stop(nanos -> nanos, ofMillis(1)))
        .hasMessageContaining("does not answer");
    assertThat(engine.process().waitFor(20, SECONDS)).isTrue();
  }

  private static GroundTruth truth(String id, long received, Long... tokens) {
    long[] instants = List.of(tokens).stream().mapToLong(nanos -> nanos).toArray();
    @Nullable Long first = instants.length == 0 ? null : (Long) instants[0];
    return new GroundTruth(
        id, received, received, first, instants, 1, 0, instants.length, 9_000, false);
  }

  @Test
  void theProcessEndsWithItsParent() throws Exception {
    EngineProcess engine = EngineProcess.start();
    try {
      assertThat(engine.baseUrl()).matches("http://127\\.0\\.0\\.1:\\d+/v1");
      engine.process().getOutputStream().close();
      assertThat(engine.process().getInputStream().readAllBytes()).isEmpty();
      assertThat(engine.process().waitFor(20, SECONDS)).isTrue();
    } finally {
      engine.process().destroyForcibly();
    }
  }
}
