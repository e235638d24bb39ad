package io.github.gatlingllm.figures.metric;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import io.github.gatlingllm.figures.metric.Figures.Counts;
import io.github.gatlingllm.figures.metric.Metric.Unit;
import io.github.gatlingllm.record.DurationText;
import io.github.gatlingllm.record.Objectives;
import io.github.gatlingllm.record.Objectives.AssertedCondition;
import io.github.gatlingllm.record.Objectives.Assertion;
import io.github.gatlingllm.record.Spelling;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A named figure: a {@link Metric} and a statistic of it. Assertions, settings and comparisons
 * share these names.
 *
 * <pre>
 * ttft.p99  ttft.mean  e2e.max  tpot.std  itl.count      a statistic of a distribution
 * goodput.percent  errors.count  timeout.percent         a number of requests, or their share
 * output_tokens_per_s  jitter  stalls_per_1k_tokens      a single number
 * </pre>
 *
 * <p>{@code errors} stands for {@code errors.percent}, {@code started} for {@code started.count}.
 *
 * @param words description in the style of Gatling: {@code 99th percentile of TTFT}
 * @param percent for a percentile, above 0 and at most 100; else null
 * @param value reads it from figures; null if not known
 */
public record Figure(
    String name,
    String words,
    Unit unit,
    Metric metric,
    @Nullable Double percent,
    Function<Figures, @Nullable Double> value) {

  private static final Pattern PERCENTILE = Pattern.compile("p\\d{1,3}(?:\\.\\d{1,15})?");
  private static final List<String> STATISTICS =
      List.of("p50", "p75", "p90", "p95", "p99", "p99.9", "mean", "min", "max", "std", "count");

  private static final List<String> LOW = List.of("p1", "p5", "p10");

  private static final String PERCENT = ".percent";
  private static final String COUNT = ".count";

  private static final Pattern ASSERTION =
      Pattern.compile(
          "(?:([^<>]+):)?\\s*([A-Za-z0-9_.]+)\\s*(<=|>=|<|>|=)"
              + "\\s*(\\d{1,12}(?:\\.\\d{1,9})?)\\s*("
              + DurationText.UNITS
              + "|%|/s)?");

  private static final Map<String, Metric> DISTRIBUTIONS =
      Metric.distributions().stream()
          .collect(Collectors.toMap(Metric::figure, m -> m, (a, b) -> a, LinkedHashMap::new));

  private static final Map<String, Figure> SINGLE =
      Arrays.stream(Metric.values())
          .filter(metric -> !metric.isDistribution())
          .flatMap(metric -> single(metric).stream())
          .collect(Collectors.toMap(Figure::name, f -> f, (a, b) -> a, LinkedHashMap::new));

  private static List<Figure> single(Metric metric) {
    ToLongFunction<Counts> count = metric.count();
    ToLongFunction<Counts> total = metric.total();
    if (count == null) {
      return List.of(of(metric, "", metric.words(), metric.unit(), metric::number));
    }
    Figure number = count(metric, f -> (double) count.applyAsLong(f.counts()));
    return total == null
        ? List.of(number)
        : List.of(
            number,
            of(
                metric,
                PERCENT,
                "percentage of " + metric.words(),
                Unit.PERCENT,
                f -> Metric.percent(count.applyAsLong(f.counts()), total.applyAsLong(f.counts()))));
  }

  private static Figure of(
      Metric metric,
      String suffix,
      String words,
      Unit unit,
      Function<Figures, @Nullable Double> value) {
    return new Figure(metric.figure() + suffix, words, unit, metric, null, value);
  }

  private static Figure count(Metric metric, Function<Figures, @Nullable Double> value) {
    return of(metric, COUNT, "count of " + metric.words(), Unit.NUMBER, value);
  }

  /** The figures by which runs and repeats are compared, in the order of the catalogue. */
  public static List<Figure> compared() {
    return Arrays.stream(Metric.values())
        .filter(Metric::isCompared)
        .flatMap(
            metric ->
                metric.isDistribution()
                    ? Stream.of(".mean", ".p50", ".p95", ".p99").map(s -> metric.figure() + s)
                    : Stream.of(metric.figure()))
        .map(Figure::parse)
        .toList();
  }

  /** Throws with one line that suggests similar names. */
  public static Figure parse(String name) {
    for (String total : List.of(name, name + PERCENT, name + COUNT)) {
      if (SINGLE.containsKey(total)) {
        return SINGLE.get(total);
      }
    }
    int dot = name.indexOf('.');
    Metric metric = dot < 0 ? null : DISTRIBUTIONS.get(name.substring(0, dot));
    Figure figure = metric == null ? null : of(metric, name.substring(dot + 1));
    if (figure == null) {
      throw new IllegalArgumentException(
          "no figure is called '%s'; near it: %s"
              .formatted(
                  name.length() > 40 ? name.substring(0, 40) + "…" : name,
                  String.join(
                      ", ",
                      Spelling.nearest(
                          name,
                          names().stream().map(each -> each.replace(PERCENT, "")).toList(),
                          4))));
    }
    return figure;
  }

  private static @Nullable Figure of(Metric metric, String statistic) {
    return switch (statistic) {
      case "mean" -> of(metric, "mean", "mean", Distribution::mean);
      case "min" -> of(metric, "min", "min", Distribution::min);
      case "max" -> of(metric, "max", "max", Distribution::max);
      case "std" -> of(metric, "std", "standard deviation", Distribution::std);
      case "count" -> count(metric, f -> (double) f.metric(metric).count());
      default -> percentile(metric, PERCENTILE.matcher(statistic));
    };
  }

  private static Figure of(
      Metric metric,
      String statistic,
      String words,
      Function<Distribution, @Nullable Double> value) {
    return of(
        metric,
        "." + statistic,
        words + " of " + metric.words(),
        metric.unit(),
        f -> value.apply(f.metric(metric)));
  }

  private static @Nullable Figure percentile(Metric metric, Matcher form) {
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
        metric.figure() + ".p" + plain,
        ordinal(plain) + " percentile of " + metric.words(),
        metric.unit(),
        metric,
        p,
        f -> f.metric(metric).percentile("p" + plain));
  }

  private static String ordinal(String digits) {
    boolean teen = digits.length() > 1 && digits.charAt(digits.length() - 2) == '1';
    return digits
        + switch (teen ? '0' : digits.charAt(digits.length() - 1)) {
          case '1' -> "st";
          case '2' -> "nd";
          case '3' -> "rd";
          default -> "th";
        };
  }

  /** All names, with the percentiles that a {@link Distribution} has. */
  public static List<String> names() {
    List<String> names = new ArrayList<>();
    DISTRIBUTIONS.forEach(
        (name, metric) -> {
          if (metric.better() == Metric.Better.HIGHER) {
            LOW.forEach(statistic -> names.add(name + "." + statistic));
          }
          STATISTICS.forEach(statistic -> names.add(name + "." + statistic));
        });
    names.addAll(SINGLE.keySet());
    return names;
  }

  /** Its value; null if not known, and for a percentile that {@link Distribution} does not have. */
  public @Nullable Double of(Figures figures) {
    return value.apply(figures);
  }

  public @Nullable Double of(Figures figures, Function<Metric, ValueRecorder> recorded) {
    Double known = of(figures);
    return known != null || percent == null ? known : recorded.apply(metric).percentile(percent);
  }

  /** Number of values of a percentile with fewer than 10 beyond it; null for other figures. */
  public @Nullable Long lowN(Figures figures) {
    if (percent == null) {
      return null;
    }
    long count = figures.metric(metric).count();
    return count > 0 && ValueRecorder.isLowN(count, percent) ? (Long) count : null;
  }

  @Override
  public String toString() {
    return name;
  }

  /**
   * Parses an assertion such as {@code c=8:ttft.p99<200ms} or {@code goodput>=95%}; times without a
   * unit are milliseconds. What a name before the colon is depends on the load.
   */
  public static Assertion assertion(String text) {
    if (text.strip().equals("valid")) {
      return Assertion.VALID;
    }
    Matcher form = ASSERTION.matcher(text.strip());
    if (!form.matches()) {
      throw new IllegalArgumentException(
          "'" + text.strip() + "' is not an assertion; expected e.g. ttft.p99<200ms or valid");
    }
    String unit = form.group(5) == null ? "" : form.group(5);
    Figure figure = asserted(form.group(2), unit);
    double value = bound(figure, new BigDecimal(form.group(4)), unit);
    String stage = form.group(1);
    return new Assertion(
        null,
        stage == null ? Objectives.Scope.GLOBAL : Objectives.Scope.STAGE,
        stage == null ? null : stage.strip(),
        figure.name(),
        condition(form.group(3)),
        List.of(value));
  }

  private static AssertedCondition condition(String typed) {
    String sign = typed.replace("<=", "≤").replace(">=", "≥");
    return Stream.of(AssertedCondition.values())
        .filter(c -> c.sign().equals(sign))
        .findFirst()
        .orElseThrow();
  }

  /** The unit selects the count, the share or the rate of figures with the same name. */
  private static Figure asserted(String name, String unit) {
    if (name.equals("goodput") && unit.equals("/s")) {
      return parse("goodput.requests_per_s");
    }
    if (name.equals("goodput") && !unit.equals("%")) {
      throw new IllegalArgumentException(
          "goodput needs a unit; expected a share such as goodput>=95%, or goodput>=20/s");
    }
    Figure figure = parse(name);
    boolean share = figure.unit() == Unit.PERCENT && !name.equals(figure.name());
    return share && unit.isEmpty() ? parse(name + ".count") : figure;
  }

  private static double bound(Figure figure, BigDecimal number, String unit) {
    String allowed =
        switch (figure.unit()) {
          case MILLIS, SECONDS -> "us, ms, s, m or h";
          case PERCENT -> "%";
          case REQUESTS_PER_S, INPUTS_PER_S, TOKENS_PER_S -> "/s";
          case TOKENS, WATTS, TOKENS_PER_J, NUMBER -> "a plain number";
        };
    boolean isTime = !unit.isEmpty() && !unit.equals("%") && !unit.equals("/s");
    int decimals = figure.unit() == Unit.MILLIS ? 6 : figure.unit() == Unit.SECONDS ? 9 : 0;
    if (!unit.isEmpty() && !unit.equals(allowed) && !(isTime && decimals > 0)) {
      throw new IllegalArgumentException(
          "'%s' is not a unit of %s; expected %s".formatted(unit, figure.name(), allowed));
    }
    return isTime
        ? number
            .multiply(BigDecimal.valueOf(DurationText.unitNanos(unit)))
            .movePointLeft(decimals)
            .doubleValue()
        : number.doubleValue();
  }

  /**
   * An assertion and its result, in Gatling's words.
   *
   * @param value the value of the figure; null where there is none: the assertion then fails
   * @param note a remark on the value, or why there is none; null for none
   */
  @JsonPropertyOrder({"text", "expected", "actual", "ok", "note"})
  public record AssertionResult(
      @JsonIgnore String subject,
      @JsonIgnore Assertion assertion,
      @JsonIgnore Unit unit,
      @JsonIgnore @Nullable Double value,
      @Nullable String note) {

    private static final int DIGITS = 4;
    private static final int MAX_DIGITS = 15;

    /** The same with the number of checks that make the run invalid, if it requires that. */
    public AssertionResult withInvalid(List<String> ids) {
      return assertion.scope() != Objectives.Scope.RUN
          ? this
          : new AssertionResult(
              subject,
              assertion,
              unit,
              (double) ids.size(),
              ids.isEmpty() ? null : String.join(", ", ids));
    }

    @JsonProperty
    public boolean ok() {
      return value != null && assertion.holds(value);
    }

    /** The complete sentence, e.g. {@code Global: 99th percentile of TTFT is less than 200.0}. */
    @JsonProperty
    public String text() {
      return subject + " " + assertion.conditionText();
    }

    /** The demand with its unit, e.g. {@code < 200 ms}. */
    @JsonProperty
    public String expected() {
      List<Double> values = assertion.values();
      return assertion.condition().sign()
          + " "
          + switch (assertion.condition()) {
            case BETWEEN, BETWEEN_EXCLUSIVE -> with(values.get(0)) + " to " + with(values.get(1));
            case IN -> values.stream().map(this::with).collect(Collectors.joining(", "));
            default -> with(values.get(0));
          };
    }

    /** The value with its unit, e.g. {@code 169.4 ms}; null where there is none. */
    @JsonProperty
    public @Nullable String actual() {
      Double shown = shown();
      return shown == null ? null : with(shown);
    }

    /** The line that Gatling prints on its console, with units and the note. */
    public String line() {
      Double shown = shown();
      String sign = unit.sign().isEmpty() ? "" : " " + unit.sign();
      String given =
          shown == null
              ? note == null ? "no value" : note
              : "actual : " + shown + sign + (note == null ? "" : ", " + note);
      return text() + sign + " : " + ok() + " (" + given + ")";
    }

    /** Rounded, but not so far that it contradicts the result: 199.96 stays below 200. */
    private @Nullable Double shown() {
      if (value == null || value == Math.rint(value)) {
        return value;
      }
      for (int digits = DIGITS; digits < MAX_DIGITS; digits++) {
        double rounded = new BigDecimal(value).round(new MathContext(digits)).doubleValue();
        if (assertion.holds(rounded) == ok()) {
          return rounded;
        }
      }
      return value;
    }

    private String with(double number) {
      BigDecimal digits = BigDecimal.valueOf(number).stripTrailingZeros();
      String plain = String.format(Locale.ROOT, "%,." + Math.max(0, digits.scale()) + "f", digits);
      return unit.sign().isEmpty() ? plain : plain + " " + unit.sign();
    }
  }
}
