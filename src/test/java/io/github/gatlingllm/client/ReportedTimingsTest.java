package io.github.gatlingllm.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.github.gatlingllm.record.ServerReport;
import io.github.gatlingllm.record.Timeline;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class ReportedTimingsTest {

  private static final String NOW = "Date: Wed, 21 Oct 2026 07:28:00 GMT";

  private static ServerReport read(String... lines) {
    HttpHeaders headers = new DefaultHttpHeaders();
    for (String line : lines) {
      headers.add(line.split(": ", 2)[0], line.split(": ", 2)[1]);
    }
    ReceivedAnswer answer = new ReceivedAnswer(new Timeline(0, 0), Api.CHAT, 1);
    answer.timings().headers(headers, Secrets.of(List.of("My-Secret-1")));
    return answer.server();
  }

  static Stream<Arguments> timings() {
    return Stream.of(
        arguments(
            "Text Generation Inference",
            new String[] {
              "x-compute-type: gpu+optimized",
              "x-compute-time: 0.482",
              "x-total-time: 482",
              "x-validation-time: 1",
              "x-queue-time: 53",
              "x-inference-time: 427",
              "x-time-per-token: 21"
            },
            Map.of(
                "total_s", 0.482,
                "validation_s", 0.001,
                "queue_s", 0.053,
                "inference_s", 0.427,
                "time_per_token_s", 0.021)),
        arguments(
            "OpenAI behind Envoy",
            new String[] {"openai-processing-ms: 312", "X-Envoy-Upstream-Service-Time: 318"},
            Map.of("processing_s", 0.312, "upstream_s", 0.318)),
        arguments(
            "Server-Timing, example of its specification",
            new String[] {
              "Server-Timing: miss, db;dur=53, app;dur=47.2",
              "Server-Timing: customView, dc;desc=atl",
              "Server-Timing: cache;desc=\"Cache, Read; dur=1\";dur=23.2",
              "Server-Timing: total;dur=123.4"
            },
            Map.of("db_s", 0.053, "app_s", 0.0472, "cache_s", 0.0232, "total_s", 0.1234)),
        arguments(
            "Server-Timing, names and parameters in capitals, white space, quotes",
            new String[] {"server-timing: Queue ; DUR = \"12.5\" , cfRequestDuration;dur=7.000048"},
            Map.of("queue_s", 0.0125, "cfrequestduration_s", 0.007000048)),
        arguments(
            "nonsense",
            new String[] {
              "x-queue-time: soon",
              "x-inference-time: -4",
              "x-total-time: 1e300",
              "openai-processing-ms: ",
              "server-timing: db;dur=NaN, app;dur=-1, c;dur=1;dur=2, ;dur=3, \"d;dur=4",
              "server-timing: e;duration=5;dur, f;dur=0x10"
            },
            Map.of("c_s", 0.001)));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("timings")
  void timingsInSecondsByOneNamePerMeaning(
      String server, String[] headers, Map<String, Double> expected) {
    assertThat(read(headers).timings()).isEqualTo(expected);
  }

  @Test
  void serverNamesOfTimingsAreKept() {
    assertThat(read("X-Queue-Time: 3", "Server-Timing: total;dur=9, db;dur=1").names())
        .containsExactly("x-queue-time", "server-timing.total", "server-timing.db");
  }

  @Test
  void longTimingNamesAreCutAndAtMostThirtyTwoKept() {
    String all = "x".repeat(5_000) + ";dur=1";
    for (int i = 0; i < 100; i++) {
      all += ", n" + i + ";dur=1";
    }
    ServerReport said = read("server-timing: " + all);
    assertThat(said.timings()).hasSize(32).containsKey("x".repeat(60) + "_s");
  }

  static Stream<Arguments> rateLimits() {
    return Stream.of(
        arguments(
            "OpenAI",
            new String[] {
              "x-ratelimit-limit-requests: 60",
              "x-ratelimit-limit-tokens: 150000",
              "x-ratelimit-remaining-requests: 59",
              "x-ratelimit-remaining-tokens: 149984",
              "x-ratelimit-reset-requests: 1s",
              "x-ratelimit-reset-tokens: 6m0s"
            },
            Map.of(
                "requests_limit", 60.0,
                "tokens_limit", 150_000.0,
                "requests_remaining", 59.0,
                "tokens_remaining", 149_984.0,
                "requests_reset_s", 1.0,
                "tokens_reset_s", 360.0)),
        arguments(
            "Groq",
            new String[] {
              "x-ratelimit-limit-requests: 14400",
              "x-ratelimit-remaining-requests: 14370",
              "x-ratelimit-reset-requests: 2m59.56s",
              "x-ratelimit-reset-tokens: 7.66s"
            },
            Map.of(
                "requests_limit", 14_400.0,
                "requests_remaining", 14_370.0,
                "requests_reset_s", 179.56,
                "tokens_reset_s", 7.66)),
        arguments(
            "Anthropic",
            new String[] {
              NOW,
              "anthropic-ratelimit-requests-limit: 50",
              "anthropic-ratelimit-requests-remaining: 49",
              "anthropic-ratelimit-requests-reset: 2026-10-21T07:28:30Z",
              "anthropic-ratelimit-input-tokens-remaining: 29000",
              "anthropic-ratelimit-input-tokens-reset: 2026-10-21T09:29:00+02:00"
            },
            Map.of(
                "requests_limit", 50.0,
                "requests_remaining", 49.0,
                "requests_reset_s", 30.0,
                "input_tokens_remaining", 29_000.0,
                "input_tokens_reset_s", 60.0)),
        arguments(
            "Azure, where tokens are not limited",
            new String[] {
              "x-ratelimit-limit-tokens: -1",
              "x-ratelimit-remaining-tokens: -1",
              "x-ratelimit-reset-tokens: 0",
              "x-ratelimit-remaining-requests: 12"
            },
            Map.of("tokens_reset_s", 0.0, "requests_remaining", 12.0)),
        arguments(
            "gateways: one quota without a name, several windows, epoch in s",
            new String[] {
              NOW,
              "RateLimit-Limit: 100, 100;w=60",
              "X-RateLimit-Remaining: 40",
              "X-RateLimit-Reset: 1792567690"
            },
            Map.of("requests_limit", 100.0, "requests_remaining", 40.0, "requests_reset_s", 10.0)),
        arguments(
            "nonsense",
            new String[] {
              "x-ratelimit-limit-requests: many",
              "x-ratelimit-remaining-requests: 1e99",
              "x-ratelimit-reset-requests: next week",
              "x-ratelimit-reset-tokens: ",
              "x-ratelimit-policy: 60;w=60"
            },
            Map.of()));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("rateLimits")
  void rateLimits(String server, String[] headers, Map<String, Double> expected) {
    assertThat(read(headers).rateLimits()).isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          Retry-After: 20                                | 20000000000
          Retry-After: 0                                 | 0
          retry-after: 1.5                               | 1500000000
          Retry-After: Wed, 21 Oct 2026 07:28:07 GMT     | 7000000000
          Retry-After: Wed, 21 Oct 2026 07:27:00 GMT     | 0
          Retry-After: 2d                                | 172800000000000
          retry-after-ms: 250                            | 250000000
          """)
  void retryAfter(String header, long nanos) {
    assertThat(read(NOW, header).retryAfterNanos()).isEqualTo(nanos);
  }

  @ParameterizedTest
  @ValueSource(strings = {"-1", "soon", "NaN", "", "Wed, 45 Oct 2026 07:28:07 GMT", "1e30", "2f"})
  void retryAfterOutOfRangeIsIgnored(String value) {
    assertThat(read(NOW, "Retry-After: " + value).retryAfterNanos()).isNull();
  }

  @Test
  void retryAfterMsOverridesRetryAfter() {
    assertThat(read("retry-after-ms: 1250", "retry-after: 2").retryAfterNanos())
        .isEqualTo(1_250_000_000L);
    assertThat(read("retry-after: 2", "retry-after-ms: 1250").retryAfterNanos())
        .isEqualTo(1_250_000_000L);
  }

  @Test
  void secretsInNamesOfHeadersAndMetrics() {
    ServerReport report =
        read(
            "Server-Timing: My-Secret-1;dur=5, sk-Abcdefgh1234;dur=6, db;dur=7",
            "x-ratelimit-limit-My-Secret-1: 3",
            "x-ratelimit-limit-sk-Abcdefgh1234: 4",
            "x-ratelimit-limit-tokens: 5");
    assertThat(report.toString().toLowerCase(Locale.ROOT))
        .contains("db")
        .contains("tokens")
        .doesNotContain("secret")
        .doesNotContain("abcdefgh");
  }
}
