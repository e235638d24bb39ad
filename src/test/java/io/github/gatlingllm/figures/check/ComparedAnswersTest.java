package io.github.gatlingllm.figures.check;

import static io.github.gatlingllm.figures.level.Recorded.at;
import static io.github.gatlingllm.figures.level.Runs.check;
import static io.github.gatlingllm.figures.level.Runs.summary;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.Assertions.within;

import io.github.gatlingllm.figures.level.Recorded;
import io.github.gatlingllm.figures.level.Runs;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.level.Summary.AnswerSummary;
import io.github.gatlingllm.figures.metric.Figures.CheckLevel;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestRecord.AnswerFault;
import io.github.gatlingllm.record.RequestRecord.AnswerPass;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RunInfo;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.DoubleSupplier;
import java.util.function.IntFunction;
import org.apache.commons.statistics.distribution.BinomialDistribution;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The checks of the setting {@code answers}: what they find, and how often they are wrong. */
class ComparedAnswersTest {

  private static final int PROMPTS = 50;

  private static final int RUNS = Integer.getInteger("gatlingllm.runs", 100);

  /** The 97.5 % quantile of the wrong ones of a check that is wrong in 5 % of all runs. */
  private static final int MOST_WRONG =
      BinomialDistribution.of(RUNS, 0.05).inverseCumulativeProbability(0.975);

  private static final RunInfo RUN =
      Runs.run(10, Runs.stage(1, 0, 5_000), Runs.stage(16, 5_000, 10_000));

  private static final String ALL = LevelInfo.ENTIRE_RUN;

  /** The answers of a run, of which a model has changed some. */
  private static final class Answers {

    private final List<RequestRecord> all = new ArrayList<>();

    Answers() {
      for (int users : new int[] {1, 16}) {
        for (int i = 0; i < 5; i++) {
          all.add(
              at((users == 1 ? 0 : 5_000) + i * 500).stage("c=" + users).tokens(100, 120).record());
        }
      }
      pass(AnswerPass.FIRST, ALL, prompt -> null, answer(100, () -> 20));
    }

    Answers pass(
        AnswerPass pass, String stage, IntFunction<Boolean> same, IntFunction<Recorded> times) {
      for (int prompt = 1; prompt <= PROMPTS; prompt++) {
        all.add(
            times
                .apply(prompt)
                .stage(stage)
                .answer(pass, prompt, same.apply(prompt), null)
                .record());
      }
      return this;
    }

    /** The pass in which the first ones changed. */
    Answers changed(AnswerPass pass, String stage, int changed) {
      return pass(pass, stage, prompt -> prompt > changed, answer(100, () -> 20));
    }

    /** All answers except those before the load once more, where each changes by that chance. */
    Answers changing(SplittableRandom random, double[] chances) {
      IntFunction<Boolean> same = prompt -> random.nextDouble() >= chances[prompt - 1];
      return pass(AnswerPass.AGAIN, ALL, same, answer(100, () -> 20))
          .pass(AnswerPass.LOAD, "c=1", same, answer(100, () -> 20))
          .pass(AnswerPass.LOAD, "c=16", same, answer(100, () -> 20))
          .pass(AnswerPass.AFTER, ALL, same, answer(100, () -> 20));
    }

    Summary summarized() {
      return summary(RUN, all);
    }
  }

  /** An answer of ten tokens, at this pace. */
  private static IntFunction<Recorded> answer(double ttftMs, DoubleSupplier msPerToken) {
    return prompt -> {
      double pace = msPerToken.getAsDouble();
      double[] tokens = new double[10];
      for (int i = 0; i < tokens.length; i++) {
        tokens[i] = ttftMs + i * pace;
      }
      return at(100).tokens(tokens);
    };
  }

  /** That number of 50 answers changed without load, and at c=16. */
  static Summary changed(int without, int loaded) {
    return new Answers()
        .changed(AnswerPass.AGAIN, ALL, without)
        .changed(AnswerPass.LOAD, "c=1", without)
        .changed(AnswerPass.LOAD, "c=16", loaded)
        .changed(AnswerPass.AFTER, ALL, without)
        .summarized();
  }

  /** Repeated prompts, of which that number are answered from a cache. */
  static Summary cached(int answers, double ttftMs) {
    return new Answers()
        .pass(
            AnswerPass.AGAIN,
            ALL,
            prompt -> true,
            prompt ->
                prompt <= answers
                    ? answer(5, () -> 0.1).apply(prompt)
                    : answer(ttftMs, () -> 20).apply(prompt))
        .summarized();
  }

