package io.github.gatlingllm.javaapi;

import static io.gatling.javaapi.core.CoreDsl.details;
import static io.gatling.javaapi.core.CoreDsl.global;
import static io.github.gatlingllm.javaapi.LlmDsl.llm;
import static io.github.gatlingllm.javaapi.LlmDsl.llmDetails;
import static io.github.gatlingllm.javaapi.LlmDsl.llmForAll;
import static io.github.gatlingllm.javaapi.LlmDsl.llmGlobal;
import static io.github.gatlingllm.javaapi.LlmDsl.llmStage;
import static io.github.gatlingllm.javaapi.LlmDsl.llmValid;
import static io.github.gatlingllm.javaapi.LlmDsl.slo;
import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;

import io.gatling.shared.model.assertion.AssertionMessage;
import io.github.gatlingllm.figures.metric.Figure;
import io.github.gatlingllm.record.Objectives.AssertedCondition;
import io.github.gatlingllm.record.Objectives.Assertion;
import io.github.gatlingllm.record.Objectives.Scope;
import io.github.gatlingllm.record.RequestStatus;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class LlmAssertionTest {

  private static final io.gatling.javaapi.core.Assertion.WithPathAndTarget<Integer> THEIRS =
      global().responseTime().percentile(99.9);
  private static final TimeCondition OURS = llmGlobal().ttft().percentile(99.9);

  static Stream<Arguments> samePairs() {
    return Stream.of(
        Arguments.of(THEIRS.lt(200), OURS.lt(200)),
        Arguments.of(THEIRS.lte(200), OURS.lte(ofMillis(200))),
        Arguments.of(THEIRS.gt(200), OURS.gt(200)),
        Arguments.of(THEIRS.gte(200), OURS.gte(ofMillis(200))),
        Arguments.of(THEIRS.is(200), OURS.is(200)),
        Arguments.of(THEIRS.shouldBe(200), OURS.shouldBe(ofMillis(200))),
        Arguments.of(THEIRS.between(100, 200), OURS.between(ofMillis(100), ofMillis(200))),
        Arguments.of(THEIRS.between(100, 200, false), OURS.between(100, 200, false)),
        Arguments.of(THEIRS.around(100, 20), OURS.around(100, 20)),
        Arguments.of(THEIRS.around(100, 20, false), OURS.around(100, 20, false)),
        Arguments.of(THEIRS.deviatesAround(100, 0.1), OURS.deviatesAround(100, 0.1)),
        Arguments.of(THEIRS.deviatesAround(100, 0.5, false), OURS.deviatesAround(100, 0.5, false)),
        Arguments.of(THEIRS.in(Set.of(100)), OURS.in(100)),
        Arguments.of(global().responseTime().mean().lt(40), llmGlobal().ttft().mean().lt(40)),
        Arguments.of(global().responseTime().min().lt(40), llmGlobal().ttft().min().lt(40)),
        Arguments.of(global().responseTime().max().lt(40), llmGlobal().ttft().max().lt(40)),
        Arguments.of(global().responseTime().stdDev().lt(40), llmGlobal().ttft().stdDev().lt(40)),
        Arguments.of(
            global().responseTime().percentile(50).lt(1), llmGlobal().ttft().percentile(50).lt(1)),
        Arguments.of(
            details("ask").failedRequests().count().is(0L),
            llmDetails("ask").failedRequests().count().is(0)),
        Arguments.of(
            details("ask").failedRequests().percent().lte(1.5),
            llmDetails("ask").failedRequests().percent().lte(1.5)),
        Arguments.of(
            global().successfulRequests().percent().gt(99.0),
            llmGlobal().successfulRequests().percent().gt(99)),
        Arguments.of(
            global().allRequests().count().gte(100L), llmGlobal().allRequests().count().gte(100)),
        Arguments.of(global().requestsPerSec().gte(10.0), llmGlobal().requestsPerSec().gte(10)));
  }

  /** Gatling counts events where we count requests: an event is something else in a stream. */
  @ParameterizedTest
  @MethodSource("samePairs")
  void conditionsReadAsInGatling(io.gatling.javaapi.core.Assertion theirs, LlmAssertion ours) {
    Assertion assertion = ours.assertion();
    String whose = assertion.scope() == Scope.GLOBAL ? "Global" : assertion.name();

    assertThat(
            whose
                + ": "
                + Figure.parse(assertion.figure()).words()
                + " "
                + assertion.conditionText())
        .isEqualTo(
            AssertionMessage.message(theirs.asScala())
                .replace("response time", "TTFT")
                .replace("events", "requests"));
  }

  @Test
  void programOfTheDocumentation() {
    assertThat(
            Stream.of(
                    llmGlobal().ttft().percentile(99).lt(200),
                    llmDetails("ask").goodput().percent().gte(95),
                    llmStage("c=8").tpot().mean().lt(40),
                    llmGlobal().jitter().lte(3),
                    llmGlobal().status(RequestStatus.TRUNCATED).count().is(0),
                    llmForAll().queueWait().max().between(1, 2, false),
                    llmValid())
                .map(LlmAssertion::assertion))
        .containsExactly(
            demand(Scope.GLOBAL, null, "ttft.p99", AssertedCondition.LT, 200),
            demand(Scope.REQUEST, "ask", "goodput.percent", AssertedCondition.GTE, 95),
            demand(Scope.STAGE, "c=8", "tpot.mean", AssertedCondition.LT, 40),
            demand(Scope.GLOBAL, null, "jitter", AssertedCondition.LTE, 3),
            demand(Scope.GLOBAL, null, "truncated.count", AssertedCondition.IS, 0),
            demand(
                Scope.EVERY_REQUEST,
                null,
                "queue_wait.max",
                AssertedCondition.BETWEEN_EXCLUSIVE,
                1,
                2),
            Assertion.VALID);
  }

  private static Assertion demand(
      Scope scope, String name, String figure, AssertedCondition condition, double... values) {
    return new Assertion(
        null, scope, name, figure, condition, Arrays.stream(values).boxed().toList());
  }

  /** Walks through all steps of the DSL: each way ends at a figure, and each figure has a way. */
  @Test
  void stepsReachExactlyAllFigures() throws Exception {
    Set<String> reached = new TreeSet<>();
    walk(llmGlobal(), reached);

    Set<String> all = new TreeSet<>(Figure.names());
    all.remove(Assertion.VALID.figure());
    all.remove("ended.count");
    // A summary holds low percentiles of rates only; an assertion may name them of any metric.
    reached.removeIf(name -> name.matches(".*[.]p(1|5|10)") && !all.contains(name));
    assertThat(reached).isEqualTo(all);
  }

  private static void walk(Object step, Set<String> figures) throws Exception {
    if (step instanceof AssertionCondition condition) {
      figures.add(Figure.parse(condition.is(1).assertion().figure()).name());
      return;
    }
    for (Method method : step.getClass().getMethods()) {
      if (method.getDeclaringClass() == Object.class
          || Modifier.isStatic(method.getModifiers())
          || method.getReturnType() == step.getClass()) { // the same step of a tier
        continue;
      }
      List<?> arguments =
          method.getParameterCount() == 0
              ? List.of()
              : method.getParameterTypes()[0] == double.class
                  ? List.of(1.0, 5.0, 10.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9)
                  : List.of((Object[]) io.github.gatlingllm.record.RequestStatus.values());
      if (arguments.isEmpty()) {
        walk(method.invoke(step), figures);
      }
      for (Object argument : arguments) {
        walk(method.invoke(step, argument), figures);
      }
    }
  }

  @Test
  void assertionsAccumulate() {
    LlmProtocolBuilder protocol =
        llm.baseUrl("http://a/v1")
            .slo("ask", slo().ttft(1))
            .assertions(llmValid())
            .assertions(List.of(llmGlobal().goodput().percent().gt(9)));
    assertThat(protocol.protocol().assertions())
        .extracting(Assertion::figure)
        .containsExactly("invalid_checks.count", "goodput.percent");
  }
}
