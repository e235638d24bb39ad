package io.github.gatlingllm.engine;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.gatlingllm.client.Api;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Hand-computed timetables; 1 ms per prompt token, 10 ms per decode step, blocks of 16 tokens,
 * times in ms.
 */
@Timeout(120)
final class BatchSchedulerTest {
  private static final long MILLI = 1_000_000;
  private final List<String> log = new ArrayList<>();
  private final List<Sequence> tokens = new ArrayList<>();
  private final List<Sequence> admitted = new ArrayList<>();
  private long nowMillis;

  private static EmbeddedEngine.EngineBuilder model(int maxBatch) {
    return EmbeddedEngine.builder()
        .prefillTokensPerSecond(1_000)
        .decodeStep(Duration.ofMillis(10))
        .decodeGrowth(0, 0)
        .maxBatch(maxBatch);
  }

  private Sequence sequence(String name, int promptTokens, int outputTokens) {
    return sequence(name, promptTokens, outputTokens, null);
  }

  private Sequence sequence(
      String name, int promptTokens, int outputTokens, long @Nullable [] blocks) {
    int priority = name.startsWith("urgent") ? -1 : 0;
    return arriving(0, name, promptTokens, outputTokens, priority, blocks);
  }

  private Sequence arriving(
      long at,
      String name,
      int promptTokens,
      int outputTokens,
      int priority,
      long @Nullable [] blocks) {
    return new Sequence(promptTokens, outputTokens, at, priority, blocks) {

      @Override
      void admitted() {}

      @Override
      void token() {
        log.add(name);
      }
    };
  }

  private List<String> run(Scheduler scheduler, Sequence... sequences) {
    Arrays.stream(sequences).forEach(scheduler::add);
    return run(scheduler, nowMillis, 99);
  }

  /** Runs to the end of the work, or {@code steps} steps; each entry is "time: who got a token". */
  private List<String> run(Scheduler scheduler, long startMillis, int steps) {
    List<String> timetable = new ArrayList<>();
    long now = startMillis * MILLI;
    long due = scheduler.plan(now, admitted);
    for (int step = 0; step < steps && due != Scheduler.NEVER; step++) {
      now = due;
      scheduler.advance(now, tokens);
      log.clear();
      tokens.forEach(Sequence::token);
      timetable.add(now / 1e6 + ": " + String.join(" ", log));
      tokens.clear();
      due = scheduler.plan(now, admitted);
    }
    nowMillis = now / MILLI;
    return timetable;
  }