  @Test
  void passesAreRowsAndInNoFigureOfTheLoad() {
    Summary run = changed(2, 20);
    assertThat(run.figures().counts().started()).isEqualTo(10);
    assertThat(run.stages()).hasSize(2);
    assertThat(run.figures().metric(Metric.TTFT_MS).count()).isEqualTo(10);
    assertThat(run.answers())
        .extracting(AnswerSummary::pass, AnswerSummary::stage, AnswerSummary::changed)
        .containsExactly(
            tuple(AnswerPass.FIRST, null, 0L),
            tuple(AnswerPass.AGAIN, null, 2L),
            tuple(AnswerPass.LOAD, "c=1", 2L),
            tuple(AnswerPass.LOAD, "c=16", 20L),
            tuple(AnswerPass.AFTER, null, 2L));
    AnswerSummary loaded = run.answers().get(3);
    assertThat(loaded.compared()).isEqualTo(PROMPTS);
    assertThat(loaded.changedAt()).isEqualTo(7);
    assertThat(loaded.ttftMs()).isEqualTo(100, within(1e-6));
    assertThat(loaded.laterTokenMs()).isEqualTo(20, within(1e-6));
    // 18 prompts changed at c=16 only, none without load only: 2^-18.
    assertThat(loaded.chances().get(AnswerSummary.CHANGED))
        .isEqualTo(Math.pow(2, -18), within(1e-12));
  }

  /** Two of three passes have a pair that differs from the one without load: chances × 3 in all. */
  @ParameterizedTest
  @CsvSource({
    "0, 4, OK",
    "0, 6, WARNING",
    "20, 24, OK",
    "20, 26, WARNING",
    "20, 20, OK",
    "20, 0, OK"
  })
  void onlyMoreThanWithoutLoadIsFound(int without, int loaded, CheckLevel level) {
    assertThat(check(changed(without, loaded), "answers_changed").level()).isEqualTo(level);
  }

  @Test
  void faultsAreFoundWhereAnswersWithoutLoadHaveNone() {
    Answers answers = new Answers().changed(AnswerPass.AGAIN, ALL, 50);
    List<AnswerFault> faults = List.of(AnswerFault.values());
    for (int prompt = 1; prompt <= PROMPTS; prompt++) {
      AnswerFault fault = prompt <= 9 ? faults.get(prompt % faults.size()) : null;
      answers.all.add(at(1).answer(AnswerPass.LOAD, prompt, false, fault).stage("c=16").record());
    }
    answers.all.add(
        at(1)
            .failed(RequestStatus.TIMEOUT, "late")
            .answer(AnswerPass.AFTER, 1, null, null)
            .record());
    Summary run = answers.summarized();
    AnswerSummary loaded = run.answers().get(2);
    assertThat(List.of(loaded.invalid(), loaded.refused(), loaded.empty())).containsOnly(3L);
    assertThat(run.answers().get(3).answered()).isZero();
    assertThat(check(run, "answers_changed").findings().toString())
        .contains(
            "c=16: answers_changed.found[true, answers_changed.what[faulty], false, 50, 0.18");
  }

  @Test
  void severalAnswersOfACacheAreFoundAndAPrefixCacheIsNot() {
    assertThat(check(cached(12, 100), "answers_cached").level()).isEqualTo(CheckLevel.WARNING);
    assertThat(check(cached(12, 100), "answers_cached").value()).isEqualTo(0.24, within(1e-9));
    assertThat(check(cached(3, 100), "answers_cached").level()).isEqualTo(CheckLevel.OK);
    assertThat(check(cached(0, 2), "answers_cached").level()).isEqualTo(CheckLevel.OK);
  }

  @Test
  void noCheckAppliesWithoutAnswers() {
    assertThat(summary(RUN, at(0).tokens(100, 120)).checks())
        .noneMatch(check -> check.id().startsWith("answers_"));
  }

  /** Servers whose answers change by chance, from prompt to prompt more or less, load or not. */
  @Test
  void serversWithoutAnEffectOfLoadAreRarelyBlamed() {
    SplittableRandom random = new SplittableRandom(7);
    int wrong = 0;
    for (int run = 0; run < RUNS; run++) {
      double[] chances = new double[PROMPTS];
      for (int i = 0; i < PROMPTS; i++) {
        chances[i] = run % 2 == 0 ? 0.1 : 0.6 * Math.pow(random.nextDouble(), 4);
      }
      Summary summary = new Answers().changing(random, chances).summarized();
      wrong += check(summary, "answers_changed").level() == CheckLevel.OK ? 0 : 1;
    }
    assertThat(wrong).isLessThanOrEqualTo(MOST_WRONG);
  }

  /** The pace of each answer is log-normal, so that one in seven is twice as fast as its pair. */
  @Test
  void serversWithoutACacheAreRarelyBlamed() {
    SplittableRandom random = new SplittableRandom(7);
    DoubleSupplier pace = () -> 20 * Math.exp(0.45 * random.nextGaussian());
    int wrong = 0;
    for (int run = 0; run < RUNS; run++) {
      Answers answers = new Answers();
      answers.all.removeIf(record -> record.checked() != null);
      answers
          .pass(AnswerPass.FIRST, ALL, prompt -> null, answer(100, pace))
          .pass(AnswerPass.AGAIN, ALL, prompt -> true, answer(5, pace))
          .pass(AnswerPass.AFTER, ALL, prompt -> true, answer(5, pace));
      wrong += check(answers.summarized(), "answers_cached").level() == CheckLevel.OK ? 0 : 1;
    }
    assertThat(wrong).isLessThanOrEqualTo(MOST_WRONG);
  }
}
