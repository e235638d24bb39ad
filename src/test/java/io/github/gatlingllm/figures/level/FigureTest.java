package io.github.gatlingllm.figures.level;

import static io.github.gatlingllm.figures.level.Recorded.at;
import static io.github.gatlingllm.figures.level.Runs.run;
import static io.github.gatlingllm.figures.level.Runs.stage;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gatlingllm.figures.metric.Figure;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.RunInfo.TargetFacts;
import io.github.gatlingllm.record.RunOutcome.SingleStream;
import io.github.gatlingllm.record.Slo;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Every name, with the value of its figure worked out by hand. */
class FigureTest {

  static final RunInfo RUN =
      run(2, stage(1, 0, 2_000))
          .slo(Slo.parse("ttft<200ms", 30, Slo.Rule.PERCENTILES))
          .report(RunInfo.ReportOptions.DEFAULT.readAt(25))
          .singleStreams(Map.of("a", new SingleStream(5, 0.5, 0)))
          .targets(Map.of("a", new TargetFacts(false, "chars4", 2.0, 3.6, null)));

  /*
   *    tokens at         prompt     of it cached
   * a  100 120 140       10
   * b   50  80           20  10     planned 10 ms before it started, 5 ms at the gate
   * c  300 310 450       30
   * d  100, cut off      10         failed
   * e  cancelled after 250 ms       missed
   * f  HTTP 503                     failed
   */
  static final List<RequestRecord> REQUESTS =
      List.of(
          at(0).connect(1).roundTrip(0.5).tokens(100, 120, 140).prompt(10).idealCached(0).record(),
          at(200)
              .lag(10)
              .gate(5.0)
              .connect(2)
              .tokens(50, 80)
              .prompt(20)
              .cached(10)
              .idealCached(15)
              .session(1_000, 400)
              .record(),
          at(400).connect(4).tokens(300, 310, 450).prompt(30).session(3_000, 600).record(),
          at(1_000).tokens(100).failed(RequestStatus.TRUNCATED, "cut").closed(150).record(),
          at(900).failed(RequestStatus.CANCELLED, "end").closed(250).prompt(null).record(),
          at(1_200)
              .failed(RequestStatus.HTTP_ERROR, "503")
              .closed(5)
              .prompt(null)
              .session("c2/s", true)
              .record());

  private static final Map<String, double[]> VALUES = new LinkedHashMap<>();

  private static final Map<String, Double> SINGLE = new LinkedHashMap<>();

