package io.github.gatlingllm.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
final class FaultTest {
  private static final EmbeddedEngine.Builder FAST =
      EmbeddedEngine.builder().decodeStep(Duration.ofNanos(200_000));

  @Test
  void rejectAnswersWithItsStatus() throws Exception {
    try (EmbeddedEngine engine = FAST.reject(429, 1).start()) {
      HttpResponse<String> response =
          new EngineClient(engine)
              .send("/chat/completions", "{" + Requests.PROMPT + ",\"stream\":true}");
      assertThat(response.statusCode()).isEqualTo(429);
      assertThat(response.headers().firstValue("retry-after")).hasValue("1");
      assertThat(response.body()).contains("\"type\":\"rate_limit_error\"");
      assertThat(engine.requestsReceived()).isEqualTo(1);
    }
  }

  @Test
  void shareOfTheRequestsIsDrawnFromTheSeed() {
    EmbeddedEngine.Builder settings =
        EmbeddedEngine.builder().seed(1).reject(503, 0.2).reject(429, 0.1);
    List<Integer> drawn = drawn(settings);
    assertThat(drawn).filteredOn(each -> each == 503).hasSizeBetween(1_900, 2_100);
    assertThat(drawn).filteredOn(each -> each == 429).hasSizeBetween(900, 1_100);
    assertThat(drawn).isEqualTo(drawn(settings));
  }

  private static List<Integer> drawn(EmbeddedEngine.Builder settings) {
    return LongStream.range(0, 10_000)
        .mapToObj(settings::faultOf)
        .filter(Objects::nonNull)
        .map(EmbeddedEngine.Builder.Fault::status)
        .toList();
  }

  @Test
  void impossibleFaultsAreRefused() {
    assertThatThrownBy(() -> FAST.reject(200, 1)).hasMessageContaining("expected 400 to 599");
    assertThatThrownBy(() -> FAST.reject(429, 0)).hasMessageContaining("more than 0");
    assertThatThrownBy(() -> FAST.reject(429, 1).reject(503, 0.1))
        .hasMessageContaining("expected at most 1");
  }
}
