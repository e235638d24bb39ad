package io.github.gatlingllm.figures.level;

import static io.github.gatlingllm.figures.level.Recorded.at;
import static io.github.gatlingllm.figures.level.Runs.run;
import static io.github.gatlingllm.figures.level.Runs.stage;
import static io.github.gatlingllm.figures.level.Runs.summary;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.figures.metric.Figure.AssertionResult;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.record.Objectives.AssertedCondition;
import io.github.gatlingllm.record.Objectives.Assertion;
import io.github.gatlingllm.record.Objectives.Scope;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.Slo;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AssertionJudgeTest {

  /** Two levels: TTFT of c=1 100 and 200, of c=2 300 (ask) and none (sum, failed). */
  private static final RunInfo SWEEP =
      run(4, stage(1, 0, 2_000), stage(2, 2_000, 4_000))
          .slo(Slo.parse("ttft<250ms", 90, Slo.Rule.PERCENTILES));

  private static final List<RequestRecord> REQUESTS =
      List.of(
          at(0).tokens(100, 110).record(),
          at(500).name("sum").tokens(200, 210).record(),
          at(2_000).stage("c=2").tokens(300, 310).record(),
          at(2_500)
              .stage("c=2")
              .name("sum")
              .failed(RequestStatus.TIMEOUT, "600 s")
              .closed(400)
              .record());

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          GLOBAL  |     | ttft.max        | LT  | 300.5 | true  | Global: max of TTFT is less than 300.5 ms : true (actual : 300.0 ms)
          GLOBAL  |     | ttft.max        | LT  | 300   | false | Global: max of TTFT is less than 300.0 ms : false (actual : 300.0 ms)
          GLOBAL  |     | ttft.max        | LTE | 300   | true  | Global: max of TTFT is less than or equal to 300.0 ms : true (actual : 300.0 ms)
          GLOBAL  |     | errors.percent  | LTE | 25    | true  | Global: percentage of failed requests is less than or equal to 25.0 % : true (actual : 25.0 %)
          GLOBAL  |     | goodput.percent | GTE | 50    | true  | Global: percentage of requests in SLO is greater than or equal to 50.0 % : true (actual : 50.0 %)
          GLOBAL  |     | requests_per_s  | GT  | 0.75  | false | Global: mean requests per second is greater than 0.75 requests/s : false (actual : 0.75 requests/s)
          GLOBAL  |     | timeout.count   | IS  | 1     | true  | Global: count of timeout requests is 1.0 : true (actual : 1.0)
          GLOBAL  |     | ttfo.p60        | LTE | 200.2 | true  | Global: 60th percentile of TTFO is less than or equal to 200.2 ms : true (actual : 200.1 ms, low n: fewer than 10 of 3 values lie beyond it)
          REQUEST | ask | ttft.mean       | IS  | 200   | true  | ask: mean of TTFT is 200.0 ms : true (actual : 200.0 ms)
          REQUEST | sum | errors.count    | IS  | 0     | false | sum: count of failed requests is 0.0 : false (actual : 1.0)
          REQUEST | sun | errors.count    | IS  | 0     | false | sun: count of failed requests is 0.0 : false (no request is called 'sun'; there are ask, sum)
          STAGE   | c=1 | ttft.mean       | IS  | 150   | true  | c=1: mean of TTFT is 150.0 ms : true (actual : 150.0 ms)
          STAGE   | c=2 | requests_per_s  | IS  | 0.5   | true  | c=2: mean requests per second is 0.5 requests/s : true (actual : 0.5 requests/s)
          STAGE   | c=4 | ttft.mean       | GT  | 0     | false | c=4: mean of TTFT is greater than 0.0 ms : false (no load level is called 'c=4'; there are c=1, c=2)
          STAGE   | c=1 | prompt_tokens.p99 | GT | 0    | true  | c=1: 99th percentile of prompt tokens is greater than 0.0 tokens : true (actual : 10.0 tokens, low n: fewer than 10 of 2 values lie beyond it)
          """)
  void outcomeAndWords(
      Scope scope,
      @Nullable String name,
      String figure,
      AssertedCondition condition,
      double value,
      boolean ok,
      String line) {
    AssertionResult result =
        only(SWEEP, new Assertion(null, scope, name, figure, condition, List.of(value)));

    assertThat(result.ok()).isEqualTo(ok);
    assertThat(result.line()).isEqualTo(line);
  }

  @Test
  void anAssertionWithoutAValueFails() {
    RunInfo none = SWEEP.assertions(demands("jitter", AssertedCondition.values()));
    List<AssertionResult> results =
        summary(none, at(0).failed(RequestStatus.HTTP_ERROR, "503").closed(1)).assertions();

    assertThat(results).hasSize(AssertedCondition.values().length).noneMatch(AssertionResult::ok);
    assertThat(results.get(0).line())
        .isEqualTo("Global: jitter is less than 1.0 : false (no value)");
    assertThat(results).extracting(AssertionResult::actual).containsOnlyNulls();
  }

  @Test
  void assertionsOnEveryRequestFailWithoutRequests() {
    RunInfo empty = SWEEP.assertions(List.of(everyRequest()));
    assertThat(summary(empty, List.of()).assertions())
        .extracting(AssertionResult::line)
        .containsExactly("For all: max of E2E is less than 250.0 ms : false (no request was sent)");
  }

  @Test
  void everyRequestByItself() {
    assertThat(results(SWEEP, everyRequest()))
        .extracting(AssertionResult::line)
        .containsExactly(
            "ask: max of E2E is less than 250.0 ms : false (actual : 310.0 ms)",
            "sum: max of E2E is less than 250.0 ms : true (actual : 210.0 ms)");
  }

  private static Assertion everyRequest() {
    return new Assertion(
        null, Scope.EVERY_REQUEST, null, "e2e.max", AssertedCondition.LT, List.of(250.0));
  }

  @Test
  void eachTargetByItself() {
    RunInfo two = run(4, stage("a", 1, 0, 2_000), stage("b", 1, 2_000, 4_000));
    List<RequestRecord> records =
        List.of(
            at(0).target("a").tokens(100, 110).record(),
            at(2_000).target("b").name("sum").tokens(300, 310).record());
    Assertion all = global("ttft.max", AssertedCondition.LT, 200.0);
    Assertion stage =
        new Assertion(null, Scope.STAGE, "c=1", "ttft.max", AssertedCondition.LT, all.values());
    Assertion name =
        new Assertion("a", Scope.REQUEST, "sum", "ttft.max", AssertedCondition.LT, all.values());
    RunInfo demanding =
        two.assertions(List.of(all, all.at("a"), all.at("b"), stage, stage.at("b"), name));

    assertThat(summary(demanding, records).assertions())
        .extracting(AssertionResult::line)
        .containsExactly(
            "Global: max of TTFT is less than 200.0 ms : false (actual : 300.0 ms)",
            "Global of a: max of TTFT is less than 200.0 ms : true (actual : 100.0 ms)",
            "Global of b: max of TTFT is less than 200.0 ms : false (actual : 300.0 ms)",
            "c=1 of a: max of TTFT is less than 200.0 ms : true (actual : 100.0 ms)",
            "c=1 of b: max of TTFT is less than 200.0 ms : false (actual : 300.0 ms)",
            "c=1 of b: max of TTFT is less than 200.0 ms : false (actual : 300.0 ms)",
            "sum of a: max of TTFT is less than 200.0 ms : false"
                + " (no request is called 'sum'; there is ask)");
  }

  @Test
  void oneTargetIsTheEntireRun() {
    assertThat(only(SWEEP, global("ttft.count", AssertedCondition.IS, 3.0).at("a")).line())
        .isEqualTo("Global: count of TTFT is 3.0 : true (actual : 3.0)");
  }

  @Test
  void validRunHasNoInvalidCheck() {
    RunInfo interrupted = SWEEP.ended(SWEEP.endUnixNanos(), SWEEP.state());
    assertThat(only(interrupted.dropped(1), Assertion.VALID).line())
        .startsWith("Global: count of checks that call the run invalid is 0.0 : false (actual : ")
        .contains("records_dropped");
    AssertionResult sound = only(SWEEP, Assertion.VALID);
    Summary summary = summary(SWEEP, REQUESTS);
    assertThat(sound.ok()).isEqualTo(summary.level() != Figures.CheckLevel.INVALID).isTrue();
    assertThat(sound.note()).isNull();
  }

  @Test
  void largestGoodputIsOfAllRequestsOnly() {
    Assertion max = global("goodput.max_requests_per_s", AssertedCondition.IS, 1.0);
    Assertion ofStage =
        new Assertion(null, Scope.STAGE, "c=1", max.figure(), AssertedCondition.IS, List.of(1.0));
    assertThat(only(SWEEP, max).line()).endsWith(" : true (actual : 1.0 requests/s)");
    assertThat(only(SWEEP, ofStage).line()).endsWith(" : false (no value)");
  }

  @Test
  void shownValueNeverContradictsTheResult() {
    Random random = new Random(5);
    for (int i = 0; i < 2_000; i++) {
      double limit = Math.round(random.nextDouble() * 1_000);
      double value = limit + (random.nextDouble() - 0.5) * Math.pow(10, -random.nextInt(9));
      for (AssertedCondition condition :
          List.of(
              AssertedCondition.LT,
              AssertedCondition.LTE,
              AssertedCondition.GT,
              AssertedCondition.GTE)) {
        Assertion assertion = global("ttft.max", condition, limit);
        AssertionResult result =
            new AssertionResult("x", assertion, Metric.Unit.MILLIS, value, null);
        String shown = result.actual();
        assertThat(shown).isNotNull().endsWith(" ms");
        double read = Double.parseDouble(shown.replace(" ms", "").replace(",", ""));
        assertThat(assertion.holds(read)).as(result.line()).isEqualTo(assertion.holds(value));
        assertThat(read).isCloseTo(value, org.assertj.core.data.Percentage.withPercentage(0.1));
      }
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          169.4079  | 200 | 169.4 ms   | < 200 ms
          199.99996 | 200 | 199.99996 ms | < 200 ms
          12345     | 200 | 12,345 ms  | < 200 ms
          0         | 0.5 | 0 ms       | < 0.5 ms
          """)
  void valuesWithTheirUnit(double value, double limit, String actual, String expected) {
    AssertionResult result =
        new AssertionResult(
            "x", global("ttft.max", AssertedCondition.LT, limit), Metric.Unit.MILLIS, value, null);
    assertThat(result.actual()).isEqualTo(actual);
    assertThat(result.expected()).isEqualTo(expected);
  }

  @Test
  void expectedOfEachCondition() {
    assertThat(
            demands("errors.percent", AssertedCondition.values()).stream()
                .map(a -> new AssertionResult("x", a, Metric.Unit.PERCENT, 1.0, null))
                .map(AssertionResult::expected))
        .containsExactly(
            "< 1 %",
            "≤ 1 %",
            "> 1 %",
            "≥ 1 %",
            "= 1 %",
            "one of 1 %, 2 %",
            "from 1 % to 2 %",
            "inside 1 % to 2 %");
  }

  /** Enough values for p99, not for p99.9. */
  @Test
  void enoughValuesAreNotLow() {
    List<RequestRecord> many = Recorded.requests(1_000, i -> at(i).tokens(50, 60));
    RunInfo info = SWEEP.assertions(p("ttft.p99", "ttft.p99.9", "ttft.p98.7"));
    assertThat(summary(info, many).assertions())
        .extracting(AssertionResult::note)
        .containsExactly(null, "low n: fewer than 10 of 1,000 values lie beyond it", null);
  }

  /** One of fifty waits 400 ms at the gate, for a TTFT of 50 ms: p99 from schedule is 450 ms. */
  @Test
  void theOtherClockIsNamedWhereItDiffers() {
    List<RequestRecord> waited =
        Recorded.requests(1_000, i -> at(i).gate(i % 50 == 0 ? 400.0 : 0).tokens(50, 60));
    RunInfo info = SWEEP.assertions(p("ttft.p99", "ttft.p50", "ttft_from_schedule.p99"));
    assertThat(summary(info, waited).assertions())
        .extracting(AssertionResult::note)
        .containsExactly("from admission; from schedule, as the SLO counts, 450 ms", null, null);
  }

  private static List<Assertion> p(String... figures) {
    return Arrays.stream(figures)
        .map(figure -> global(figure, AssertedCondition.LT, 51.0))
        .toList();
  }

  private static Assertion global(String figure, AssertedCondition condition, Double... values) {
    return new Assertion(null, Scope.GLOBAL, null, figure, condition, List.of(values));
  }

  private static List<Assertion> demands(String figure, AssertedCondition... conditions) {
    return Arrays.stream(conditions)
        .map(
            each ->
                each.compareTo(AssertedCondition.IN) >= 0
                    ? global(figure, each, 1.0, 2.0)
                    : global(figure, each, 1.0))
        .toList();
  }

  private static AssertionResult only(RunInfo info, Assertion assertion) {
    List<AssertionResult> results = results(info, assertion);
    assertThat(results).hasSize(1);
    return results.get(0);
  }

  private static List<AssertionResult> results(RunInfo info, Assertion... assertions) {
    return summary(info.assertions(List.of(assertions)), REQUESTS).assertions();
  }
}
