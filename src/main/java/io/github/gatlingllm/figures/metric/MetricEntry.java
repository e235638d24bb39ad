package io.github.gatlingllm.figures.metric;

import io.github.gatlingllm.figures.metric.Figures.Counts;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * What an entry of the metrics catalogue states: its unit, direction and kind, with one factory
 * method for each kind of entry.
 */
public final class MetricEntry {

  private static final double NANOS_PER_MS = 1e6;

  public enum Unit {
    MILLIS("ms", ValueRecorder.MICROS),
    PERCENT("%", ValueRecorder.THOUSANDTHS),
    REQUESTS_PER_S("requests/s", ValueRecorder.THOUSANDTHS),
    INPUTS_PER_S("inputs/s", ValueRecorder.THOUSANDTHS),
    TOKENS_PER_S("tok/s", ValueRecorder.THOUSANDTHS),
    TOKENS("tokens", ValueRecorder.INTEGERS),
    WATTS("W", ValueRecorder.THOUSANDTHS),
    TOKENS_PER_J("tok/J", ValueRecorder.THOUSANDTHS),
    NUMBER("", ValueRecorder.THOUSANDTHS);

    private final String sign;
    private final double steps;

    Unit(String sign, double steps) {
      this.sign = sign;
      this.steps = steps;
    }

    public String sign() {
      return sign;
    }

    double steps() {
      return steps;
    }
  }

  public enum Better {
    LOWER,
    HIGHER,
    NEITHER
  }

  /** How the values of a set of requests are summarised, and which requests have one. */
  enum Kind {
    PER_REQUEST("distribution, a value per request", "ok requests scheduled in measure"),
    /** The same for times to the first token, which a later timeout does not change. */
    FIRST_TOKEN(
        "distribution, a value per request",
        "requests scheduled in measure that were ok, or ended by requestTimeout"),
    PER_FAILED_REQUEST("distribution, a value per request", "failed requests scheduled in measure"),
    /** Many values per request, pooled; they are not independent. */
    POOLED("distribution of the gaps of all requests", "ok requests scheduled in measure"),
    /** A sum over the measure window ÷ its length. */
    RATE("Σ ÷ window", "events in the measure window, whenever their request was scheduled"),
    SHARE("share", "requests scheduled in measure"),
    REQUESTS("count, share", "requests scheduled in measure"),
    SINGLE("number", "as in its formula");

    private final String summarised;
    private final String population;

    Kind(String summarised, String population) {
      this.summarised = summarised;
      this.population = population;
    }

    String population() {
      return population;
    }

    String summarised() {
      return summarised;
    }

    boolean isDistribution() {
      return this == PER_REQUEST
          || this == FIRST_TOKEN
          || this == PER_FAILED_REQUEST
          || this == POOLED;
    }
  }

  /** A rate or a share; null stands for the length of the window. */
  public record Ratio(@Nullable Amount numerator, @Nullable Amount denominator) {}

  final Kind kind;
  final String title;
  final Unit unit;
  Better better;
  String formula = "";
  String section = "";
  @Nullable String name;
  @Nullable String key;
  @Nullable String words;
  boolean compared;
  @Nullable Ratio ratio;
  @Nullable PerRecord perRecord;
  @Nullable Function<Amount.Sums, @Nullable Double> ofSums;
  boolean isEfficiency;
  @Nullable Function<Figures, @Nullable Double> value;
  @Nullable ToLongFunction<Counts> count;
  @Nullable ToLongFunction<Counts> total;

  interface PerRecord {
    /** The value for a request and its reader's tokens/s; NaN if it has none. */
    double of(RequestRecord record, double readingSpeed);
  }

  private MetricEntry(Kind kind, String title, Unit unit, Better better) {
    this.kind = kind;
    this.title = title;
    this.unit = unit;
    this.better = better;
  }

  MetricEntry formula(String formula) {
    this.formula = formula;
    return this;
  }

  /** The name within a sentence, if it differs from the title. */
  MetricEntry words(String words) {
    this.words = words;
    return this;
  }

  /** The name in assertions, if it is not that of the entry in lower case. */
  MetricEntry name(String name) {
    this.name = name;
    return this;
  }

  /** The section of {@code summary.json}, with a dot at its end; the key in it is the name. */
  MetricEntry in(String section) {
    this.section = section;
    return this;
  }

  /** The key in {@code summary.json}, if it is not that of the entry in its section. */
  MetricEntry key(String key) {
    this.key = key;
    return this;
  }

  MetricEntry better(Better better) {
    this.better = better;
    return this;
  }

  /** The value for a request, in the metric's unit; null if the request has none. */
  MetricEntry of(Function<RequestRecord, @Nullable Number> value) {
    this.perRecord = (record, readingSpeed) -> orNaN(value.apply(record));
    return this;
  }

  /** The number of a set of requests, from their sums. */
  MetricEntry by(Function<Amount.Sums, @Nullable Double> sums) {
    ofSums = sums;
    return this;
  }

  /** The same for cost and energy, left out where neither is known. */
  MetricEntry efficiency(Function<Amount.Sums, @Nullable Double> sums) {
    isEfficiency = true;
    return in("efficiency.").by(sums);
  }

  /** The number for a set of requests, if it is not in {@link Figures#numbers}. */
  MetricEntry from(Function<Figures, @Nullable Double> value) {
    this.value = value;
    ofSums = null;
    return this;
  }

  MetricEntry outOf(ToLongFunction<Counts> all) {
    this.total = all;
    return this;
  }

  MetricEntry compared() {
    compared = true;
    return this;
  }

