package io.github.gatlingllm.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.record.RequestRecord.ServerReport;
import io.github.gatlingllm.record.Timeline;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ReportedTimingsTest {

  private static final String NOW = "Date: Wed, 21 Oct 2026 07:28:00 GMT";

  private static ServerReport read(String... lines) {
    HttpHeaders headers = new DefaultHttpHeaders();
    for (String line : lines) {
      headers.add(line.split(": ", 2)[0], line.split(": ", 2)[1]);
    }
    ReceivedAnswer answer =
        new ReceivedAnswer(new Timeline(0, 0), GenerationRequest.of(Api.CHAT).prompt("Hi").build());
    answer.timings().headers(headers, Secrets.of(List.of("My-Secret-1")));
    return answer.server();
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = ';',
      quoteCharacter = '`',
      textBlock =
          """
          Text Generation Inference; `x-compute-type: gpu+optimized
          x-compute-time: 0.482
          x-total-time: 482
          x-validation-time: 1
          x-queue-time: 53
          x-inference-time: 427
          x-time-per-token: 21`; total_s=0.482, validation_s=0.001, queue_s=0.053, inference_s=0.427, \
          time_per_token_s=0.021
          OpenAI behind Envoy; `openai-processing-ms: 312
          X-Envoy-Upstream-Service-Time: 318`; processing_s=0.312, upstream_s=0.318
          Server-Timing, example of its specification; `Server-Timing: miss, db;dur=53, app;dur=47.2
          Server-Timing: customView, dc;desc=atl
          Server-Timing: cache;desc="Cache, Read; dur=1";dur=23.2
          Server-Timing: total;dur=123.4`; db_s=0.053, app_s=0.0472, cache_s=0.0232, total_s=0.1234
          Server-Timing, capitals, white space, quotes; `server-timing: Queue ; DUR = "12.5" , \
          cfRequestDuration;dur=7.000048`; queue_s=0.0125, cfrequestduration_s=0.007000048
          nonsense; `x-queue-time: soon
          x-inference-time: -4
          x-total-time: 1e300
          openai-processing-ms:\s
          server-timing: db;dur=NaN, app;dur=-1, c;dur=1;dur=2, ;dur=3, "d;dur=4
          server-timing: e;duration=5;dur, f;dur=0x10`; c_s=0.001
          """)
  void timingsInSecondsByOneNamePerMeaning(String server, String headers, String expected) {
    assertThat(read(headers.split("\n")).timings()).isEqualTo(figures(expected));
  }

  private static Map<String, Double> figures(@Nullable String list) {
    return Stream.ofNullable(list)
        .flatMap(all -> Stream.of(all.split(", ")))
        .map(each -> each.split("="))
        .collect(Collectors.toMap(each -> each[0], each -> Double.valueOf(each[1])));
  }

  @ParameterizedTest
  @ValueSource(strings = {"X-Inference-Pod", "target-pod", "x-litellm-model-id", "X-Served-By"})
  void replicasNameThemselvesInAHeader(String header) {
    assertThat(read(header + ": pod-7 of My-Secret-1").replica()).isEqualTo("pod-7 of ***");
    assertThat(read(header + ": ").replica()).isNull();
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
    ServerReport report = read("server-timing: " + all);
    assertThat(report.timings()).hasSize(32).containsKey("x".repeat(60) + "_s");
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = ';',
      quoteCharacter = '`',
      textBlock =
          """
          OpenAI; `x-ratelimit-limit-requests: 60
          x-ratelimit-limit-tokens: 150000
          x-ratelimit-remaining-requests: 59
          x-ratelimit-remaining-tokens: 149984
          x-ratelimit-reset-requests: 1s
          x-ratelimit-reset-tokens: 6m0s`; requests_limit=60, tokens_limit=150000, \
          requests_remaining=59, tokens_remaining=149984, requests_reset_s=1, tokens_reset_s=360
          Groq; `x-ratelimit-limit-requests: 14400
          x-ratelimit-remaining-requests: 14370
          x-ratelimit-reset-requests: 2m59.56s
          x-ratelimit-reset-tokens: 7.66s`; requests_limit=14400, requests_remaining=14370, \
          requests_reset_s=179.56, tokens_reset_s=7.66
          Anthropic; `anthropic-ratelimit-requests-limit: 50
          anthropic-ratelimit-requests-remaining: 49
          anthropic-ratelimit-requests-reset: 2026-10-21T07:28:30Z
          anthropic-ratelimit-input-tokens-remaining: 29000
          anthropic-ratelimit-input-tokens-reset: 2026-10-21T09:29:00+02:00`; requests_limit=50, \
          requests_remaining=49, requests_reset_s=30, input_tokens_remaining=29000, \
          input_tokens_reset_s=60
          Azure, where tokens are not limited; `x-ratelimit-limit-tokens: -1
          x-ratelimit-remaining-tokens: -1
          x-ratelimit-reset-tokens: 0
          x-ratelimit-remaining-requests: 12`; tokens_reset_s=0, requests_remaining=12
          gateways: one quota without a name, several windows, epoch; `RateLimit-Limit: 100, 100;w=60
          X-RateLimit-Remaining: 40
          X-RateLimit-Reset: 1792567690`; requests_limit=100, requests_remaining=40, \
          requests_reset_s=10
          nonsense; `x-ratelimit-limit-requests: many
          x-ratelimit-remaining-requests: 1e99
          x-ratelimit-reset-requests: next week
          x-ratelimit-reset-tokens:\s
          x-ratelimit-policy: 60;w=60`;
          """)
  void rateLimits(String server, String headers, @Nullable String expected) {
    assertThat(read((NOW + "\n" + headers).split("\n")).rateLimits()).isEqualTo(figures(expected));
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
          retry-after-ms: 1250; retry-after: 2           | 1250000000
          retry-after: 2; retry-after-ms: 1250           | 1250000000
          Retry-After: -1                                |
          Retry-After: soon                              |
          Retry-After: NaN                               |
          'Retry-After: '                                |
          Retry-After: Wed, 45 Oct 2026 07:28:07 GMT     |
          Retry-After: 1e30                              |
          Retry-After: 2f                                |
          """)
  void retryAfter(String headers, @Nullable Long nanos) {
    assertThat(read((NOW + "; " + headers).split("; ")).retryAfterNanos()).isEqualTo(nanos);
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
