package io.github.gatlingllm.stats;

import io.github.gatlingllm.metric.Distribution;
import io.github.gatlingllm.metric.Figures;
import io.github.gatlingllm.metric.NumberText;
import io.github.gatlingllm.stats.Check.Level;
import io.github.gatlingllm.stats.Summary.Workload;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Checks of what came back: whether the answers are what the figures take them for. */
final class AnswerChecks {

  /** Tokenizers that differ by more cannot be the same one. */
  private static final double DIFFERENT = 0.1;

  private final Evidence e;
  private final Figures run;
  private final List<Check> checks = new ArrayList<>();

  private AnswerChecks(Evidence evidence, Figures run) {
    this.e = evidence;
    this.run = run;
  }

  static List<Check> of(Evidence evidence, Figures run, Workload workload) {
    AnswerChecks all = new AnswerChecks(evidence, run);
    all.errors();
    if (evidence.ok > 0) {
      if (evidence.pinned > 0) {
        all.pinned();
      }
      all.finishReasons();
      all.tokenCounts();
      all.promptTokens();
      all.outputTokens();
      if (evidence.streamedOk > 0) {
        all.streams();
      }
    }
    all.cachedShare(workload);
    all.cancelled();
    return all.checks;
  }

  private void errors() {
    long ended = run.counts().ended();
    long failed = run.counts().failed();
    double share = share(failed, ended);
    boolean none = run.counts().ok() == 0;
    add(
        "errors",
        none ? Level.INVALID : share > 0.01 ? Level.WARNING : Level.OK,
        share,
        0.01,
        none && ended == 0
            ? "No request was measured."
            : NumberText.count(failed)
                + " of "
                + NumberText.count(ended)
                + " requests failed ("
                + NumberText.percent(share)
                + "); they count in goodput and tok/s, not in latencies.",
        none && ended == 0
            ? "Measure longer, or look at why no request ended in the window."
            : "See the table of errors; latencies of the rest flatter a server that sheds load.");
  }

  private void pinned() {
    double share = share(e.notPinned, e.pinned);
    shareCheck(
        "pinned_output",
        share,
        0.01,
        NumberText.percent(share) + " of the answers stopped early or missed their pinned length.",
        "The server ignores ignore_eos/min_tokens: compare runs by tok/s and TPOT, not by E2E.");
  }

  private void finishReasons() {
    Map<String, Long> reasons = run.finishReasons();
    long none = reasons.getOrDefault("none", 0L);
    double share = share(none, e.ok);
    StringBuilder mix = new StringBuilder();
    reasons.forEach(
        (reason, count) ->
            mix.append(mix.isEmpty() ? "" : ", ")
                .append(reason)
                .append(' ')
                .append(NumberText.percent(share(count, e.ok))));
    shareCheck(
        "finish_reasons",
        share,
        0.01,
        "Answers ended by: " + mix + ".",
        e.pinned > 0
            ? "Answers without a finish reason may be cut: look at the server's log."
            : "Answers without a finish reason may be cut: set ignoreEos=true to pin their"
                + " length.");
  }

  private void tokenCounts() {
    double share = share(e.estimated, e.ok);
    shareCheck(
        "token_counts",
        share,
        0.01,
        e.estimated == 0
            ? "Every answer has the server's token count."
            : NumberText.percent(share)
                + " of the token counts are estimates ("
                + NumberText.count(e.tokenizerCounted)
                + " by tokenizer, "
                + NumberText.count(e.chunkCounted)
                + " by chunks).",
        "Let the server report usage (stream_options.include_usage), or set its own tokenizer.");
    double disagree = share(e.disagreeing, e.ok);
    shareCheck(
        "token_counts_agree",
        disagree,
        0.01,
        NumberText.percent(disagree)
            + " of the answers count other tokens in events than in total.",
        "Trust output tok/s to that share only; ask the server's maker how usage is counted.");
    double shared = share(e.interpolated, e.ok);
    shareCheck(
        "event_times",
        shared,
        0.0,
        e.interpolated == 0
            ? "Times of token events were kept."
            : "Token times of "
                + NumberText.percent(shared)
                + " of the answers were interpolated between first and last token.",
        "Run with recordTokens=true for exact window edges, ITL and jitter.");
  }

  /** Of the target where our tokenizer and the server differ most. */
  private void promptTokens() {
    Map.Entry<String, CountComparison> worst = worst(e.prompts);
    if (worst == null || worst.getValue().difference() == null) {
      return;
    }
    CountComparison counts = worst.getValue();
    double difference = counts.difference();
    boolean templateOnly = counts.isTemplateOnly();
    double overhead = counts.medianOverhead();
    add(
        "prompt_tokens_agree",
        Math.abs(difference) > DIFFERENT && !templateOnly ? Level.WARNING : Level.OK,
        Math.abs(difference),
        DIFFERENT,
        counts.areEqual()
            ? "Server and tokenizer count the same prompt tokens."
            : (e.prompts.size() > 1 ? worst.getKey() + " counts " : "The server counts ")
                + NumberText.percent(Math.abs(difference))
                + (difference < 0 ? " fewer" : " more")
                + " prompt tokens than our tokenizer in all: "
                + (overhead > 0 ? "+" : "")
                + NumberText.number(overhead)
                + (templateOnly
                    ? " per request whatever its length, which a template or special tokens add."
                    : " in the median request, of which a chat template is a part."),
        "Set the model's own: tokenizer=hf:<tokenizer.json>. Prompt lengths are the server's"
            + " counts.");
  }

