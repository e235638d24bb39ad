package io.github.gatlingllm.metric;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The name of one figure of {@link Figures}: the vocabulary that assertions, settings and
 * comparisons share.
 *
 * <pre>
 * ttft.p99  ttft.mean  e2e.max  tpot.std  itl.count      a distribution, and what of it
 * goodput.percent  errors.count  timeout.percent         a count of requests, or its share
 * output_tokens_per_s  jitter  stalls_per_1k_tokens      a figure by itself
 * </pre>
 *
 * <p>{@code errors} stands for {@code errors.percent}, {@code started} for {@code started.count}.
 */
public final class Figure {

  /** What a figure is counted in. */
  public enum Unit {
    /** Milliseconds. */
    MILLIS("ms"),
    /** Hundredths of all. */
    PERCENT("%"),
    /** Requests in a second. */
    REQUESTS_PER_S("requests/s"),
    /** Tokens in a second. */
    TOKENS_PER_S("tok/s"),
    /** Tokens. */
    TOKENS("tokens"),
    /** A ratio, or a number of things. */
    NUMBER("");

    private final String sign;

    Unit(String sign) {
      this.sign = sign;
    }

    /** What stands behind a value; empty for a number. */
    public String sign() {
      return sign;
    }
  }

  private static final Pattern PERCENTILE = Pattern.compile("p\\d{1,3}(?:\\.\\d{1,15})?");
  private static final List<String> STATISTICS =
      List.of("p50", "p75", "p90", "p95", "p99", "p99.9", "mean", "min", "max", "std", "count");
  private static final String PERCENT = ".percent";
  private static final String COUNT = ".count";

  private static final Map<String, Quantity> QUANTITIES =
      Quantity.all().stream()
          .collect(
              Collectors.toMap(
                  Quantity::name, Function.identity(), (a, b) -> a, LinkedHashMap::new));

  private static final Map<String, Figure> SINGLE = SingleFigures.all();

  private final String name;
  private final String words;
  private final Unit unit;
  private final Function<Figures, @Nullable Double> value;
  private final @Nullable Quantity quantity;
  private final @Nullable Double percent;

  private Figure(
      String name,
      String words,
      Unit unit,
      Function<Figures, @Nullable Double> value,
      @Nullable Quantity quantity,
      @Nullable Double percent) {
    this.name = name;
    this.words = words;
    this.unit = unit;
    this.value = value;
    this.quantity = quantity;
    this.percent = percent;
  }

  static Figure single(
      String name, String words, Unit unit, Function<Figures, @Nullable Double> value) {
    return new Figure(name, words, unit, value, null, null);
  }

  /**
   * The figure of that name.
   *
   * @throws IllegalArgumentException in one line that names it and what comes closest
   */
  public static Figure parse(String name) {
    for (String whole : List.of(name, name + PERCENT, name + COUNT)) {
      if (SINGLE.containsKey(whole)) {
        return SINGLE.get(whole);
      }
    }
    int dot = name.indexOf('.');
    Quantity quantity = dot < 0 ? null : QUANTITIES.get(name.substring(0, dot));
    Figure figure = quantity == null ? null : of(quantity, name.substring(dot + 1));
    if (figure == null) {
      throw new IllegalArgumentException(
          "no figure is called '%s'; near it: %s"
              .formatted(
                  name.length() > 40 ? name.substring(0, 40) + "…" : name,
                  String.join(", ", near(name))));
    }
    return figure;
  }

  private static List<String> near(String wrong) {
    String[] parts = wrong.split("\\.", 2);
    List<String> candidates = new ArrayList<>();
    if (QUANTITIES.containsKey(parts[0])) {
      STATISTICS.forEach(statistic -> candidates.add(parts[0] + "." + statistic));
    } else {
      boolean known = parts.length == 2 && STATISTICS.contains(parts[1]);
      QUANTITIES.keySet().forEach(name -> candidates.add(name + "." + (known ? parts[1] : "p99")));
      SINGLE.keySet().forEach(name -> candidates.add(name.replace(PERCENT, "")));
    }
    return Spelling.nearest(wrong, candidates, 4);
  }

