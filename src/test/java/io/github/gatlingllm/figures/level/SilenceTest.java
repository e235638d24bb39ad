package io.github.gatlingllm.figures.level;

import static io.github.gatlingllm.figures.level.Runs.summary;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.gatlingllm.figures.metric.Figures.Check;
import io.github.gatlingllm.figures.metric.Figures.CheckLevel;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.DoubleUnaryOperator;
import java.util.function.IntUnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A server in virtual time that stalls, or takes its time; what closed loops make of it. */
class SilenceTest {

  private static final int TOKENS = 20;

  private final Random random = new Random(7);

  /**
   * A closed loop over 30 s.
   *
   * @param ttftMs of a prompt of this number of tokens
   * @param prompt tokens of the i-th prompt
   * @param stall when the server is dead: what would come then comes at its end
   */
  private Summary closedLoop(
      int users,
      DoubleUnaryOperator ttftMs,
      double gapMs,
      IntUnaryOperator prompt,
      double... stall) {
    List<RequestRecord> records = new ArrayList<>();
    for (int user = 0; user < users; user++) {
      double at = user * 7;
      for (int i = 0; at < 30_000; i++) {
        int tokens = prompt.applyAsInt(i);
        double[] times = new double[TOKENS];
        double next = at + ttftMs.applyAsDouble(tokens) * (0.9 + 0.2 * random.nextDouble());
        for (int t = 0; t < TOKENS; t++) {
          times[t] = after(stall, next);
          next = times[t] + gapMs;
        }
        double start = at;
        double[] since = Arrays.stream(times).map(time -> time - start).toArray();
        records.add(Recorded.at(at).stage("c=" + users).prompt(tokens).tokens(since).record());
        at = times[TOKENS - 1];
      }
    }
    return summary(Runs.run(60, Runs.stage(users, 0, 30_000)), records);
  }

  private static double after(double[] stall, double ms) {
    return stall.length > 0 && ms >= stall[0] && ms < stall[1] ? stall[1] : ms;
  }

  private static Check check(Summary summary) {
    return Runs.check(summary, "silent_spans");
  }

  /** 16 users, answers of 1.15 s; dead from 7.5 s to 22.5 s. Of 224 requests 16 are slow. */
  @Test
  void serverSilentForHalfOfTheTime() {
    Summary summary = closedLoop(16, prompt -> 200, 50, i -> 500, 7_500, 22_500);
    Check check = check(summary);
    assertThat(check.level()).isEqualTo(CheckLevel.WARNING);
    assertThat(check.value()).isEqualTo(15, within(0.1));
    assertThat(check.message())
        .matches("c=16: .* 7\\.\\d+ s .* 15\\.0 s while 16 requests were in flight\\.");
    double perS = summary.figures().number(Metric.REQUESTS_PER_S);
    assertThat(check.remedy()).contains(" " + Math.round(perS * 100) / 100.0 + " requests/s");
  }

  /** Of one user: prompts that take 8 s each, and one in 20 that takes 10 s instead of 0.2 s. */
  @Test
  void longPrefillIsNoStall() {
    assertThat(check(closedLoop(1, prompt -> 8_000, 20, i -> 30_000)).level())
        .isEqualTo(CheckLevel.OK);
    assertThat(check(closedLoop(1, n -> n * 0.4, 20, i -> i % 20 == 5 ? 25_000 : 500)).level())
        .isEqualTo(CheckLevel.OK);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 4, 64})
  void stallsAreFoundAtAnyConcurrency(int users) {
    Summary dead = closedLoop(users, n -> n * 0.4, 20, i -> 500, 10_000, 25_000);
    assertThat(check(dead).level()).isEqualTo(CheckLevel.WARNING);
    assertThat(check(dead).value()).isEqualTo(15, within(0.25));
    Check alive = check(closedLoop(users, n -> n * 0.4, 20, i -> 500));
    assertThat(alive.level()).isEqualTo(CheckLevel.OK);
    assertThat(alive.message()).contains("longest time without a byte for the requests in flight");
  }

  /** Answers of 10 s: 40 % of all meet the stall, whose last byte came at 11.72 s. */
  @Test
  void manyRequestsMeetTheStall() {
    Check check = check(closedLoop(16, n -> 300, 500, i -> 500, 12_000, 24_000));
    assertThat(check.level()).isEqualTo(CheckLevel.WARNING);
    assertThat(check.value()).isEqualTo(12.28, within(0.03));
  }

  /** No request for 20 s: there is nothing to answer. */
  @Test
  void silenceWithoutRequestsIsNone() {
    List<RequestRecord> records =
        Recorded.requests(
            4, i -> Recorded.at(i * 1_000 + (i < 2 ? 0 : 20_000)).tokens(100, 200, 300));
    Check check = check(summary(Runs.run(30, Runs.stage(1, 0, 30_000)), records));
    assertThat(check.level()).isEqualTo(CheckLevel.OK);
    assertThat(check.value()).isLessThan(0.2);
  }

  /** The server takes requests and never sends a byte: they end by their timeout. */
  @Test
  void requestsThatTimeOutAreSilentToo() {
    List<RequestRecord> records =
        Recorded.requests(20, i -> Recorded.at(i * 500).tokens(100, 200, 300));
    records.add(
        Recorded.at(10_000).failed(RequestStatus.TIMEOUT, "timeout").closed(15_000).record());
    LevelInfo level = Runs.rate(2, 0, 30_000);
    Check check = check(summary(Runs.run(30, level), records));
    assertThat(check.level()).isEqualTo(CheckLevel.WARNING);
    assertThat(check.value()).isEqualTo(15, within(0.03));
    assertThat(check.remedy()).doesNotContain("llm.rate");
  }

  /** A single user, whose last answer takes 600 tokens of thought that are not sent. */
  @Test
  void reasoningThatIsNotSentIsNoStall() {
    assertThat(check(lastAnswer(0)).level()).isEqualTo(CheckLevel.WARNING);
    assertThat(check(lastAnswer(600)).level()).isEqualTo(CheckLevel.OK);
  }

  private static Summary lastAnswer(int hidden) {
    List<RequestRecord> records =
        Recorded.requests(10, i -> Recorded.at(i * 1_000).tokens(100, 200, 300));
    records.add(Recorded.at(10_000).tokens(12_000, 12_100, 12_200).hidden(hidden).record());
    return summary(Runs.run(30, Runs.stage(1, 0, 30_000)), records);
  }

  /** Bodies come complete; requests without stream have no stream to judge. */
  @Test
  void answersInOneBodyAreNotJudged() {
    List<RequestRecord> records =
        Recorded.requests(20, i -> Recorded.at(i * 1_000).body(i == 7 ? 900 : 100, 10));
    assertThat(summary(Runs.run(30, Runs.stage(1, 0, 30_000)), records).checks())
        .noneMatch(c -> c.id().equals("silent_spans"));
  }
}
