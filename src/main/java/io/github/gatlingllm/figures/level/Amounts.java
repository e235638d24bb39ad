package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.metric.Metric.Amount;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import org.jspecify.annotations.Nullable;

/** Sums over requests and tokens, one for each {@link Amount}. Not thread-safe. */
@SuppressWarnings("EnumOrdinal") // an array: every token is added, every resampling sums them up
class Amounts {

  private final double[] sums = new double[Amount.values().length];

  public final double of(Amount amount) {
    return sums[amount.ordinal()];
  }

  final long count(Amount amount) {
    return (long) of(amount);
  }

  public final void add(Amount amount, double more) {
    sums[amount.ordinal()] += more;
  }

  private void count(Amount amount, boolean applies) {
    add(amount, applies ? 1 : 0);
  }

  final void add(Amounts other) {
    for (int i = 0; i < sums.length; i++) {
      sums[i] += other.sums[i];
    }
  }

  final void tokens(double tokens, boolean inSlo) {
    add(Amount.TOKENS, tokens);
    add(Amount.TOKENS_IN_SLO, inSlo ? tokens : 0);
  }

  final void ended(boolean ok, boolean inSlo) {
    count(Amount.COMPLETED, ok);
    count(Amount.COMPLETED_IN_SLO, inSlo);
  }

  /** Adds the start of a request; {@code met} is null if it was not judged by an SLO. */
  final void started(RequestRecord record, @Nullable Boolean met) {
    add(Amount.STARTED, 1);
    count(Amount.ATTEMPTED, met != null);
    count(Amount.MET, Boolean.TRUE.equals(met));
    outcome(record.outcome());
    Integer prompt = record.tokens().prompt();
    Integer cached = record.tokens().cachedTokens();
    if (prompt != null && cached != null) {
      add(Amount.LOOKED_UP_TOKENS, prompt);
      add(Amount.CACHED_TOKENS, cached);
    }
  }

  final void outcome(RequestRecord.Outcome outcome) {
    count(Amount.ENDED, !outcome.status().isCut());
    count(Amount.OK, outcome.ok());
    count(Amount.FAILED, outcome.hasFailed());
    count(Amount.RATE_LIMITED, outcome.status() == RequestStatus.RATE_LIMITED);
    count(Amount.ABANDONED, outcome.status() == RequestStatus.ABANDONED);
  }

  final void reader(RequestValues values) {
    count(Amount.READERS, values.hasReader());
    count(Amount.READERS_STALLED, values.readerStalls());
  }

  /** Amounts of some requests, and the time from the first start to the last end. */
  static final class Span extends Amounts {
    long from = Long.MAX_VALUE;
    long to = Long.MIN_VALUE;
    private double onlyOurs;
    private double bothByServer;
    private double bothByUs;

    void add(long start, long end) {
      from = Math.min(from, start);
      to = Math.max(to, end);
    }

    void tokens(RequestRecord.Tokens tokens) {
      double all = tokens.outputTokens() == null ? 0 : tokens.outputTokens();
      Integer ours = tokens.outputTokensLocal();
      add(Amount.TOKENS, all);
      if (tokens.source() == RequestRecord.TokenSource.TOKENIZER) {
        onlyOurs += all;
      } else if (ours != null && tokens.streamedTokens() != null) {
        bothByServer += tokens.streamedTokens();
        bothByUs += ours;
      }
    }

    /** See {@link io.github.gatlingllm.figures.metric.EngineFigures.WholeRun}. */
    double tokensByServer() {
      double perOurs = bothByUs > 0 && bothByServer > 0 ? bothByServer / bothByUs : 1;
      return of(Amount.TOKENS) + onlyOurs * (perOurs - 1);
    }

    void add(Span other) {
      add((Amounts) other);
      onlyOurs += other.onlyOurs;
      bothByServer += other.bothByServer;
      bothByUs += other.bothByUs;
      add(other.from, other.to);
    }

    /** Adds a request from its schedule to its close, if it was closed. */
    void add(RequestRecord record) {
      Long closed = record.timing().closedUnixNanos();
      if (closed != null) {
        Integer n = record.tokens().n();
        add(Amount.TOKENS, n == null ? 0 : n);
        add(record.timing().scheduledUnixNanos(), closed);
      }
    }

    double seconds() {
      return (to - from) / 1e9;
    }
  }
}
