package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.level.AnswerCounts.TextCounts;
import io.github.gatlingllm.figures.level.Summary.TurnSummary;
import io.github.gatlingllm.figures.level.Summary.WorkloadSummary;
import io.github.gatlingllm.figures.metric.Amount;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.ValueRecorder;
import io.github.gatlingllm.record.RequestRecord;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The lengths of the prompts of requests scheduled in measure, and what the server adds to them.
 */
final class WorkloadTally {

  private final ValueRecorder prompts = new ValueRecorder(ValueRecorder.WHOLE);
  private final ValueRecorder promptsByUs = new ValueRecorder(ValueRecorder.WHOLE);
  private final TextCounts texts = new TextCounts();
  private long streamed;

  void add(RequestRecord record) {
    RequestRecord.Tokens tokens = record.tokens();
    Integer prompt = tokens.prompt();
    if (prompt != null) {
      (tokens.promptTokens() == null ? promptsByUs : prompts).add(prompt);
    }
    if (tokens.promptTokens() != null && tokens.promptTokensLocal() != null) {
      texts.add(tokens.promptTokens(), tokens.promptTokensLocal());
    }
    streamed += record.identity().streamed() ? 1 : 0;
  }

  /**
   * The workload of the run.
   *
   * @param all its requests
   * @param saidTemplate the tokens that the server has said its template adds; null if it has not
   */
  WorkloadSummary workload(Fold fold, Cell all, @Nullable Integer saidTemplate) {
    Map<Integer, Cell> turns = new TreeMap<>();
    fold.byKey(Grouping.TURN, part -> part.cell().of(Amount.STARTED) > 0)
        .forEach((turn, cell) -> turns.put(Integer.valueOf(turn), cell));
    Map<Integer, Long> requests = new TreeMap<>();
    turns.forEach((turn, cell) -> requests.put(turn, cell.count(Amount.STARTED)));
    boolean isReported = !prompts.isEmpty();
    return new WorkloadSummary(
        (isReported ? prompts : promptsByUs).distribution(),
        isReported ? promptsByUs.count() : 0,
        all.values(Metric.OUTPUT_TOKENS).distribution(),
        saidTemplate == null ? template() : saidTemplate,
        all.share(Amount.CACHED_TOKENS, Amount.LOOKED_UP_TOKENS),
        requests,
        turns.entrySet().stream().map(e -> turn(e.getKey(), e.getValue())).toList(),
        counts(fold, Grouping.SCENARIO),
        counts(fold, Grouping.MODEL),
        counts(fold, Grouping.API),
        counts(fold, Grouping.ENDPOINT),
        streamed);
  }

  /** Requests that have no model are not counted by model. */
  private static Map<String, Long> counts(Fold fold, Grouping by) {
    return fold.counts(by, part -> !part.keys().of(by).isEmpty());
  }

  private static TurnSummary turn(int number, Cell turn) {
    return new TurnSummary(
        number,
        turn.count(Amount.STARTED),
        turn.share(Amount.KNOWN_PROMPT_TOKENS, Amount.KNOWN_PROMPTS),
        turn.share(Amount.CACHED_TOKENS, Amount.LOOKED_UP_TOKENS),
        turn.share(Amount.IDEAL_CACHED_TOKENS, Amount.COMPARED_TOKENS),
        turn.values(Metric.TTFT_MS).distribution(),
        turn.values(Metric.E2E_MS).distribution());
  }

  /** What the server counts beyond the texts of prompts, where it is the same for all. */
  private @Nullable Integer template() {
    Integer constant = texts.constant();
    return constant == null || constant < 0 || constant > TextCounts.MAX_TEMPLATE ? null : constant;
  }
}