  /** Sequences, as name:prompt:output, the model, and the timetable: at, who gets a token. */
  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          one decodes at the base pace | a:5:3 | 0 | 0 | 1000 | 8 | 15.0: a, 25.0: a, 35.0: a
          a step of a batch of two takes 12 ms | a:1:2 b:1:3 | 0.1 | 0 | 1000 | 8 | 14.0: a b, 26.0: a b, 37.0: b
          a step grows with the tokens in the KV cache | a:10:3 | 0 | 0.01 | 1000 | 8 | 21.0: a, 32.1: a, 43.3: a
          b has 15 tokens beside the 5 of a, then 20, then 15 | a:5:4 b:50:1 | 0 | 0 | 20 | 8 | 30.0: a, 60.0: a, 85.0: a b, 95.0: a
          a lower priority leaves the queue first | a:1:2 b:1:1 urgent:1:1 urgent2:1:1 | 0 | 0 | 1000 | 1 | 11.0: urgent, 22.0: urgent2, 33.0: a, 43.0: a, 54.0: b
          a batch of two queues first come first served | a:1:1 b:1:2 c:1:1 d:1:1 | 0 | 0 | 1000 | 2 | 12.0: a b, 23.0: b c, 34.0: d
          """)
  void timetable(
      String rule,
      String sequences,
      double perSequence,
      double perKvToken,
      int maxPrefill,
      int maxBatch,
      String expected) {
    BatchScheduler scheduler =
        new BatchScheduler(
            model(maxBatch).decodeGrowth(perSequence, perKvToken).maxPrefillTokens(maxPrefill));
    for (String each : sequences.split(" ", -1)) {
      String[] parts = each.split(":", -1);
      scheduler.add(sequence(parts[0], Integer.parseInt(parts[1]), Integer.parseInt(parts[2])));
    }
    assertThat(String.join(", ", run(scheduler, 0, 99))).as(rule).isEqualTo(expected);
    assertThat(scheduler.load()).isEqualTo(EmbeddedEngine.EngineLoad.NONE);
  }

  @Test
  void prefillOfANewSequenceDelaysTheRunningOnes() {
    BatchScheduler scheduler = new BatchScheduler(model(8));
    scheduler.add(sequence("a", 5, 4));
    assertThat(run(scheduler, 0, 1)).containsExactly("15.0: a");
    assertThat(scheduler.load().kvTokens()).as("prompt and first token").isEqualTo(6);
    scheduler.add(sequence("b", 30, 1));
    // The step from 15 ms to 25 ms is under way; b joins the next one.
    assertThat(run(scheduler, 15, 99)).containsExactly("25.0: a", "65.0: a b", "75.0: a");
  }

  @Test
  void cancelFreesThePlace() {
    BatchScheduler scheduler = new BatchScheduler(model(1));
    Sequence running = sequence("a", 1, 100);
    Sequence queued = sequence("b", 1, 100);
    scheduler.add(running);
    scheduler.add(queued);
    scheduler.add(sequence("c", 1, 1));
    assertThat(run(scheduler, 0, 1)).containsExactly("11.0: a");
    scheduler.cancel(running);
    scheduler.cancel(queued);
    assertThat(scheduler.load()).isEqualTo(new EmbeddedEngine.EngineLoad(0, 1, 0, 0, 0));
    // The step that had begun at 11 ms still ends, empty.
    assertThat(run(scheduler, 11, 99)).containsExactly("21.0: ", "32.0: c");
  }

  /** When a step was advanced that was due at 20, and when the next one is due. */
  @ParameterizedTest
  @CsvSource({"21, 30", "500, 510"})
  void latenessDoesNotAddUpAndAStallIsNotCaughtUpWithInABurst(long advanced, long next) {
    BatchScheduler scheduler = new BatchScheduler(model(1));
    scheduler.add(sequence("a", 10, 9));
    assertThat(scheduler.plan(0, admitted)).isEqualTo(20 * MILLI);
    scheduler.advance(advanced * MILLI, tokens);
    assertThat(scheduler.plan(advanced * MILLI, admitted)).isEqualTo(next * MILLI);
  }

  @Test
  void idleTimeIsNotCreditedToTheNextArrival() {
    BatchScheduler scheduler = new BatchScheduler(model(1));
    scheduler.add(sequence("a", 10, 1));
    assertThat(run(scheduler, 0, 99)).containsExactly("20.0: a");
    scheduler.add(sequence("b", 10, 1));
    assertThat(run(scheduler, 21, 99)).containsExactly("41.0: b");
  }

  @Test
  void nothingIsDueBeforeItsTime() {
    BatchScheduler scheduler = new BatchScheduler(model(1));
    scheduler.add(sequence("a", 10, 1));
    long due = scheduler.plan(0, admitted);
    scheduler.advance(due - 1, tokens);
    assertThat(tokens).isEmpty();
    scheduler.advance(due, tokens);
    assertThat(tokens).hasSize(1);
  }

  /** A prompt of token ids: runs of {@code id, length, id, length …}; its answer is one token. */
  private Sequence cacheable(String name, int... runs) throws Refusal {
    List<String> ids = new ArrayList<>();
    for (int run = 0; run < runs.length; run += 2) {
      for (int i = 0; i < runs[run + 1]; i++) {
        ids.add(Integer.toString(runs[run]));
      }
    }
    CompletionRequest request =
        Requests.parse(
            Api.COMPLETIONS, "{\"max_tokens\":1,\"prompt\":[" + String.join(",", ids) + "]}");
    GeneratedAnswer answer = GeneratedAnswer.to(request, 1, 0, 1_000, 0);
    return sequence(name, ids.size(), 1, request.prompt().blocks(answer, Api.COMPLETIONS));
  }

  @Test
  void cachedBlocksNeedNoPrefillAndTheLastTokenIsAlwaysComputed() throws Refusal {
    BatchScheduler scheduler = new BatchScheduler(model(8));
    assertThat(run(scheduler, cacheable("a", 7, 40))).containsExactly("50.0: a");
    // Again: 2 full blocks of 16 are there, 8 ms for the rest.
    Sequence again = cacheable("b", 7, 40);
    assertThat(run(scheduler, again)).containsExactly("68.0: b");
    assertThat(again.cachedTokens()).isEqualTo(32);
    // 20 tokens in common are one full block.
    assertThat(run(scheduler, cacheable("c", 7, 20, 8, 20))).containsExactly("102.0: c");
    // 32 tokens are two blocks, but the second one holds the last token.
    assertThat(run(scheduler, cacheable("d", 7, 32))).containsExactly("128.0: d");
    assertThat(run(scheduler, cacheable("e", 9, 1, 7, 39)))
        .as("no prefix")
        .containsExactly("178.0: e");
    assertThat(scheduler.load().prefixQueriedTokens()).isEqualTo(40 + 40 + 40 + 32 + 40);
    assertThat(scheduler.load().prefixHitTokens()).isEqualTo(32 + 16 + 16);
  }

  @Test
  void promptsOfOneIterationShareTheBlocksOfTheFirst() throws Refusal {
    BatchScheduler scheduler = new BatchScheduler(model(8));
    assertThat(run(scheduler, cacheable("a", 7, 40), cacheable("b", 7, 40)))
        .containsExactly("58.0: a b");
  }

  @Test
  void blocksAreEvictedLeastRecentlyUsedFirstAndFromTheEndOfAPrefix() throws Refusal {
    BatchScheduler scheduler = new BatchScheduler(model(8), 48);
    run(scheduler, cacheable("a", 7, 40)); // two of three blocks
    run(scheduler, cacheable("x", 8, 40)); // the free one, and the last one of a
    Sequence again = cacheable("b", 7, 40);
    run(scheduler, again);
    assertThat(again.cachedTokens()).isEqualTo(16);
  }

  private final FixedScheduler scheduler = new FixedScheduler(100, 10);

  private Sequence arriving(long at, int outputTokens) {
    return arriving(at, "", 1, outputTokens, 0, null);
  }

  @Test
  void timesOfEachRequestStartAtItsArrival() {
    Sequence first = arriving(1_000, 3);
    Sequence second = arriving(1_005, 1);
    scheduler.add(first);
    scheduler.add(second);
    List<Long> dues = new ArrayList<>();
    for (long due = scheduler.plan(1_006, admitted);
        due != Scheduler.NEVER;
        due = scheduler.plan(due, admitted)) {
      dues.add(due);
      scheduler.advance(due, tokens);
    }
    assertThat(dues).containsExactly(1_100L, 1_105L, 1_110L, 1_120L);
    assertThat(tokens).containsExactly(first, second, first, first);
    assertThat(admitted).containsExactly(first, second);
    assertThat(scheduler.load()).isEqualTo(EmbeddedEngine.EngineLoad.NONE);
  }

  @Test
  void lateWakeUpGeneratesAllDueTokensAndKeepsDueTimes() {
    Sequence sequence = arriving(0, 5);
    scheduler.add(sequence);
    scheduler.plan(0, admitted);
    scheduler.advance(125, tokens);
    assertThat(tokens).containsExactly(sequence, sequence, sequence);
    assertThat(scheduler.plan(125, admitted)).isEqualTo(130);
  }

  @Test
  void cancelledRequestGetsNothing() {
    Sequence kept = arriving(0, 1);
    Sequence planned = arriving(0, 1);
    Sequence arrived = arriving(0, 1);
    scheduler.add(kept);
    scheduler.add(planned);
    scheduler.plan(0, admitted);
    scheduler.add(arrived);
    scheduler.cancel(planned);
    scheduler.cancel(arrived);
    scheduler.advance(1_000, tokens);
    assertThat(tokens).containsExactly(kept);
  }

  private static final EmbeddedEngine.EngineBuilder FAST =
      EmbeddedEngine.builder().decodeStep(Duration.ofNanos(200_000)).seed(1).recordGroundTruth();

  private static int cached(JsonNode answer) {
    return answer.at("/usage/prompt_tokens_details/cached_tokens").intValue();
  }

  private static String message(String role, String content) {
    return "{'role':'" + role + "','content':'" + content + "'}";
  }

  @Test
  void rolesArePartOfThePrefixAndUniquePromptsShareNothing() {
    try (EmbeddedEngine engine = FAST.start()) {
      EngineClient client = new EngineClient(engine);
      String text = "x".repeat(400);
      String form = "{'max_tokens':1,'messages':[%s]}";
      assertThat(cached(client.answer(form.formatted(message("user", text))))).isZero();
      assertThat(cached(client.answer(form.formatted(message("user", text))))).isEqualTo(96);
      assertThat(cached(client.answer(form.formatted(message("system", text))))).isZero();
      assertThat(cached(client.answer(form.formatted(message("user", "1 " + text))))).isZero();
    }
  }

  @Test
  void cacheCanBeSwitchedOff() {
    try (EmbeddedEngine engine = FAST.prefixCaching(false).start()) {
      EngineClient client = new EngineClient(engine);
      String body = "{'max_tokens':1,'messages':[" + message("user", "x".repeat(400)) + "]}";
      assertThat(cached(client.answer(body))).isZero();
      assertThat(cached(client.answer(body))).isZero();
      assertThat(engine.load().prefixQueriedTokens()).isZero();
    }
  }
}
