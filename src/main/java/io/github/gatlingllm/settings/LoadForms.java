package io.github.gatlingllm.settings;

import io.github.gatlingllm.load.Arrivals;
import io.github.gatlingllm.load.LoadLevel;
import io.github.gatlingllm.load.Trace;
import io.github.gatlingllm.load.VaryingRate;
import io.github.gatlingllm.record.DurationText;
import java.time.Duration;
import java.util.List;
import java.util.function.LongToDoubleFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The forms of the settings {@code arrival} and {@code rate}. */
public final class LoadForms {

  private LoadForms() {}

  private static final Form<List<Double>> RATES =
      Form.list("", Form.decimal("", Double.MIN_VALUE, Double.MAX_VALUE).parser())
          .map(list -> Form.distinct(list, "level"));

  private static final Pattern GAMMA = Pattern.compile("gamma:(\\d{1,3}(?:\\.\\d{1,9})?)");
  private static final Pattern TRACE =
      Pattern.compile("trace:(.+?)(?:@(\\d{1,9}(?:\\.\\d{1,9})?))?");
  private static final Pattern SEGMENT =
      Pattern.compile("\\s*(\\d{1,7}(?:\\.\\d{1,9})?):(" + DurationText.FORM + ")\\s*");

  private static final String STEPS = "steps:";

  /** A plan counts the requests of a curve one by one. */
  private static final double MAX_REQUESTS = 1e8;

  private static final double MAX_DAYS = 31;

  /** The arrival process; its rate and seed are placeholders, except those of a trace. */
  static Arrivals arrival(String text) {
    Matcher gamma = GAMMA.matcher(text);
    Matcher trace = TRACE.matcher(text);
    if (text.equalsIgnoreCase("poisson")) {
      return Arrivals.poisson(1, 0);
    }
    if (text.equalsIgnoreCase("constant")) {
      return Arrivals.constant(1);
    }
    if (gamma.matches()) {
      double cv = Double.parseDouble(gamma.group(1));
      if (cv > 0 && cv <= 100) {
        return Arrivals.gamma(1, cv, 0);
      }
    } else if (trace.matches()) {
      String speed = trace.group(2);
      return Trace.read(trace.group(1), speed == null ? 1 : Double.parseDouble(speed));
    }
    throw new IllegalArgumentException(
        "expected poisson, constant, gamma:<cv> with a cv > 0 and ≤ 100, or"
            + " trace:<file>[@1s|@1ms][@<speed>]");
  }

  public static boolean isCurve(List<LoadLevel.Open> levels) {
    return levels.stream().anyMatch(level -> level.arrivals() instanceof VaryingRate);
  }

  public static boolean isTrace(@Nullable Arrivals arrivals) {
    return arrivals instanceof Trace;
  }

  static List<LoadLevel.Open> rates(String text) {
    if (!text.contains(":")) {
      return RATES.parser().apply(text).stream().map(LoadLevel.Open::steady).toList();
    }
    RateCurve curve = curve(text);
    return List.of(LoadLevel.Open.curve(curve, curve.lengthNanos()));
  }

  private static RateCurve curve(String text) {
    boolean steps = text.startsWith(STEPS);
    List<Segment> segments =
        Stream.of(text.substring(steps ? STEPS.length() : 0).split(",", -1))
            .map(LoadForms::segment)
            .toList();
    if (segments.stream().allMatch(segment -> segment.perSecond() == 0)) {
      throw new IllegalArgumentException("offers no request; expected a rate > 0 somewhere");
    }
    RateCurve curve = new RateCurve(segments, steps);
    double days = segments.stream().mapToDouble(each -> each.duration().toDays()).sum();
    if (days > MAX_DAYS || curve.maxRequests() > MAX_REQUESTS) {
      throw new IllegalArgumentException("expected at most 31 days and 100,000,000 requests");
    }
    return curve;
  }

  private static Segment segment(String text) {
    Matcher form = SEGMENT.matcher(text);
    if (form.matches()) {
      Duration duration = Form.durationOf(form.group(2));
      double rate = Double.parseDouble(form.group(1));
      if (!duration.isZero() && rate <= 1e6) {
        return new Segment(rate, duration);
      }
    }
    throw new IllegalArgumentException(
        "expected a curve of <rate>:<duration> such as 0:60s,10:120s,50:60s or"
            + " steps:10:60s,50:60s");
  }

  /** In each segment the rate changes linearly to that of the next; the last keeps its own. */
  private record RateCurve(List<Segment> segments, boolean steps) implements LongToDoubleFunction {

    /** The rate at a number of nanoseconds since the start; after the end, the last rate. */
    @Override
    public double applyAsDouble(long sinceStart) {
      long rest = sinceStart;
      for (int i = 0; i < segments.size(); i++) {
        long nanos = segments.get(i).duration().toNanos();
        if (rest < nanos) {
          double from = segments.get(i).perSecond();
          return from + (end(i) - from) * rest / nanos;
        }
        rest -= nanos;
      }
      return end(segments.size() - 1);
    }

    /** As if each segment kept the higher of its rates. */
    private double maxRequests() {
      double sum = 0;
      for (int i = 0; i < segments.size(); i++) {
        Segment each = segments.get(i);
        sum += Math.max(each.perSecond(), end(i)) * each.duration().toMillis() / 1e3;
      }
      return sum;
    }

    long lengthNanos() {
      return segments.stream().mapToLong(segment -> segment.duration().toNanos()).sum();
    }

    private double end(int index) {
      return segments.get(steps ? index : Math.min(index + 1, segments.size() - 1)).perSecond();
    }
  }

  private record Segment(double perSecond, Duration duration) {}
}
