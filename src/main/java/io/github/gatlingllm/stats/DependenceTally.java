package io.github.gatlingllm.stats;

import io.github.gatlingllm.sample.RequestRecord;
import io.github.gatlingllm.sample.TokenGaps;
import io.github.gatlingllm.stats.CloseUps.Dependence;
import io.github.gatlingllm.stats.CloseUps.Turn;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** How times of ok requests depend on lengths, on the place in the answer, and on the turn. */
final class DependenceTally {

  /** Turns that have figures of their own; later ones share the last. */
  private static final int TURNS = 12;

  private final CloudTally ttftByPrompt = new CloudTally();
  private final CloudTally e2eByOutput = new CloudTally();
  private final CloudTally itlByPosition = new CloudTally();
  private final List<OfTurn> turns = new ArrayList<>();
  private int lastTurn;

  private record OfTurn(ValueRecorder promptTokens, ValueRecorder ttftMs) {}

  void add(RequestRecord record) {
    String id = record.identity().requestId();
    long hash = hash(id);
    RequestRecord.Timing t = record.timing();
    Integer prompt = TokenArrivals.promptTokensOf(record);
    Integer output = TokenArrivals.tokensOf(record);
    Long ttft = t.ttftNanos();
    Long e2e = t.latencyNanos();
    if (prompt != null && ttft != null) {
      ttftByPrompt.add(prompt, ttft / 1e3, 1, hash, id);
    }
    if (output != null && e2e != null) {
      e2eByOutput.add(output, e2e / 1e3, 1, hash, id);
    }
    TokenGaps.visit(
        record.events(),
        record.tokens(),
        (i, chunk, micros, tokens) ->
            itlByPosition.add(i + 1, micros, tokens, mixed(hash + i), id));
    turn(record.identity().turn(), prompt, ttft);
  }

  private void turn(@Nullable Integer turn, @Nullable Integer prompt, @Nullable Long ttft) {
    if (turn == null || turn < 1) {
      return;
    }
    lastTurn = Math.max(lastTurn, turn);
    while (turns.size() < Math.min(turn, TURNS)) {
      turns.add(
          new OfTurn(
              new ValueRecorder(ValueRecorder.WHOLE), new ValueRecorder(ValueRecorder.MICROS)));
    }
    OfTurn figures = turns.get(Math.min(turn, TURNS) - 1);
    if (prompt != null) {
      figures.promptTokens().add(prompt);
    }
    if (ttft != null) {
      figures.ttftMs().add(ttft / 1e6);
    }
  }

  /** A hash of an id, the same on every machine; FNV-1a, then mixed. */
  static long hash(String id) {
    long hash = 0xcbf29ce484222325L;
    for (int i = 0; i < id.length(); i++) {
      hash = (hash ^ id.charAt(i)) * 0x100000001b3L;
    }
    return mixed(hash);
  }

  /** Spreads neighbours over all values ≥ 0; the finalizer of SplitMix64 (Steele et al. 2014). */
  private static long mixed(long value) {
    long z = (value ^ (value >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return (z ^ (z >>> 31)) >>> 1;
  }

  Dependence dependence() {
    List<Turn> byTurn = new ArrayList<>();
    for (int i = 0; lastTurn > 1 && i < turns.size(); i++) {
      OfTurn turn = turns.get(i);
      byTurn.add(
          new Turn(
              i + 1,
              i + 1 == TURNS && lastTurn > TURNS,
              turn.promptTokens().distribution(),
              turn.ttftMs().distribution()));
    }
    return new Dependence(ttftByPrompt.cloud(), e2eByOutput.cloud(), itlByPosition.cloud(), byTurn);
  }
}
