package io.github.gatlingllm.engine;

import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gatlingllm.engine.EmbeddedEngine.GroundTruth;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
final class FaultTest {
  private static final EmbeddedEngineBuilder FAST =
      EmbeddedEngine.builder().decodeStep(Duration.ofNanos(200_000)).recordGroundTruth();
  private static final String STREAM = ",\"max_tokens\":5,\"ignore_eos\":true,\"stream\":true";

  private static HttpResponse<String> ask(EmbeddedEngine engine, String more) throws Exception {
    return new EngineClient(engine).send("/chat/completions", "{" + Requests.PROMPT + more + "}");
  }

  private static long count(String text, String part) {
    return text.split(java.util.regex.Pattern.quote(part), -1).length - 1L;
  }

  @Test
  void rejectAnswersWithItsStatus() throws Exception {
    try (EmbeddedEngine engine = FAST.reject(429, 1).start()) {
      HttpResponse<String> response = ask(engine, STREAM);
      assertThat(response.statusCode()).isEqualTo(429);
      assertThat(response.headers().firstValue("retry-after")).hasValue("1");
      assertThat(response.body()).contains("\"type\":\"rate_limit_error\"");
      assertThat(engine.requestsReceived()).isEqualTo(1);
    }
  }

  @Test
  void cutEndsTheConnectionWithoutAnEndOfTheStream() throws Exception {
    try (EmbeddedEngine engine = FAST.cutAfter(3, 1).start()) {
      assertThatThrownBy(() -> ask(engine, STREAM)).isInstanceOf(IOException.class);
      assertThat(engine.groundTruth()).extracting(GroundTruth::outputTokens).containsExactly(3);
      assertThat(engine.groundTruth()).extracting(GroundTruth::cancelled).containsExactly(false);
    }
  }

  @Test
  void cutAfterTheLastTokenStillTakesTheFinishReason() throws Exception {
    try (EmbeddedEngine engine = FAST.cutAfter(5, 1).start()) {
      assertThatThrownBy(() -> ask(engine, STREAM)).isInstanceOf(IOException.class);
      assertThat(engine.groundTruth()).extracting(GroundTruth::outputTokens).containsExactly(5);
    }
  }

  @Test
  void failReportsAnErrorInsideTheStream() throws Exception {
    try (EmbeddedEngine engine = FAST.failAfter(2, 1).start()) {
      String body = ask(engine, STREAM).body();
      assertThat(body)
          .contains("data: {\"error\":{\"message\":\"Injected fault: status 500\"")
          .endsWith("data: [DONE]\n\n")
          .doesNotContain("\"finish_reason\":\"");
      assertThat(count(body, "\"delta\":{\"content\":")).isEqualTo(2);
      HttpResponse<String> whole = ask(engine, ",\"max_tokens\":5,\"ignore_eos\":true");
      assertThat(whole.statusCode()).isEqualTo(500);
    }
  }

  @Test
  void stallHoldsTokensBackOnceAndLosesNone() throws Exception {
    Duration pause = ofMillis(60);
    for (int after : new int[] {0, 2, 5}) {
      try (EmbeddedEngine engine = FAST.stallAfter(after, pause, 1).start()) {
        String body = ask(engine, STREAM).body();
        assertThat(body).endsWith("data: [DONE]\n\n");
        assertThat(count(body, "\"delta\":{\"content\":")).isEqualTo(5);
        GroundTruth truth = engine.groundTruth().get(0);
        long from = after == 0 ? truth.receivedNanos() : truth.tokenNanos()[after - 1];
        long to = after == 5 ? truth.endedNanos() : truth.tokenNanos()[after];
        assertThat(to - from).as("after %d", after).isGreaterThanOrEqualTo(pause.toNanos());
      }
    }
  }

  @Test
  void shareOfTheRequestsIsDrawnFromTheSeed() {
    EmbeddedEngineBuilder settings =
        EmbeddedEngine.builder().seed(1).reject(503, 0.2).cutAfter(1, 0.1);
    List<Integer> drawn = drawn(settings);
    assertThat(drawn).filteredOn(each -> each == 503).hasSizeBetween(1_900, 2_100);
    assertThat(drawn).filteredOn(each -> each == 1).hasSizeBetween(900, 1_100);
    assertThat(drawn).isEqualTo(drawn(settings));
  }

  private static List<Integer> drawn(EmbeddedEngineBuilder settings) {
    return LongStream.range(0, 10_000)
        .mapToObj(settings::faultOf)
        .filter(Objects::nonNull)
        .map(EmbeddedEngineBuilder.Fault::number)
        .toList();
  }

  @Test
  void impossibleFaultsAreRefused() {
    assertThatThrownBy(() -> FAST.reject(200, 1)).hasMessageContaining("expected 400 to 599");
    assertThatThrownBy(() -> FAST.cutAfter(-1, 1)).hasMessageContaining("expected 0 or more");
    assertThatThrownBy(() -> FAST.cutAfter(1, 0)).hasMessageContaining("more than 0");
    assertThatThrownBy(() -> FAST.reject(429, 1).cutAfter(1, 0.1))
        .hasMessageContaining("expected at most 1");
  }
}
