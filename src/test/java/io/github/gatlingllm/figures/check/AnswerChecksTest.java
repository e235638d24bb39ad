package io.github.gatlingllm.figures.check;

import static io.github.gatlingllm.figures.check.ChecksTest.AT_ONCE;
import static io.github.gatlingllm.figures.check.ChecksTest.Case.finds;
import static io.github.gatlingllm.figures.check.ChecksTest.RUN;
import static io.github.gatlingllm.figures.check.ChecksTest.STEADY;
import static io.github.gatlingllm.figures.check.ChecksTest.TWO_TARGETS;
import static io.github.gatlingllm.figures.check.ChecksTest.one;
import static io.github.gatlingllm.figures.check.ChecksTest.steady;
import static io.github.gatlingllm.figures.level.Recorded.at;
import static io.github.gatlingllm.figures.level.Runs.check;
import static io.github.gatlingllm.figures.level.Runs.summary;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.gatlingllm.figures.check.ChecksTest.Case;
import io.github.gatlingllm.figures.level.Recorded;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.metric.Figures.Check;
import io.github.gatlingllm.figures.metric.Figures.CheckLevel;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.RunInfo.TargetFacts;
import io.github.gatlingllm.record.RunOutcome.PromptRepeats;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Checks of the answers: do they match the assumptions of the figures? */
class AnswerChecksTest {

  /** Six of the ten in one read with the one before. */
  private static final double[] TOGETHER = {100, 100, 100, 100, 100, 100, 100, 200, 250, 300};

