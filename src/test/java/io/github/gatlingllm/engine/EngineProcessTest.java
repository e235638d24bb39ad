package io.github.gatlingllm.engine;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gatlingllm.engine.EmbeddedEngine.GroundTruth;
import io.github.gatlingllm.engine.EngineProcess.Written;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EngineProcessTest {

  @Test
  void answersArriveWithTheInstantsOfOurClock() throws Exception {
    List<GroundTruth> truths = List.of(truth("a", 1_000, 2_000L, 3_000L), truth("b", 1_500));
    try (ServerSocket control = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Thread engine = new Thread(() -> EngineProcess.serve(control, () -> truths));
      engine.start();
      new Socket(InetAddress.getLoopbackAddress(), control.getLocalPort()).close(); // not ours
      List<Written> answers =
          EngineProcess.stop(control.getLocalPort(), nanos -> nanos - 500, ofSeconds(10));
      assertThat(answers).as("b has not begun").hasSize(1);
      assertThat(answers.get(0).requestId()).isEqualTo("a");
      assertThat(answers.get(0).receivedNanos()).isEqualTo(500);
      assertThat(answers.get(0).tokenNanos()).containsExactly(1_500, 2_500);
      engine.join(SECONDS.toMillis(10));
      assertThat(engine.isAlive()).isFalse();
    }
  }

  @Test
  void anEngineThatHangsDoesNotKeepTheRunFromEnding() throws Exception {
    try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      assertThatThrownBy(() -> EngineProcess.stop(silent.getLocalPort(), n -> n, ofMillis(1)))
          .isInstanceOf(SocketTimeoutException.class);
    }
  }

  private static GroundTruth truth(String id, long received, Long... tokens) {
    long[] instants = List.of(tokens).stream().mapToLong(nanos -> nanos).toArray();
    @Nullable Long first = instants.length == 0 ? null : (Long) instants[0];
    return new GroundTruth(
        id, received, received, first, instants, 1, 0, instants.length, 9_000, false);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void theProcessEndsWhenStoppedAndWithItsParent(boolean stopped) throws Exception {
    EngineProcess engine = EngineProcess.start();
    try {
      assertThat(engine.baseUrl()).matches("http://127\\.0\\.0\\.1:\\d+/v1");
      if (stopped) {
        assertThat(EngineProcess.stop(engine.controlPort(), nanos -> nanos)).isEmpty();
      } else {
        engine.process().getOutputStream().close();
      }
      assertThat(engine.process().waitFor(20, SECONDS)).isTrue();
      assertThat(new String(engine.process().getInputStream().readAllBytes(), UTF_8)).isEmpty();
    } finally {
      engine.process().destroyForcibly();
    }
  }
}
