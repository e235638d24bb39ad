package io.github.gatlingllm.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gatlingllm.client.Api;
import io.github.gatlingllm.figures.metric.Figure;
import io.github.gatlingllm.record.Objectives.AssertedCondition;
import io.github.gatlingllm.record.Objectives.Assertion;
import io.github.gatlingllm.record.Objectives.Scope;
import io.github.gatlingllm.settings.SettingValue.Models;
import io.github.gatlingllm.settings.SettingValue.NamedUrl;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class TargetSpecTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          http://a:8000/v1 | m | a:8000
          http://a:8000/v1,http://a:8001/v1 | m,m | a:8000,a:8001
          http://a/v1,http://a/v1 | small,large | small,large
          http://a/v1,http://a/v1,http://b/v1 | x,y,x | a x,a y,b x
          http://a/one/v1,http://a/two/v1 | m,m | http://a/one/v1,http://a/two/v1
          http://a/v1/chat/completions,http://a/v1/completions | m,m | http://a/v1/chat/completions,http://a/v1/completions
          http://a/v1,http://a/v1 | m,m | a #1,a #2
          http://a/v1,http://a/v1 | ,   | a #1,a #2
          vLLM = http://a/v1,http://b/v1 | m,m | vLLM,b
          vLLM=http://a/v1,vLLM=http://a/v1,SGLang=http://b/v1 | x,y,x | vLLM x,vLLM y,SGLang x
          """)
  void labelsAreTheShortestDistinctTexts(String urls, String models, String labels) {
    String[] model = models.split(",", -1);
    List<TargetSpec> targets = new ArrayList<>();
    for (String text : urls.split(",", -1)) {
      String name = model[targets.size()];
      targets.add(
          TargetSpec.parse(NamedUrl.parse(text), null).with(name.isEmpty() ? null : name, null));
    }
    assertThat(String.join(",", TargetSpec.labels(targets))).isEqualTo(labels);
  }

  @ParameterizedTest
  @CsvSource(
      nullValues = "-",
      textBlock =
          """
          http://a:8000/v1,                      -,           http://a:8000/v1/chat/completions,      chat
          http://a:8000/v1/,                     chat,        http://a:8000/v1/chat/completions,      chat
          http://a:8000/v1,                      completions, http://a:8000/v1/completions,           completions
          HTTPS://a/v1/chat/completions,         -,           https://a/v1/chat/completions,          chat
          http://a/v1/chat/completions/,         chat,        http://a/v1/chat/completions,           chat
          http://a/v1/completions,               -,           http://a/v1/completions,                completions
          http://a/v1,                           rerank,      http://a/v1/rerank,                     rerank
          http://tei/rerank,                     -,           http://tei/rerank,                      rerank
          http://[::1]:80/x/v1,                  -,           http://[::1]:80/x/v1/chat/completions,  chat
          https://a/m/chat/completions?api-v=1,  -,           https://a/m/chat/completions?api-v=1,   chat
          http://a,                              -,           http://a/chat/completions,              chat
          """)
  void readsBaseAndFullUrls(String text, @Nullable String configured, String url, String api) {
    assertThat(parse(text, configured))
        .isEqualTo(new TargetSpec(null, List.of(url), Api.of(api), null, null));
  }

  @ParameterizedTest
  @ValueSource(strings = {"http://a/v1", "http://a/v1/completions", "http://a/v1/completions?b=c"})
  void baseUrlIsWithoutApiAndQuery(String text) {
    assertThat(parse(text, null).baseUrl()).isEqualTo("http://a/v1");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          a:8000/v1               |      | expected http(s)://host[:port]/v1, or the same with /chat
          /v1                     |      | expected http(s)://host[:port]/v1, or the same with /chat
          ftp://a/v1              |      | expected http(s)://host[:port]/v1, or the same with /chat
          http:///v1              |      | expected http(s)://host[:port]/v1, or the same with /chat
          http://a b/v1           |      | expected http(s)://host[:port]/v1, or the same with /chat
          http://a/v1#x           |      | expected http(s)://host[:port]/v1, or the same with /chat
          http://a:99999/v1       |      | expected http(s)://host[:port]/v1, or the same with /chat
          http://my_vllm:8000/v1  |      | underscore
          http://a/v1/completions | chat | the path is of llm.api=completions, but llm.api=chat was set
          http://me:pass@a/v1     |      | expected no credentials in the URL; use LLM_API_KEY
          http://a/v1?x=y         |      | expected the full path …/chat/completions before
          """)
  void refusesOtherUrls(String text, @Nullable String configured, String message) {
    assertThatThrownBy(() -> parse(text, configured))
        .hasMessageContaining(message)
        .hasMessageNotContaining("pass");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          org/m=v2      | org/m=v2    |
          a=50,b        | a=50,b      |
          a=50, b:8b=0.5 |             | a 50.0,b:8b 0.5
          a=1=2         |             | a=1 2.0
          """)
  void onlyNumbersAfterAllNamesAreWeights(String text, String names, String mix) {
    Models models = Setting.MODEL.parse(text);
    assertThat(models.names()).isEqualTo(names == null ? List.of() : List.of(names.split(",", -1)));
    assertThat(models.mix())
        .extracting(one -> one.name() + " " + one.weight())
        .isEqualTo(mix == null ? List.of() : List.of(mix.split(",", -1)));
  }

  private static TargetSpec parse(String url, @Nullable String configured) {
    return TargetSpec.parse(
        new NamedUrl(null, url), configured == null ? null : Api.of(configured));
  }

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
    "cold_start<2m, cold_start, LT, 120",
    "goodput.held_after<=30, goodput.held_after, LTE, 30",
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
  void figureConditionAndValue(
      String text, String figure, AssertedCondition condition, double value) {
    assertThat(Figure.assertion(text))
        .isEqualTo(new Assertion(null, Scope.GLOBAL, null, figure, condition, List.of(value)));
  }

  @Test
  void stageBeforeTheColon() {
    assertThat(Figure.assertion("c=8:ttft.p99<200ms"))
        .isEqualTo(
            new Assertion(
                null, Scope.STAGE, "c=8", "ttft.p99", AssertedCondition.LT, List.of(200.0)));
    assertThat(Figure.assertion("r=0.5 : errors=0").name()).isEqualTo("r=0.5");
  }

  @Test
  void validity() {
    assertThat(Figure.assertion(" valid ")).isEqualTo(Assertion.VALID);
  }

  @ParameterizedTest
  @CsvSource({
    "ttft.p99, 'ttft.p99' is not an assertion; expected e.g. ttft.p99<200ms or valid",
    "ttft.p99<fast, 'ttft.p99<fast' is not an assertion; expected e.g. ttft.p99<200ms or valid",
    "ttft.p99<-1, 'ttft.p99<-1' is not an assertion; expected e.g. ttft.p99<200ms or valid",
    "ttft.p99!=1, 'ttft.p99!=1' is not an assertion; expected e.g. ttft.p99<200ms or valid",
    "ttft.p99<200ns, 'ttft.p99<200ns' is not an assertion; expected e.g. ttft.p99<200ms or valid",
    "goodput>=95, 'goodput needs a unit; expected a share such as goodput>=95%, or goodput>=20/s'",
    "ttft.p99<200%, '''%'' is not a unit of ttft.p99; expected us, ms, s, m or h'",
    "errors<1s, 's' is not a unit of errors.percent; expected %",
    "jitter<3ms, 'ms' is not a unit of jitter; expected a plain number",
    "requests_per_s>3%, '%' is not a unit of requests_per_s; expected /s",
    "'tftt.p99<1', 'no figure is called ''tftt.p99''; near it: ttft.p99, '",
    "'started<1%', '''%'' is not a unit of started.count; expected a plain number'",
  })
  void mistakesAreOneLine(String text, String message) {
    assertThatThrownBy(() -> Figure.assertion(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith(message)
        .satisfies(e -> assertThat(e.getMessage()).hasLineCount(1).hasSizeLessThanOrEqualTo(200));
  }
}