  static Stream<Case> cases() {
    RunInfo shared = RUN.config(Map.of("sharedPrefix", "8x512"));
    RunInfo own = RUN.config(Map.of("tokenizer", "hf:tokenizer.json"));
    PromptRepeats repeats = new PromptRepeats(600, 599);
    RunInfo mixed = tokenizers("chars4", "chars4").config(Map.of("ignoreEos", "true,false"));
    int[] ones = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    Consumer<Recorded> even = r -> r.max(5).choices(0, 1, 0, 1, 0, 1, 0, 1, 0, 1);
    Consumer<Recorded> uneven = r -> r.max(5).choices(0, 0, 0, 0, 0, 0, 1, 1, 1, 1);
    Recorded toolCall = at(0).tokens(AT_ONCE).tools();
    Recorded chunks = at(0).tokens(STEADY).chunks();
    Recorded wrong = at(0).tokens(STEADY).output(15).ourOutput(10);
    Recorded failed = at(0).failed(RequestStatus.TIMEOUT, "timeout");
    return Stream.of(
        finds("errors", CheckLevel.INVALID, () -> summary(RUN, failed)),
        finds("buffering", CheckLevel.INVALID, () -> summary(RUN, at(0).tokens(AT_ONCE))),
        // A parser of tool calls holds them back as a gateway does: one such answer alone proves
        // none.
        finds("buffering", CheckLevel.WARNING, () -> summary(RUN, toolCall)),
        finds("buffering", CheckLevel.INVALID, () -> summary(RUN, at(0).tokens(AT_ONCE), toolCall)),
        // The worst target, which a mean over both would hide.
        worst("buffering", 1, at(0).tokens(AT_ONCE), at(0).tokens(STEADY)),
        worst("coalesced_events", 0.6, at(0).tokens(TOGETHER), at(0).tokens(STEADY)),
        worst("tokens_per_event", 4, at(0).tokens(STEADY).output(40), at(0).tokens(STEADY)),
        worst("not_streamed", 1, at(0).bodyForStream(400, 10), at(0).tokens(STEADY)),
        worst("finish_reasons", 1, at(0).tokens(STEADY).finish(null), at(0).tokens(STEADY)),
        worst("token_counts", 1, at(0).tokens(STEADY).estimated(), at(0).tokens(STEADY)),
        worst("token_counts_agree", 1, at(0).tokens(STEADY).output(7), at(0).tokens(STEADY)),
        worst("errors", 1, at(0).failed(RequestStatus.TIMEOUT, "late"), at(0).tokens(STEADY)),
        finds("prompt_tokens_agree", null, one(r -> {})),
        finds("output_tokens_agree", null, one(r -> {})),
        // What the server states of its cache is better than a guess: the other check does not
        // apply.
        finds("cached_share", null, () -> repeats(600, 599)),
        finds("repeated_prompts", null, () -> steady(RUN.prompts(repeats), r -> r.cached(0))),
        // A property that the workload or the user intends does not put the figures in doubt.
        finds("cached_share", CheckLevel.NOTE, () -> steady(shared, r -> r.cached(10))),
        finds("cached_share", CheckLevel.NOTE, one(r -> r.cached(10).turn(2))),
        finds("repeated_prompts", CheckLevel.NOTE, () -> steady(shared.prompts(repeats))),
        // A token counted by the model's own tokenizer is a token.
        finds("output_tokens_agree", CheckLevel.INVALID, () -> summary(own, wrong)),
        // Two protocols, one of them not pinned: ignoreEos is "true,false" for people.
        finds("pinned_output", 0.1, () -> summary(mixed, pinnedAndFree(10))),
        finds("pinned_output", null, () -> summary(mixed, pinnedAndFree(0))),
        // Two answers of one request, limited to 5 tokens each: 10 in all, however spread.
        finds("pinned_output", 0, () -> pinned(even)),
        finds("pinned_output", 0, () -> pinned(even.andThen(r -> r.perEvent(ones)))),
        finds("pinned_output", 0.1, () -> pinned(uneven.andThen(r -> r.perEvent(ones)))),
        finds("pinned_output", 0.1, () -> pinned(even.andThen(r -> r.output(9)))),
        // Without events nothing states how many answers there are: any integer number of limits.
        finds("pinned_output", 0, () -> pinned(r -> r.max(5).withoutTimes())),
        finds("pinned_output", 0.1, () -> pinned(r -> r.max(4).withoutTimes())),
        finds("pinned_output", 0.1, () -> pinned(r -> r.max(5))),
        // One token per event by assumption: neither question can be answered with no.
        finds("token_counts_agree", null, () -> summary(RUN, chunks)),
        finds("tokens_per_event", null, () -> summary(RUN, chunks)),
        finds("token_counts_agree", 1, () -> summary(RUN, chunks, at(0).tokens(STEADY).output(7))),
        // Where the tokens of each event are known ITL is that of tokens.
        finds(
            "tokens_per_event",
            CheckLevel.OK,
            one(r -> r.output(40).perEvent(4, 4, 4, 4, 4, 4, 4, 4, 4, 4))),
        finds("tokens_per_event", CheckLevel.WARNING, one(r -> r.output(40))),
        // The share is of tokens, not of requests.
        finds("cached_share", 0.4, () -> cachedThat(64, 16)));
  }

  @ParameterizedTest
  @MethodSource("cases")
  void levelIs(Case wanted) {
    wanted.mustHold();
  }

  /** Counts by the server / by us, and what is made of them. */
  @ParameterizedTest
  @CsvSource({
    "prompt_tokens_agree, 10/10 20/20, OK, 0",
    "prompt_tokens_agree, 19/10 29/20 39/30, OK, 0", // a template of 9 tokens
    "prompt_tokens_agree, 19/10 19/10, NOTE, 0.9", // one length proves no template
    "prompt_tokens_agree, 8/10 15/20 33/30 10/20, NOTE, 0.175", // another tokenizer
    "prompt_tokens_agree, 109/100 218/200, OK, 0.09", // up to 10 % are tolerated
    "output_tokens_agree, 10/10 20/20, OK, 0",
    "output_tokens_agree, 3/2 5/4, OK, 0", // an end token
    "output_tokens_agree, 8/10 15/20 12/20, NOTE, 0.3",
    "output_tokens_agree, 109/100 218/200, OK, 0.09"
  })
  void countsOfTokensAgree(String id, String counts, CheckLevel level, double value) {
    List<Recorded> records = new ArrayList<>();
    records.addAll(
        id.startsWith("prompt")
            ? counted(counts, Recorded::prompt, Recorded::ours)
            : counted(counts, Recorded::output, Recorded::ourOutput));
    records.add(at(0).tokens(STEADY).prompt(1_000).output(99));
    records.add(at(0).tokens(STEADY).prompt(null).ours(1_000).output(99).ourOutput(99).estimated());
    Check check = check(summary(RUN, records.toArray(Recorded[]::new)), id);
    assertThat(check.value()).isEqualTo(value, within(1e-9));
    assertThat(check.level()).isEqualTo(level);
  }

