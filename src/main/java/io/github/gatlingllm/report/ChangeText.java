package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.compare.Comparison;
import io.github.gatlingllm.figures.compare.Comparison.Change;
import io.github.gatlingllm.figures.compare.Comparison.FailCondition.Judged;
import io.github.gatlingllm.figures.compare.Comparison.Outcome;
import io.github.gatlingllm.figures.compare.Comparison.Place;
import io.github.gatlingllm.figures.metric.Distribution.Interval;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.figures.metric.Sentences;
import io.github.gatlingllm.report.ComparePage.Compared;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Texts about changes, the same on the page, in {@code compare.md} and on the console. */
final class ChangeText {

  static final String RULE =
      "A figure is better or worse where its interval excludes no change and the change is at least"
          + " 3 % (for a share 1 percentage point, for a time also 0.1 ms). The intervals are"
          + " simultaneous: with 95 % confidence all of them hold, whatever the number of figures"
          + " and runs. They come from a bootstrap over blocks of neighbouring time slices, because"
          + " requests that share a queue are not independent. They cover the noise within a run,"
          + " not the noise between days or machines.";

  private static final int MAX_NAMED = 3;
  private static final double WIDE = 1_000;

  private ChangeText() {}

  static String value(Change change, @Nullable Double value) {
    return NumberText.with(value, change.figure().unit().sign());
  }

  /** The size of the change, e.g. {@code +12.3 %} or {@code −1.5 points}. */
  static String by(Change change) {
    Double percent = change.percent();
    return percent == null ? NumberText.ABSENT : signed(percent) + unitOf(change);
  }

  private static String unitOf(Change change) {
    return change.inPoints() ? " points" : " %";
  }

  static String interval(Change change) {
    Interval interval = change.interval();
    return interval == null
        ? NumberText.ABSENT
        : end(interval.low()) + " to " + end(interval.high()) + unitOf(change);
  }

  /** An end of an interval; changes above {@value #WIDE} % are not told apart. */
  private static String end(double percent) {
    return percent > WIDE ? "> " + signed(WIDE) : signed(percent);
  }

  private static String signed(double percent) {
    double tenths = Math.round(percent * 10) / 10.0;
    if (tenths == 0) {
      return "0";
    }
    String digits =
        Math.abs(tenths) >= 1000
            ? NumberText.number(tenths)
            : Double.toString(tenths).replace('-', '−');
    return (tenths > 0 ? "+" : "") + digits;
  }

  static String outcome(Outcome outcome) {
    return switch (outcome) {
      case BETTER -> "✓ better";
      case WORSE -> "▲ worse";
      case NO_CLEAR_CHANGE, TOO_FEW, NOT_JUDGED -> outcome.words();
    };
  }

  /** A run's verdict in a sentence. */
  static String verdict(Compared other) {
    if (other.comparison().places().isEmpty()) {
      return "No load level is in both runs, so there is nothing to compare.";
    }
    String failed = failed(other);
    String changes =
        Stream.of(Outcome.WORSE, Outcome.BETTER)
            .map(outcome -> list(other.comparison(), outcome))
            .filter(part -> !part.isEmpty())
            .collect(Collectors.joining("; "));
    return changes.isEmpty()
        ? failed + (failed.isEmpty() ? "No clear change." : "No change is clearly more than noise.")
        : failed + Sentences.capital(changes) + ".";
  }

  /** Which conditions failed, e.g. {@code Failed: ttft.p95>+10% (+12.3 %).}; empty for none. */
  private static String failed(Compared other) {
    String failed =
        other.judged().stream()
            .filter(Judged::hasFailed)
            .map(
                judged ->
                    "%s (%s)"
                        .formatted(
                            judged.condition().text(),
                            judged.change() == null ? judged.missing() : by(judged.change())))
            .collect(Collectors.joining(", "));
    return failed.isEmpty() ? "" : "Failed: " + failed + ". ";
  }

  private static String list(Comparison comparison, Outcome outcome) {
    List<String> all = new ArrayList<>();
    for (Place place : comparison.places()) {
      for (Change change : place.changes()) {
        if (change.outcome() == outcome) {
          all.add("%s %s (%s)".formatted(change.figure().name(), by(change), place.name()));
        }
      }
    }
    int more = all.size() - MAX_NAMED;
    return all.isEmpty()
        ? ""
        : outcome.words()
            + ": "
            + String.join(", ", all.subList(0, Math.min(MAX_NAMED, all.size())))
            + (more > 0 ? " and " + more + " more" : "");
  }

  static String judged(Judged judged) {
    Change change = judged.change();
    return "%s : %s (%s)"
        .formatted(
            judged.condition().text(),
            judged.hasFailed() ? "failed" : "held",
            change == null
                ? judged.missing()
                : "measured %s, interval %s, %s"
                    .formatted(by(change), interval(change), change.outcome().words()));
  }
}
