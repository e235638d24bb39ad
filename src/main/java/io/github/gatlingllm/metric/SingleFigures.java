package io.github.gatlingllm.metric;

import io.github.gatlingllm.metric.Figure.Unit;
import io.github.gatlingllm.metric.Figures.Counts;
import io.github.gatlingllm.metric.Figures.Goodput;
import io.github.gatlingllm.metric.Figures.MaxGoodput;
import io.github.gatlingllm.record.Assertion;
import io.github.gatlingllm.record.RequestStatus;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/** The figures that are one number each, by name. */
final class SingleFigures {

  private final Map<String, Figure> byName = new LinkedHashMap<>();

  private SingleFigures() {}

  static Map<String, Figure> all() {
    SingleFigures all = new SingleFigures();
    all.goodput();
    all.throughput();
    all.evenness();
    all.counts();
    all.add(Assertion.VALID.figure(), "count of checks that call the run invalid", f -> null);
    return all.byName;
  }

  private void goodput() {
    add("goodput.percent", "percentage of requests in SLO", Unit.PERCENT, f -> inSlo(f.goodput()));
    add(
        "goodput.requests_per_s",
        "mean requests in SLO per second",
        Unit.REQUESTS_PER_S,
        f -> f.goodput() == null ? null : f.goodput().requestsPerS());
    add(
        "goodput.tokens_per_s",
        "mean tokens in SLO per second",
        Unit.TOKENS_PER_S,
        f -> f.goodput() == null ? null : f.goodput().tokensPerS());
    add(
        "goodput.max_requests_per_s",
        "mean requests per second of the highest level that holds the SLO",
        Unit.REQUESTS_PER_S,
        f -> {
          MaxGoodput max = f.goodput() == null ? null : f.goodput().max();
          return max == null ? null : max.requestsPerS();
        });
  }

  /** From the counts, not from the share: 29 of 100 are 29 %, not 28.999999999999996 %. */
  private static @Nullable Double inSlo(@Nullable Goodput goodput) {
    return goodput == null ? null : percent(goodput.met(), goodput.attempted());
  }

  private void throughput() {
    add(
        "output_tokens_per_s",
        "mean output tokens per second",
        Unit.TOKENS_PER_S,
        f -> f.throughput().outputTokensPerS());
    add(
        "total_tokens_per_s",
        "mean total tokens per second",
        Unit.TOKENS_PER_S,
        f -> f.throughput().totalTokensPerS());
    add(
        "wall_output_tokens_per_s",
        "mean output tokens per second of wall time",
        Unit.TOKENS_PER_S,
        f -> f.throughput().wallOutputTokensPerS());
    add(
        "requests_per_s",
        "mean requests per second",
        Unit.REQUESTS_PER_S,
        f -> f.throughput().requestsPerS());
  }

  private void evenness() {
    add("jitter", "jitter", f -> f.jitter().itlP99OverP50());
    add("jitter_per_request", "median jitter of requests", f -> f.jitter().perRequestP50());
    add("stalls_per_1k_tokens", "stalls per 1000 tokens", f -> f.jitter().stallsPer1kTokens());
    add("batch_ratio", "tokens per event", f -> f.jitter().batchRatio());
  }

  private void counts() {
    count("started", "all requests", Counts::started);
    count("ended", "ended requests", Counts::ended);
    countAndShare("ok", "successful requests", Counts::ok, Counts::ended);
    countAndShare("errors", "failed requests", Counts::failed, Counts::ended);
    for (RequestStatus verdict : RequestStatus.values()) {
      countAndShare(
          verdict.key(),
          verdict.key().replace('_', ' ') + " requests",
          counts -> counts.of(verdict),
          verdict == RequestStatus.CANCELLED ? Counts::started : Counts::ended);
    }
  }

  private void count(String name, String what, ToLongFunction<Counts> of) {
    add(name + ".count", "count of " + what, f -> (double) of.applyAsLong(f.counts()));
  }

  private void countAndShare(
      String name, String what, ToLongFunction<Counts> of, ToLongFunction<Counts> whole) {
    count(name, what, of);
    add(
        name + ".percent",
        "percentage of " + what,
        Unit.PERCENT,
        f -> percent(of.applyAsLong(f.counts()), whole.applyAsLong(f.counts())));
  }

  private static @Nullable Double percent(long part, long whole) {
    return whole == 0 ? null : (Double) (part * 100.0 / whole);
  }

  private void add(String name, String words, Function<Figures, @Nullable Double> value) {
    add(name, words, Unit.NUMBER, value);
  }

  private void add(
      String name, String words, Unit unit, Function<Figures, @Nullable Double> value) {
    byName.put(name, Figure.single(name, words, unit, value));
  }
}