  /** Where lengths were set, another number of tokens is another benchmark. */
  @ParameterizedTest
  @CsvSource({
    "1014/1000 1014/1000, 14, OK",
    "1014/1000 1013/1000, 14, OK",
    "1014/1000 1014/1000, 2, WARNING",
    "1014/1000 1020/1000, '', WARNING",
    "142/128 142/128, 14, OK",
    "362/128 342/128, 14, INVALID",
    "1011/1000 1012/1000, '', WARNING",
    "1009/1000 1010/1000, '', OK",
    // What the template leaves is judged, not what it adds.
    "125/100 125/100, 17, WARNING",
    "128/100 128/100, 17, INVALID",
    // Another tokenizer, 5 or 12 % above ours, and a template of 20 tokens that nothing tells.
    "125/100 230/200 335/300 440/400 545/500 650/600 755/700 860/800 965/900 1070/1000, '',"
        + " WARNING",
    "132/100 244/200 356/300 468/400 580/500 692/600 804/700 916/800 1028/900 1140/1000, '',"
        + " INVALID",
  })
  void promptsOfGivenLengthsArriveAsAsked(String counts, String template, CheckLevel level) {
    Recorded[] records = counted(counts, Recorded::prompt, Recorded::ours).toArray(Recorded[]::new);
    Integer known = template.isEmpty() ? null : Integer.valueOf(template);
    RunInfo run =
        RUN.config("promptTokens", "1000")
            .targets(Map.of("a", new TargetFacts(false, "chars4", null, null, known)));
    assertThat(check(summary(run, records), "prompt_tokens_agree").level()).isEqualTo(level);
  }

  /** Requests with the server's count and ours, in the form {@code 142/128}. */
  private static List<Recorded> counted(
      String counts,
      BiFunction<Recorded, Integer, Recorded> server,
      BiFunction<Recorded, Integer, Recorded> ours) {
    return Stream.of(counts.split(" ", -1))
        .map(both -> both.split("/", -1))
        .map(
            both ->
                ours.apply(
                    server.apply(at(0).tokens(STEADY), Integer.valueOf(both[0])),
                    Integer.valueOf(both[1])))
        .toList();
  }

  /** Tokens of answers by the model's own tokenizer. */
  @ParameterizedTest
  @CsvSource({
    "100/100, OK, 0",
    "101/100, OK, 0.01",
    "103/100, WARNING, 0.03",
    "97/100, WARNING, 0.03",
    "110/100, WARNING, 0.1",
    "111/100, INVALID, 0.11",
    "89/100, INVALID, 0.11",
    "101/100 51/50, OK, 0", // an end token
  })
  void outputsAgreeWithTheOwnTokenizer(String counts, CheckLevel level, double value) {
    Recorded[] records =
        counted(counts, Recorded::output, Recorded::ourOutput).toArray(Recorded[]::new);
    for (RunInfo own :
        List.of(
            RUN.config("tokenizer", "hf:tokenizer.json"),
            RUN.config("tokenizer", "server"),
            RUN.config("tokenizer", "tiktoken:o200k_base")
                .config("tokenizer_source", "the name of the model"))) {
      Check check = check(summary(own, records), "output_tokens_agree");
      assertThat(check.level()).isEqualTo(level);
      assertThat(check.value()).isEqualTo(value, within(1e-9));
    }
  }