  static {
    VALUES.put("ttft", new double[] {100, 50, 300});
    VALUES.put("ttft_from_schedule", new double[] {100, 65, 300});
    VALUES.put("ttfo", new double[] {100, 50, 300});
    VALUES.put("ttfo_from_schedule", new double[] {100, 65, 300});
    VALUES.put("ttst", new double[] {20, 30, 10});
    VALUES.put("itl", new double[] {20, 20, 30, 10, 140});
    VALUES.put("icl", new double[] {20, 20, 30, 10, 140});
    VALUES.put("tpot", new double[] {20, 30, 75});
    VALUES.put("e2e", new double[] {140, 80, 450});
    VALUES.put("e2e_from_schedule", new double[] {140, 95, 450});
    VALUES.put("failed_e2e", new double[] {150, 5}); // of d and f
    VALUES.put("e2e_per_token", new double[] {140 / 3.0, 40, 150});
    VALUES.put("queue_wait", new double[] {0, 15, 0});
    VALUES.put("connect", new double[] {1, 2, 4});
    VALUES.put("round_trip", new double[] {0.5}); // of a alone: unknown for others
    VALUES.put("stall", new double[] {20, 30, 140});
    // Of c, a token every 40 ms is read at 300, 340 and 380 ms: the last is 70 ms late.
    VALUES.put("reader_stall", new double[] {0, 0, 70});
    VALUES.put("session", new double[] {1_000, 3_000}); // of b and c, the last turns of two
    VALUES.put("session_tools", new double[] {400, 600});
    VALUES.put("session_server", new double[] {600, 2_400});
    VALUES.put("prompt_tokens", new double[] {10, 20, 30});
    VALUES.put("output_tokens", new double[] {3, 2, 3});
    VALUES.put("user_tokens_per_s", new double[] {3 / 0.14, 25, 3 / 0.45});
    VALUES.put("decode_tokens_per_s", new double[] {50, 1 / 0.03, 1 / 0.075});
    VALUES.put("prefill_tokens_per_s", new double[] {100, 200, 100});

    // Pooled gaps 10 20 20 30 140; per request 1, 1, 14; one gap over 100 ms in 8 tokens.
    SINGLE.put("jitter", 7.0);
    SINGLE.put("jitter_per_request", 1.0);
    SINGLE.put("stalls_per_1k_tokens", 125.0);
    SINGLE.put("batch_ratio", 1.0);
    SINGLE.put("sessions_completed", 2.0);
    SINGLE.put("sessions_failed", 1.0); // by f
    SINGLE.put("sessions_out_of_context", 0.0);
    SINGLE.put("cached.percent", 50.0);
    SINGLE.put("cached.ideal_percent", 50.0); // 15 of 10 + 20: not known of c
    SINGLE.put("cached.gap_percent", 0.0);
    // 3 + 2 + 3 + 1 tokens and 70 prompt tokens in 2 s; the last request closed at 1.205 s.
    SINGLE.put("output_tokens_per_s", 4.5);
    SINGLE.put("billed_output_tokens_per_s", 4.5);
    SINGLE.put("peak_output_tokens_per_s", 8.0);
    SINGLE.put("output_tokens_per_s_per_gpu", 2.25);
    SINGLE.put("batching_gain", 0.45); // of 10 tok/s
    SINGLE.put("power_w", null);
    SINGLE.put("output_tokens_per_joule", null);
    // 2 GPUs at 3.60 an hour for 2 s: 0.004 for 9 tokens, 5 of them in SLO.
    SINGLE.put("cost_per_million_output_tokens", 4_000 / 9.0);
    SINGLE.put("cost_per_million_slo_tokens", 800.0);
    SINGLE.put("input_tokens_per_s", 35.0);
    SINGLE.put("total_tokens_per_s", 39.5);
    SINGLE.put("wall_output_tokens_per_s", 9 / 1.205);
    SINGLE.put("requests_per_s", 1.5);
    SINGLE.put("inputs_per_s", null);
    // In flight for 140 + 80 + 450 + 150 + 250 + 5 ms, receiving for 40 + 30 + 150 ms; d and e at
    // once.
    SINGLE.put("effective_concurrency", 0.5375);
    SINGLE.put("active_concurrency", 0.11);
    SINGLE.put("peak_in_flight", 2.0);
    SINGLE.put("cold_start", 0.0); // the first answer came after 100 ms
    // Attempted: a b c d f; in SLO: a b, with 5 tokens; the one level sheds.
    SINGLE.put("goodput.requests_per_s", 1.0);
    SINGLE.put("goodput.tokens_per_s", 2.5);
    SINGLE.put("goodput.percent", 100 / 3.0);
    SINGLE.put("goodput.max_requests_per_s", null); // two of five failed
    SINGLE.put("goodput.held_after", null); // d and f, after the first second, missed it
    SINGLE.put("started.count", 6.0);
    SINGLE.put("ended.count", 5.0);
    SINGLE.put("ok.count", 3.0);
    SINGLE.put("ok.percent", 60.0);
    SINGLE.put("errors.count", 2.0);
    SINGLE.put("errors.percent", 40.0);
    for (RequestStatus verdict : RequestStatus.values()) {
      SINGLE.put(verdict.key() + ".count", 0.0);
      SINGLE.put(verdict.key() + ".percent", 0.0);
    }
    SINGLE.put("complete.count", 3.0);
    SINGLE.put("complete.percent", 60.0);
    SINGLE.put("truncated.count", 1.0);
    SINGLE.put("truncated.percent", 20.0);
    SINGLE.put("http_error.count", 1.0);
    SINGLE.put("http_error.percent", 20.0);
    SINGLE.put("cancelled.count", 1.0);
    SINGLE.put("cancelled.percent", 100 / 6.0);
    SINGLE.put("invalid_checks.count", null);
  }

  private static final Figures FIGURES = Runs.summary(RUN, REQUESTS).figures();

  @ParameterizedTest
  @MethodSource("io.github.gatlingllm.figures.metric.Figure#names")
  void nameHasItsValue(String name) {
    Figure figure = Figure.parse(name);

    assertThat(figure.name()).isEqualTo(name);
    Double expected = expected(name);
    if (expected == null) {
      assertThat(figure.of(FIGURES)).isNull();
    } else {
      assertThat(figure.of(FIGURES)).isNotNull();
      // Percentiles are those of a histogram of 3 digits.
      assertThat(figure.of(FIGURES)).isCloseTo(expected, Percentage.withPercentage(0.1));
    }
  }

  @Test
  void handmadeValuesAreOfAllNames() {
    List<String> single = Figure.names().stream().filter(SINGLE::containsKey).toList();
    assertThat(single).containsExactlyElementsOf(SINGLE.keySet());
    assertThat(Figure.names())
        .hasSize(SINGLE.size() + VALUES.size() * 11 + 3 * 3); // p1, p5, p10 of rates
  }

