package io.github.gatlingllm.engine;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gatlingllm.engine.EmbeddedEngine.GroundTruth;
import io.github.gatlingllm.engine.EngineLink.Written;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class EngineLinkTest {

  @Test
  void answersArriveWithTheInstantsOfOurClock() throws Exception {
    List<GroundTruth> truths = List.of(truth("a", 1_000, 2_000L, 3_000L), truth("b", 1_500));
    Thread engine;
    try (ServerSocket control = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      engine = new Thread(() -> EngineLink.serve(control, () -> truths));
      engine.start();
      try (EngineLink link = new EngineLink(control.getLocalPort())) {
        List<Written> answers = link.answers(nanos -> nanos - 500);
        assertThat(answers).as("b has not begun").hasSize(1);
        assertThat(answers.get(0).requestId()).isEqualTo("a");
        assertThat(answers.get(0).receivedNanos()).isEqualTo(500);
        assertThat(answers.get(0).tokenNanos()).containsExactly(1_500, 2_500);
      }
    }
    engine.join(SECONDS.toMillis(10));
    assertThat(engine.isAlive()).isFalse();
  }

  @Test
  void anEngineThatHangsDoesNotKeepTheRunFromEnding() throws Exception {
    try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        EngineLink link = new EngineLink(silent.getLocalPort(), Duration.ofMillis(1))) {
      assertThatThrownBy(link::stop).isInstanceOf(SocketTimeoutException.class);
    }
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
    try (EngineLink link = new EngineLink(engine.controlPort())) {
      assertThat(engine.baseUrl()).matches("http://127\\.0\\.0\\.1:\\d+/v1");
      assertThat(link.answers(nanos -> nanos)).isEmpty();
      engine.process().getOutputStream().close();
      assertThat(engine.process().waitFor(20, SECONDS)).isTrue();
      assertThat(new String(engine.process().getInputStream().readAllBytes(), UTF_8)).isEmpty();
    } finally {
      engine.process().destroyForcibly();
    }
  }

  @Test
  void theProcessEndsWhenStopped() throws Exception {
    EngineProcess engine = EngineProcess.start();
    try (EngineLink link = new EngineLink(engine.controlPort())) {
      link.stop();
      assertThat(engine.process().waitFor(20, SECONDS)).isTrue();
    } finally {
      engine.process().destroyForcibly();
    }
  }
}