  /** With both numbers and the remedy. */
  @ParameterizedTest
  @CsvSource({
    "prompt_tokens_agree, chars4, tokenizer=server",
    "output_tokens_agree, server, vendor"
  })
  void warningsHaveBothNumbersAndTheRemedy(String id, String tokenizer, String remedy) {
    Recorded one = at(0).tokens(STEADY).prompt(1050).ours(1000).output(1050).ourOutput(1000);
    RunInfo run = RUN.config("promptTokens", "1000").config("tokenizer", tokenizer);
    Check check = check(summary(run, one), id);
    assertThat(check.level()).isEqualTo(CheckLevel.WARNING);
    assertThat(check.message()).contains("1,050", "1,000", "5.0 %").hasSizeLessThan(200);
    assertThat(check.remedy()).contains(remedy);
  }

  @Test
  void promptTokensAreComparedPerTarget() {
    Summary summary =
        summary(
            RUN,
            at(0).tokens(STEADY).prompt(30).ours(10),
            at(0).tokens(STEADY).prompt(40).ours(20),
            at(0).target("b").tokens(STEADY).prompt(10).ours(20));
    Check check = check(summary, "prompt_tokens_agree");
    assertThat(check.level()).isEqualTo(CheckLevel.NOTE);
    assertThat(check.message()).startsWith("b ").contains("50.0 % fewer");
  }

  private static Summary cachedThat(int first, int second) {
    return summary(
        RUN,
        at(0).tokens(STEADY),
        at(9_000).prompt(100).cached(first).tokens(20, 30),
        at(9_100).prompt(100).cached(second).tokens(90, 99));
  }

  /** A check that finds that much at target b, whose name it states, and not at target a. */
  private static Case worst(String id, double value, Recorded atB, Recorded atA) {
    return finds(
            id, value, () -> summary(TWO_TARGETS, atA, at(1_000).tokens(STEADY), atB.target("b")))
        .with("[b: " + id);
  }

  @ParameterizedTest
  @CsvSource({
    "output_tokens_agree, chars4, set the tokenizer of the model",
    "output_tokens_agree, hf:t.json, is set already",
    "prompt_tokens_agree, hf:t.json, is set already",
    "token_counts, hf:t.json, make the server report usage (stream_options.include_usage)."
  })
  void adviceIsNotWhatIsSetAlready(String id, String tokenizer, String remedy) {
    Recorded wrong = at(0).tokens(STEADY).prompt(15).ours(10);
    Recorded answer =
        id.equals("token_counts") ? wrong.estimated() : wrong.output(15).ourOutput(10);
    Check check = check(summary(RUN.config("tokenizer", tokenizer), answer), id);
    assertThat(check.level()).isNotEqualTo(CheckLevel.OK);
    assertThat(check.remedy()).containsIgnoringCase(remedy);
  }

  static Summary pinned(Consumer<Recorded> change) {
    return steady(
        RUN.targets(Map.of("a", new TargetFacts(true, "chars4", null, null, null))), change);
  }

  static RunInfo tokenizers(String a, String b) {
    TargetFacts pinned = new TargetFacts(true, a, null, null, null);
    TargetFacts free = new TargetFacts(false, b, null, null, null);
    return TWO_TARGETS.targets(Map.of("a", pinned, "b", free));
  }

  /**
   * One request at the target that is not pinned, and this number at the other, one of them cut.
   */
  private static List<RequestRecord> pinnedAndFree(int pinned) {
    List<RequestRecord> all =
        Recorded.requests(pinned, i -> at(i * 1_000).tokens(STEADY).max(i == 0 ? 128 : 10));
    all.add(at(0).target("b").tokens(STEADY).max(128).record());
    return all;
  }

  static Summary repeats(long counted, long repeated) {
    return steady(RUN.prompts(new PromptRepeats(counted, repeated)));
  }
}