  /** Includes it in comparisons of runs, as part ÷ total; null is the length of the window. */
  MetricEntry compared(@Nullable Amount part, @Nullable Amount all) {
    ratio = new Ratio(part, all);
    return this;
  }

  private static MetricEntry time(
      Kind kind, String title, String formula, Function<RequestRecord, @Nullable Number> nanos) {
    MetricEntry entry = new MetricEntry(kind, title, Unit.MILLIS, Better.LOWER).formula(formula);
    entry.perRecord = (record, readingSpeed) -> orNaN(nanos.apply(record)) / NANOS_PER_MS;
    return entry;
  }

  /** A time of one request in milliseconds, from nanoseconds; lower is better. */
  static MetricEntry time(
      String title, String formula, Function<RequestRecord, @Nullable Number> nanos) {
    return time(Kind.PER_REQUEST, title, formula, nanos);
  }

  static MetricEntry timeToFirst(
      String title, String formula, Function<RequestRecord, @Nullable Number> nanos) {
    return time(Kind.FIRST_TOKEN, title, formula, nanos);
  }

  /** A time of one request that depends on the reading speed (tokens per second). */
  static MetricEntry timeOfReader(
      String title, String formula, BiFunction<RequestRecord, Double, @Nullable Long> nanos) {
    MetricEntry entry = time(title, formula, record -> null);
    entry.perRecord =
        (record, readingSpeed) -> orNaN(nanos.apply(record, readingSpeed)) / NANOS_PER_MS;
    return entry;
  }

  static MetricEntry timeOfFailed(
      String title, String formula, Function<RequestRecord, @Nullable Number> nanos) {
    return time(Kind.PER_FAILED_REQUEST, title, formula, nanos);
  }

  /** Times between the tokens or events of a stream in milliseconds, pooled; lower is better. */
  static MetricEntry gap(String title, String formula) {
    return new MetricEntry(Kind.POOLED, title, Unit.MILLIS, Better.LOWER).formula(formula);
  }

  static MetricEntry length(
      String title, String formula, Function<RequestRecord, @Nullable Number> tokens) {
    return new MetricEntry(Kind.PER_REQUEST, title, Unit.TOKENS, Better.NEITHER)
        .formula(formula)
        .of(tokens);
  }

  static MetricEntry speed(String title, String formula) {
    return new MetricEntry(Kind.PER_REQUEST, title, Unit.TOKENS_PER_S, Better.HIGHER)
        .formula(formula)
        .words(title.replace("tok/s", "tokens per second"));
  }

  static MetricEntry rate(String title, Unit unit, Amount amount) {
    return new MetricEntry(Kind.RATE, title, unit, Better.HIGHER)
        .in("throughput.")
        .compared(amount, null)
        .by(sums -> sums.perS(sums.of(amount)));
  }

  static MetricEntry share(String title, Amount part, Amount total) {
    return new MetricEntry(Kind.SHARE, title, Unit.PERCENT, Better.HIGHER).compared(part, total);
  }

  static MetricEntry single(String title, Unit unit, Better better) {
    return new MetricEntry(Kind.SINGLE, title, unit, better).in("throughput.");
  }

  static MetricEntry load(String title) {
    return single(title, Unit.NUMBER, Better.NEITHER);
  }

  static MetricEntry jitter(String title) {
    return single(title, Unit.NUMBER, Better.LOWER).in("jitter.");
  }

  static MetricEntry requests(String title, String formula, ToLongFunction<Counts> count) {
    MetricEntry entry = new MetricEntry(Kind.REQUESTS, title, Unit.NUMBER, Better.NEITHER);
    entry.count = count;
    return entry.in("counts.").formula(formula);
  }

  static MetricEntry requests(RequestStatus status) {
    String key = status.key();
    return requests(
            key.replace('_', ' ') + " requests", "status " + key, counts -> counts.of(status))
        .in("counts.verdicts.")
        .outOf(status.isCut() ? Counts::started : Counts::ended);
  }

  // Parts of formulas.

  private static double orNaN(@Nullable Number value) {
    return value == null ? Double.NaN : value.doubleValue();
  }

  /** Milliseconds per token; null if either value is missing or not positive. */
  static @Nullable Double over(@Nullable Long nanos, @Nullable Integer tokens) {
    return nanos == null || nanos <= 0 || tokens == null || tokens <= 0
        ? null
        : (Double) (nanos / NANOS_PER_MS / tokens);
  }

  /** Tokens per second; null if either value is missing or not positive. */
  static @Nullable Double perSecond(@Nullable Integer tokens, @Nullable Number nanos) {
    return tokens == null || tokens <= 0 || nanos == null || !(nanos.doubleValue() > 0)
        ? null
        : (Double) (tokens * 1e9 / nanos.doubleValue());
  }

  /** Prompt tokens that were not in the server's cache, as far as it reports them. */
  static @Nullable Integer uncached(RequestRecord.Tokens tokens) {
    Integer prompt = tokens.prompt();
    Integer cached = tokens.cachedTokens();
    return prompt == null ? null : (Integer) (prompt - (cached == null ? 0 : cached));
  }

  static @Nullable Double ifJudged(
      Figures figures, Function<Figures.Goodput, @Nullable Double> value) {
    Figures.Goodput goodput = figures.goodput();
    return goodput == null ? null : value.apply(goodput);
  }

  /** A percentage from counts, because 100 × 0.29 is 28.999999999999996. */
  static @Nullable Double percent(long part, long total) {
    return total == 0 ? null : (Double) (part * 100.0 / total);
  }
}