  /**
   * Of the target where our tokenizer and the server differ most in the answers that we counted.
   */
  private void outputTokens() {
    Map.Entry<String, CountComparison> worst = worst(e.answers);
    if (worst == null || worst.getValue().difference() == null) {
      return;
    }
    CountComparison counts = worst.getValue();
    double difference = counts.difference();
    double more = counts.medianOverhead();
    String compared = " in the " + NumberText.count(counts.count()) + " answers that it counted";
    add(
        "output_tokens_agree",
        Math.abs(difference) > DIFFERENT && !counts.isTemplateOnly() ? Level.WARNING : Level.OK,
        Math.abs(difference),
        DIFFERENT,
        counts.areEqual()
            ? "Server and tokenizer count the same output tokens" + compared + "."
            : (e.answers.size() > 1 ? worst.getKey() + " counts " : "The server counts ")
                + NumberText.percent(Math.abs(difference))
                + (difference < 0 ? " fewer" : " more")
                + " output tokens than our tokenizer"
                + compared
                + ": "
                + (more < 0 ? "" : "+")
                + NumberText.number(more)
                + " per answer"
                + (counts.isTemplateOnly()
                    ? " whatever its length, such as an end token."
                    : " (median), of which end tokens and tool markup are a part."),
        "Set the model's own: tokenizer=hf:<tokenizer.json>. Else ask how the server counts: its"
            + " counts make TPOT and tok/s.");
  }

  private static Map.@Nullable Entry<String, CountComparison> worst(
      Map<String, CountComparison> targets) {
    Map.Entry<String, CountComparison> worst = null;
    for (Map.Entry<String, CountComparison> target : targets.entrySet()) {
      if (worst == null || distance(target.getValue()) > distance(worst.getValue())) {
        worst = target;
      }
    }
    return worst;
  }

  private static double distance(CountComparison counts) {
    Double difference = counts.difference();
    return difference == null ? -1 : counts.isTemplateOnly() ? 0 : Math.abs(difference);
  }

  private void streams() {
    Double ratio = run.jitter().batchRatio();
    if (ratio != null) {
      add(
          "tokens_per_event",
          ratio > 1.2 ? Level.WARNING : Level.OK,
          ratio,
          1.2,
          NumberText.number(ratio)
              + (ratio == 1 ? " token per event" : " tokens per event")
              + (e.shared > 0 ? ", shared evenly (estimated)" : "")
              + (ratio > 1.2 ? ": ITL describes chunks, not single tokens." : "."),
          "Read TPOT beside ITL, and ICL for what a reader sees.");
    }
    if (e.longStreams > 0) {
      double buffered = share(e.buffered, e.longStreams);
      add(
          "buffering",
          buffered > 0.5 ? Level.INVALID : buffered > 0.02 ? Level.WARNING : Level.OK,
          buffered,
          0.02,
          NumberText.percent(buffered) + " of the streams came all at once at their end.",
          "Something buffers: switch off buffering in the gateway or proxy; TTFT is then E2E.");
    }
    double coalesced = share(e.coalesced, e.events);
    shareCheck(
        "coalesced_events",
        coalesced,
        0.1,
        NumberText.percent(coalesced) + " of the events came in one read with the one before.",
        "Gaps of 0 are bursts on the wire: compare with TPOT, look at proxies and Nagle.");
    double late = share(e.late, run.counts().started());
    shareCheck(
        "late_data",
        late,
        0.0,
        NumberText.percent(late) + " of the streams went on after their announced end.",
        "The server sends data after [DONE]; it is ignored.");
    double open = share(e.withoutDone, e.streamedOk);
    shareCheck(
        "missing_done",
        open,
        0.0,
        NumberText.percent(open) + " of the complete streams ended without [DONE].",
        "Harmless for figures; clients that wait for [DONE] hang on this server.");
  }

  private void cachedShare(Workload workload) {
    Double share = workload.cachedShare();
    Summary.CacheUse cache = workload.cache();
    if (share == null || cache == null) {
      return;
    }
    Distribution warm = cache.warmTtftMs();
    Distribution cold = cache.coldTtftMs();
    shareCheck(
        "cached_share",
        share,
        0.1,
        NumberText.percent(share)
            + " of the prompt tokens came from the server's prefix cache"
            + (warm.isEmpty() || cold.isEmpty()
                ? "."
                : (cache.stage() == null ? ": " : "; at " + cache.stage() + " ")
                    + "TTFT p50 is "
                    + NumberText.number(warm.p50())
                    + " ms for the "
                    + NumberText.count(warm.count())
                    + (warm.count() == 1 ? " request" : " requests")
                    + " with half or more of it cached, "
                    + NumberText.number(cold.p50())
                    + " ms for the other "
                    + NumberText.count(cold.count())
                    + "."),
        "Quote TTFT with this share, or ask without repeats: uniquePrompts=true.");
  }

  private void cancelled() {
    long cancelled = e.cancelled;
    double share = share(cancelled, run.counts().started());
    shareCheck(
        "cancelled_tails",
        share,
        0.0,
        cancelled == 0
            ? "No request was cancelled."
            : NumberText.count(cancelled)
                + " requests were cancelled at the end ("
                + NumberText.count(e.neverAdmitted)
                + " never left the gate): tails are lower bounds.",
        "Give them longer to end (drain), or offer less load.");
  }

  private void shareCheck(
      String id, double value, double threshold, String message, String remedy) {
    add(id, value > threshold ? Level.WARNING : Level.OK, value, threshold, message, remedy);
  }

  private void add(
      String id,
      Level level,
      @Nullable Double value,
      @Nullable Double threshold,
      String message,
      String remedy) {
    checks.add(new Check(id, level, value, threshold, message, level == Level.OK ? "" : remedy));
  }

  private static double share(long part, long whole) {
    return whole == 0 ? 0 : (double) part / whole;
  }
}
