package io.github.gatlingllm.simulations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gatlingllm.record.Objectives.Assertion;
import io.github.gatlingllm.record.Objectives.Assertion.Condition;
import io.github.gatlingllm.record.Objectives.Assertion.Scope;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GoalsTest {

  @ParameterizedTest
  @CsvSource({
    "ttft.p99<200ms, ttft.p99, LT, 200",
    "ttft.p99<200, ttft.p99, LT, 200",
    "ttft.p99<1.5s, ttft.p99, LT, 1500",
    "itl.p99<=500us, itl.p99, LTE, 0.5",
    "e2e.max<2m, e2e.max, LT, 120000",
    "ttft_from_schedule.p999<1s, ttft_from_schedule.p99.9, LT, 1000",
    "goodput>=95%, goodput.percent, GTE, 95",
    "goodput>=99.9%, goodput.percent, GTE, 99.9",
    "goodput>=20/s, goodput.requests_per_s, GTE, 20",
    "goodput.tokens_per_s>1000/s, goodput.tokens_per_s, GT, 1000",
    "goodput.percent>=95, goodput.percent, GTE, 95",
    "errors<1%, errors.percent, LT, 1",
    "errors<=3, errors.count, LTE, 3",
    "errors.percent<1, errors.percent, LT, 1",
    "timeout=0, timeout.count, IS, 0",
    "truncated<0.1%, truncated.percent, LT, 0.1",
    "started>=100, started.count, GTE, 100",
    "ok>99%, ok.percent, GT, 99",
    "jitter<3, jitter, LT, 3",
    "output_tokens_per_s>=1000, output_tokens_per_s, GTE, 1000",
    "output_tokens_per_s>=1000/s, output_tokens_per_s, GTE, 1000",
    "output_tokens.mean>=100, output_tokens.mean, GTE, 100",
    "' ttft.p99 < 200ms ', ttft.p99, LT, 200",
  })
  void figureConditionAndValue(String text, String figure, Condition condition, double value) {
    assertThat(Goals.assertion(text))
        .isEqualTo(new Assertion(null, Scope.GLOBAL, null, figure, condition, List.of(value)));
  }

  @Test
  void stageBeforeTheColon() {
    assertThat(Goals.assertion("c=8:ttft.p99<200ms"))
        .isEqualTo(
            new Assertion(null, Scope.STAGE, "c=8", "ttft.p99", Condition.LT, List.of(200.0)));
    assertThat(Goals.assertion("r=0.5 : errors=0").name()).isEqualTo("r=0.5");
  }

  @Test
  void validity() {
    assertThat(Goals.assertion(" valid ")).isEqualTo(Assertion.VALID);
  }

  @ParameterizedTest
  @CsvSource({
    "ttft.p99, 'ttft.p99' is no assertion; expected e.g. ttft.p99<200ms or valid",
    "ttft.p99<fast, 'ttft.p99<fast' is no assertion; expected e.g. ttft.p99<200ms or valid",
    "ttft.p99<-1, 'ttft.p99<-1' is no assertion; expected e.g. ttft.p99<200ms or valid",
    "ttft.p99!=1, 'ttft.p99!=1' is no assertion; expected e.g. ttft.p99<200ms or valid",
    "ttft.p99<200ns, 'ttft.p99<200ns' is no assertion; expected e.g. ttft.p99<200ms or valid",
    "goodput>=95, 'goodput needs a unit; expected a share such as goodput>=95%, or goodput>=20/s'",
    "ttft.p99<200%, '''%'' is no unit of ttft.p99; expected us, ms, s, m or h'",
    "errors<1s, 's' is no unit of errors.percent; expected %",
    "jitter<3ms, 'ms' is no unit of jitter; expected a plain number",
    "requests_per_s>3%, '%' is no unit of requests_per_s; expected /s",
    "'tftt.p99<1', 'no figure is called ''tftt.p99''; near it: ttft.p99, '",
    "'started<1%', '''%'' is no unit of started.count; expected a plain number'",
  })
  void mistakesAreOneLine(String text, String message) {
    assertThatThrownBy(() -> Goals.assertion(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith(message)
        .satisfies(e -> assertThat(e.getMessage()).hasLineCount(1).hasSizeLessThanOrEqualTo(200));
  }
}