  private static @Nullable Figure of(Quantity quantity, String statistic) {
    Function<Figures, Distribution> of = quantity.distribution();
    return switch (statistic) {
      case "mean" -> of(quantity, "mean", "mean", f -> of.apply(f).mean());
      case "min" -> of(quantity, "min", "min", f -> of.apply(f).min());
      case "max" -> of(quantity, "max", "max", f -> of.apply(f).max());
      case "std" -> of(quantity, "std", "standard deviation", f -> of.apply(f).std());
      case "count" ->
          single(
              quantity.name() + COUNT,
              "count of " + quantity.title(),
              Unit.NUMBER,
              f -> (double) of.apply(f).count());
      default -> percentile(quantity, PERCENTILE.matcher(statistic));
    };
  }

  private static Figure of(
      Quantity quantity,
      String statistic,
      String words,
      Function<Figures, @Nullable Double> value) {
    return single(
        quantity.name() + "." + statistic,
        words + " of " + quantity.title(),
        quantity.unit(),
        value);
  }

  private static @Nullable Figure percentile(Quantity quantity, Matcher form) {
    if (!form.matches()) {
      return null;
    }
    BigDecimal percent =
        form.group().equals("p999")
            ? new BigDecimal("99.9") // its key in summary.json
            : new BigDecimal(form.group().substring(1)).stripTrailingZeros();
    double p = percent.doubleValue();
    if (!(p > 0 && p <= 100)) {
      return null;
    }
    String plain = percent.toPlainString();
    return new Figure(
        quantity.name() + ".p" + plain,
        Ordinal.of(percent) + " percentile of " + quantity.title(),
        quantity.unit(),
        f -> stored(quantity.distribution().apply(f), plain),
        quantity,
        p);
  }

  private static @Nullable Double stored(Distribution d, String percent) {
    return switch (percent) {
      case "50" -> d.p50();
      case "75" -> d.p75();
      case "90" -> d.p90();
      case "95" -> d.p95();
      case "99" -> d.p99();
      case "99.9" -> d.p999();
      case "100" -> d.max();
      default -> null;
    };
  }

  /** All names, with the percentiles that a summary holds. */
  public static List<String> names() {
    List<String> names = new ArrayList<>();
    for (String quantity : QUANTITIES.keySet()) {
      STATISTICS.forEach(statistic -> names.add(quantity + "." + statistic));
    }
    names.addAll(SINGLE.keySet());
    return names;
  }

  /** The whole name, e.g. {@code goodput.percent}. */
  public String name() {
    return name;
  }

  /** What it is, in words after the manner of Gatling: {@code 99th percentile of TTFT}. */
  public String words() {
    return words;
  }

  /** What it is counted in. */
  public Unit unit() {
    return unit;
  }

  /**
   * Its value; null where there is none, and for a percentile that {@link Distribution} does not
   * hold.
   */
  public @Nullable Double of(Figures figures) {
    return value.apply(figures);
  }

  /** Its value, any percentile included. */
  public @Nullable Double of(Figures figures, Function<String, ValueRecorder> recorded) {
    Double known = of(figures);
    return known != null || quantity == null || percent == null
        ? known
        : recorded.apply(quantity.name()).percentile(percent);
  }

  /** Over how many values it is a percentile with fewer than 10 of them beyond; null if not. */
  public @Nullable Long lowN(Figures figures) {
    if (quantity == null || percent == null) {
      return null;
    }
    long count = quantity.distribution().apply(figures).count();
    return count > 0 && ValueRecorder.isLowN(count, percent) ? (Long) count : null;
  }

  /** The name. */
  @Override
  public String toString() {
    return name;
  }
}
