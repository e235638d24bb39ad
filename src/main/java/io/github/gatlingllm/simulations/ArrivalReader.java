package io.github.gatlingllm.simulations;

import io.github.gatlingllm.load.Arrivals;
import io.github.gatlingllm.load.Arrivals.Gaps;
import io.github.gatlingllm.load.Trace;
import io.github.gatlingllm.simulations.RateCurve.Segment;
import java.math.BigDecimal;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads how open load arrives: {@code llm.arrival}, and {@code llm.rate} where it is a curve. */
record ArrivalReader(Settings settings) {

  private static final Pattern GAMMA = Pattern.compile("gamma:(\\d{1,3}(?:\\.\\d{1,9})?)");
  private static final Pattern TRACE =
      Pattern.compile("trace:(.+?)(?:@(\\d{1,9}(?:\\.\\d{1,9})?))?");
  private static final Pattern SEGMENT =
      Pattern.compile("\\s*(\\d{1,7}(?:\\.\\d{1,9})?):([0-9.]+(?:ms|s|m|h)?)\\s*");

  /** The gaps between arrivals, without their seed; null where none are said. */
  @Nullable Gaps gaps() {
    String text = settings.text(Setting.ARRIVAL);
    if (text == null || TRACE.matcher(text).matches()) {
      return null;
    }
    if (text.equalsIgnoreCase("poisson")) {
      return new Gaps.Exponential(0);
    }
    if (text.equalsIgnoreCase("constant")) {
      return new Gaps.Equal();
    }
    Matcher gamma = GAMMA.matcher(text);
    double cv = gamma.matches() ? Double.parseDouble(gamma.group(1)) : 0;
    if (cv > 0 && cv <= 100) {
      return new Gaps.Gamma(cv, 0);
    }
    throw settings.invalid(
        Setting.ARRIVAL,
        "expected poisson, constant, gamma:<cv> with a cv > 0 and ≤ 100, or"
            + " trace:<file>[@<speed>]");
  }

  /** The traffic to replay; null where there is none. */
  Arrivals.@Nullable Replay replay() {
    String text = settings.text(Setting.ARRIVAL);
    Matcher trace = TRACE.matcher(text == null ? "" : text);
    if (!trace.matches()) {
      return null;
    }
    String speed = trace.group(2);
    try {
      return new Arrivals.Replay(
          Trace.read(Path.of(trace.group(1))), speed == null ? 1 : Double.parseDouble(speed));
    } catch (InvalidPathException e) {
      throw settings.invalid(Setting.ARRIVAL, "expected a path to a readable file");
    } catch (IllegalArgumentException e) {
      throw settings.invalid(Setting.ARRIVAL, String.valueOf(e.getMessage()));
    }
  }

  /** The curve that {@code llm.rate} describes; null where it is none. */
  @Nullable RateCurve curve() {
    String text = settings.text(Setting.RATE);
    if (text == null || !text.contains(":")) {
      return null;
    }
    List<Segment> segments = new ArrayList<>();
    for (String part : text.split(",", -1)) {
      segments.add(segment(part));
    }
    if (segments.stream().allMatch(segment -> segment.perSecond() == 0)) {
      throw settings.invalid(Setting.RATE, "offers no request; expected a rate > 0 somewhere");
    }
    return new RateCurve(segments);
  }

  private Segment segment(String text) {
    Matcher form = SEGMENT.matcher(text);
    try {
      if (form.matches()) {
        Duration duration = TypedSettings.durationOf(form.group(2));
        double rate = new BigDecimal(form.group(1)).doubleValue();
        if (!duration.isZero() && rate <= 1e6) {
          return new Segment(rate, duration);
        }
      }
    } catch (IllegalArgumentException e) {
      // Said below, as everything that is no segment.
    }
    throw settings.invalid(
        Setting.RATE, "expected a curve of <rate>:<duration> such as 0:60s,10:120s,50:60s");
  }
}