  private static Double expected(String name) {
    if (SINGLE.containsKey(name)) {
      return SINGLE.get(name);
    }
    String statistic = name.substring(name.indexOf('.') + 1);
    double[] sorted = VALUES.get(name.substring(0, name.indexOf('.'))).clone();
    Arrays.sort(sorted);
    double mean = Arrays.stream(sorted).average().orElseThrow();
    return switch (statistic) {
      case "count" -> (double) sorted.length;
      case "mean" -> mean;
      case "min" -> sorted[0];
      case "max" -> sorted[sorted.length - 1];
      case "std" ->
          Math.sqrt(
              Arrays.stream(sorted).map(v -> (v - mean) * (v - mean)).average().orElseThrow());
      default -> {
        double percent = Double.parseDouble(statistic.substring(1));
        yield sorted[(int) Math.ceil(percent / 100 * sorted.length) - 1];
      }
    };
  }

  /** 29 × 100 ÷ 100 is 29; 0.29 × 100 is not. */
  @Test
  void sharesAreExactAtTheirLimits() {
    RunInfo run = run(1, stage(1, 0, 1_000)).slo(Slo.parse("ttft<1s"));
    for (int met : new int[] {0, 29, 57, 58, 99, 100}) {
      int ok = met;
      List<RequestRecord> records =
          Recorded.requests(
              100,
              i -> i < ok ? at(i).tokens(1, 2) : at(i).failed(RequestStatus.TIMEOUT, "").closed(3));
      Figures figures = Runs.summary(run, records).figures();
      assertThat(Figure.parse("goodput.percent").of(figures)).isEqualTo(met);
      assertThat(Figure.parse("errors.percent").of(figures)).isEqualTo(100 - met);
    }
  }

  @Test
  void emptyRunHasNoValuesButCountsOfZero() {
    Figures none = Pooled.soFar(new Cell(Cell.Detail.FIGURES), 0).figures(null);
    assertThat(Figure.names())
        .allSatisfy(
            name ->
                assertThat(Figure.parse(name).of(none))
                    .as(name)
                    .isEqualTo(
                        name.endsWith(".count") && !name.startsWith("invalid_checks")
                            ? 0.0
                            : null));
  }

  @ParameterizedTest
  @CsvSource({
    "ttft.p999, ttft.p99.9",
    "ttft.p99.90, ttft.p99.9",
    "itl.p99.990, itl.p99.99",
    "e2e.p100, e2e.p100",
    "goodput, goodput.percent",
    "errors, errors.percent",
    "rate_limited, rate_limited.percent",
    "ok, ok.percent",
    "started, started.count",
  })
  void otherSpellings(String written, String name) {
    assertThat(Figure.parse(written).name()).isEqualTo(name);
  }

  @ParameterizedTest
  @CsvSource({
    "ttft.p99, 99th percentile of TTFT",
    "ttft_from_schedule.p50, 50th percentile of TTFT from schedule",
    "e2e_per_token.p99.9, 99.9th percentile of E2E per token",
    "queue_wait.p1, 1st percentile of queue wait",
    "stall.p12, 12th percentile of longest stall",
    "tpot.p93, 93rd percentile of TPOT",
    "tpot.p2.2, 2.2nd percentile of TPOT",
    "itl.mean, mean of ITL",
    "itl.std, standard deviation of ITL",
    "output_tokens.max, max of output tokens",
    "user_tokens_per_s.min, min of user tokens per second",
    "in_stream_error.count, count of in stream error requests",
    "decode_tokens_per_s.p5, 5th percentile of decode tokens per second",
    "requests_per_s, mean requests per second",
  })
  void words(String name, String words) {
    assertThat(Figure.parse(name).words()).isEqualTo(words);
  }

  @ParameterizedTest
  @CsvSource({
    "tttf.p99, ttft.p99",
    "TTFT.P99, ttft.p99",
    "goodputs, goodput",
    "ttft.p101, ttft.p90",
    "tftt.p99, ttft.p99",
    "ttft.p0, ttft.p50",
    "ttft, ttft.p50",
    "jiter, jitter",
    "output_tokens_s, output_tokens_per_s",
    "'', jitter",
    "timeouts.count, timeout.count",
    "averageoftheveryveryverylongestnameofafigureeverwritten.p99, ''",
  })
  void unknownNameSuggestsSimilarNames(String wrong, String near) {
    assertThatThrownBy(() -> Figure.parse(wrong))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith(
            "no figure is called '" + wrong.substring(0, Math.min(40, wrong.length())))
        .hasMessageContaining("near it: ")
        .hasMessageContaining(near)
        .satisfies(e -> assertThat(e.getMessage()).hasLineCount(1).hasSizeLessThanOrEqualTo(200));
  }

  @Test
  void fewValuesBeyondAPercentile() {
    assertThat(Figure.parse("ttft.p50").lowN(FIGURES)).isEqualTo(3);
    assertThat(Figure.parse("user_tokens_per_s.p5").lowN(FIGURES)).isEqualTo(3);
    assertThat(Figure.parse("ttft.mean").lowN(FIGURES)).isNull();
    assertThat(Figure.parse("jitter").lowN(FIGURES)).isNull();
  }
}
