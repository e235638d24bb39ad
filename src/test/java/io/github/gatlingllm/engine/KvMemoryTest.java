package io.github.gatlingllm.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.client.Api;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * KV blocks on a hand-computed timetable: 1 ms per prompt token, 10 ms per decode step, blocks of
 * 16 tokens, times in ms.
 */
final class KvMemoryTest {
  private static final long MILLI = 1_000_000;
  private final List<String> begun = new ArrayList<>();
  private final List<String> tokens = new ArrayList<>();
  private long now;

  private static BatchScheduler scheduler(int kvTokens) {
    return new BatchScheduler(new BatchModel(1_000, 10 * MILLI, 0, 0, 1_000, 8, kvTokens));
  }

  private Sequence sequence(String name, int promptTokens, int outputTokens, BlockChain chain) {
    return new Sequence(
        promptTokens,
        outputTokens,
        0,
        chain,
        new Sequence.Listener() {
          @Override
          public void admitted() {
            begun.add(name);
          }

          @Override
          public void token() {
            tokens.add(name);
          }
        });
  }

  /** A prompt of token ids: runs of {@code id, length, id, length …}; its answer is one token. */
  private Sequence ask(String name, int... runs) throws Refusal {
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
    return sequence(name, ids.size(), 1, BlockChain.of(request.prompt(), answer, Api.COMPLETIONS));
  }

  /** Runs to the end of the work; each entry is "time: who got a token". */
  private List<String> run(Scheduler scheduler, Sequence... sequences) {
    Arrays.stream(sequences).forEach(scheduler::add);
    List<String> timetable = new ArrayList<>();
    List<Sequence> due = new ArrayList<>();
    List<Sequence> admitted = new ArrayList<>();
    for (long next = scheduler.plan(now, admitted);
        next != Scheduler.NEVER;
        next = scheduler.plan(now, admitted)) {
      now = next;
      scheduler.advance(now, due);
      due.forEach(each -> each.listener.token());
      timetable.add(now / MILLI + ": " + String.join(" ", tokens));
      tokens.clear();
      due.clear();
    }
    admitted.forEach(each -> each.listener.admitted());
    return timetable;
  }

  @Test
  void newestIsPreemptedAndPrefilledAgainWithItsTokens() {
    BatchScheduler scheduler = scheduler(64);
    // Two blocks each. For its second token a needs a third one and takes those of b, which comes
    // back when a has ended: 31 prompt tokens and the one it has said are 32 ms.
    assertThat(
            run(
                scheduler,
                sequence("a", 32, 5, BlockChain.NONE),
                sequence("b", 31, 4, BlockChain.NONE)))
        .containsExactly(
            "73: a b", "83: a", "93: a", "103: a", "113: a", "155: b", "165: b", "175: b");
    assertThat(begun).as("told once").containsExactly("a", "b");
    assertThat(scheduler.kv()).isEqualTo(new EmbeddedEngine.KvStats(0, 0, 1, 4, 0, 0));
  }

  @Test
  void preemptedSequenceReturnsToTheHeadOfTheQueue() {
    BatchScheduler scheduler = scheduler(64);
    // The one free block behind a would do for c, but b came first.
    assertThat(
            run(
                scheduler,
                sequence("a", 32, 2, BlockChain.NONE),
                sequence("b", 31, 2, BlockChain.NONE),
                sequence("c", 1, 1, BlockChain.NONE)))
        .containsExactly("73: a b", "83: a", "126: b c");
  }

  @Test
  void newestSequenceWithoutABlockPreemptsItself() {
    BatchScheduler scheduler = scheduler(48);
    // b is the newest and the one that needs a block: it preempts itself.
    assertThat(
            run(
                scheduler,
                sequence("a", 17, 3, BlockChain.NONE),
                sequence("b", 16, 2, BlockChain.NONE)))
        .containsExactly("43: a b", "53: a", "63: a", "90: b");
    assertThat(scheduler.kv().preemptions()).isEqualTo(1);
  }

  @Test
  void cachedBlocksNeedNoPrefillAndTheLastTokenIsAlwaysComputed() throws Refusal {
    BatchScheduler scheduler = scheduler(1_024);
    assertThat(run(scheduler, ask("a", 7, 40))).containsExactly("50: a");
    // Again: 2 full blocks of 16 are there, 8 ms for the rest.
    Sequence again = ask("b", 7, 40);
    assertThat(run(scheduler, again)).containsExactly("68: b");
    assertThat(again.cachedTokens()).isEqualTo(32);
    // 20 tokens in common are one full block.
    assertThat(run(scheduler, ask("c", 7, 20, 8, 20))).containsExactly("102: c");
    // 32 tokens are two blocks, but the second one holds the last token.
    assertThat(run(scheduler, ask("d", 7, 32))).containsExactly("128: d");
    assertThat(run(scheduler, ask("e", 9, 1, 7, 39))).as("no prefix").containsExactly("178: e");
    assertThat(scheduler.kv().prefixQueriedTokens()).isEqualTo(40 + 40 + 40 + 32 + 40);
    assertThat(scheduler.kv().prefixHitTokens()).isEqualTo(32 + 16 + 16);
  }

  @Test
  void promptsOfOneIterationShareTheBlocksOfTheFirst() throws Refusal {
    BatchScheduler scheduler = scheduler(1_024);
    assertThat(run(scheduler, ask("a", 7, 40), ask("b", 7, 40))).containsExactly("58: a b");
  }

  @Test
  void freeBlocksAreEvictedLeastRecentlyUsedFirstAndFromTheEndOfAPrefix() throws Refusal {
    BatchScheduler scheduler = scheduler(64);
    run(scheduler, ask("a", 7, 40)); // blocks 0 1 2, of which 0 and 1 are cached
    run(scheduler, ask("x", 8, 40)); // takes 3, then 2 and 1, given back last first; 0 stays
    Sequence again = ask("b", 7, 40);
    run(scheduler, again);
    assertThat(again.cachedTokens()).isEqualTo(16);
  }

  @Test
  void heldBlocksAreCountedOnce() throws Refusal {
    BatchScheduler scheduler = scheduler(160);
    scheduler.add(ask("a", 7, 40));
    scheduler.add(ask("b", 7, 40));
    scheduler.plan(0, new ArrayList<>());
    assertThat(scheduler.load()).isEqualTo(new Scheduler.Load(2, 0, 0.4));
    assertThat(scheduler.kv()).isEqualTo(new EmbeddedEngine.KvStats(80, 32, 0, 10, 4, 2));
  }
}
