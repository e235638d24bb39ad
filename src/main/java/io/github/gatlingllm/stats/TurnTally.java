package io.github.gatlingllm.stats;

import io.github.gatlingllm.metric.ValueRecorder;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.stats.Summary.Turn;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Requests by their turn in a conversation. */
final class TurnTally {

  /** Later turns are counted with this one. */
  private static final int LAST_TURN = 100;

  private final TreeMap<Integer, OfTurn> turns = new TreeMap<>();

  private static final class OfTurn {
    private final ValueRecorder prompts = new ValueRecorder(ValueRecorder.WHOLE);
    private final PrefixCacheTally.Share cache = new PrefixCacheTally.Share();
    private final ValueRecorder ttft = new ValueRecorder(ValueRecorder.MICROS);
    private long requests;
  }

  /** Adds a request of a conversation; others are ignored. */
  void add(RequestRecord record, @Nullable Integer prompt) {
    Integer number = record.identity().turn();
    if (number == null) {
      return;
    }
    OfTurn turn = turns.computeIfAbsent(Math.min(number, LAST_TURN), n -> new OfTurn());
    turn.requests++;
    if (prompt != null) {
      turn.prompts.add(prompt);
    }
    turn.cache.add(record.tokens().cachedTokens(), prompt);
    Long ttft = record.timing().ttftNanos();
    if (record.outcome().ok() && ttft != null) {
      turn.ttft.add(ttft / 1e6);
    }
  }

  /** How many requests each turn had. */
  Map<Integer, Long> requests() {
    Map<Integer, Long> counts = new TreeMap<>();
    turns.forEach((number, turn) -> counts.put(number, turn.requests));
    return counts;
  }

  /** In order of the turns. */
  List<Turn> turns() {
    List<Turn> all = new ArrayList<>();
    turns.forEach(
        (number, turn) ->
            all.add(
                new Turn(
                    number,
                    turn.requests,
                    turn.prompts.distribution().mean(),
                    turn.cache.share(),
                    turn.ttft.distribution())));
    return all;
  }
}
