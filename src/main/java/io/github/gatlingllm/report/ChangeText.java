package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.compare.Comparison;
import io.github.gatlingllm.figures.compare.Comparison.Change;
import io.github.gatlingllm.figures.compare.Comparison.ComparedPlace;
import io.github.gatlingllm.figures.compare.Comparison.FailCondition;
import io.github.gatlingllm.figures.compare.Comparison.Judged;
import io.github.gatlingllm.figures.compare.Comparison.Outcome;
import io.github.gatlingllm.figures.compare.Comparison.Step;
import io.github.gatlingllm.figures.metric.Distribution.Interval;
import io.github.gatlingllm.figures.metric.Figure;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.figures.metric.Sentence;
import io.github.gatlingllm.report.Table.CellKind;
import io.github.gatlingllm.report.Table.TableCell;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Texts about changes, the same on the page, in {@code compare.md} and on the console. */
final class ChangeText {

  private static final int MAX_NAMED = 3;
  private static final double WIDE = 1_000;

  private ChangeText() {}

  static String value(Change change, @Nullable Double value) {
    return NumberText.with(value, change.figure().unit().sign());
  }

  /** The size of the change, e.g. {@code +12.3 %} or {@code −1.5 points}. */
  static String by(Change change) {
    Double percent = change.percent();
    return percent == null ? NumberText.ABSENT : signed(percent) + unitOf(change.figure());
  }

  private static String unitOf(Figure figure) {
    return figure.unit() == Metric.Unit.PERCENT ? " points" : " %";
  }

  static String interval(Change change) {
    Interval interval = change.interval();
    return interval == null
        ? NumberText.ABSENT
        : Sentence.text(
            "compare.ends", end(interval.low()), end(interval.high()), unitOf(change.figure()));
  }

  /** An end of an interval; above {@value #WIDE} % it is the same for all changes. */
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

  /** E.g. {@code ▲ worse}, in its colour. */
  static TableCell verdict(Change change) {
    return switch (change.outcome()) {
      case BETTER -> new TableCell(Sentence.text("compare.better"), CellKind.BETTER);
      case WORSE -> new TableCell(Sentence.text("compare.worse"), CellKind.WORSE);
      case NO_CLEAR_CHANGE, TOO_FEW_VALUES, NOT_JUDGED, NO_VALUES_TO_JUDGE_BY ->
          new TableCell(change.outcome().words(), CellKind.UNCHANGED);
    };
  }

  /** E.g. {@code ▲ worse +12.3 %}. */
  static String words(Change change) {
    return verdict(change).text() + " " + by(change);
  }

  /** The value of a run, in the colour of its change where that is clear. */
  static TableCell cell(Figure figure, Step step) {
    String value = NumberText.with(figure.of(step.figures()), figure.unit().sign());
    Change change = step.clear(figure);
    return change == null ? TableCell.figure(value) : new TableCell(value, verdict(change).kind());
  }

  /** The gates that failed, then the clear changes. */
  static List<Sentence> verdict(Comparison comparison, List<Judged> judged) {
    Sentence worse = list(comparison, Outcome.WORSE);
    Sentence better = list(comparison, Outcome.BETTER);
    List<Sentence> all = new ArrayList<>(failed(judged));
    all.add(
        worse == null && better == null
            ? unclear(comparison)
            : Sentence.of("compare.changes", worse, better));
    return all;
  }

  /** Which gates failed, e.g. {@code Failed: ttft.p95>+10% (c=2, c=8).}; none if all passed. */
  private static List<Sentence> failed(List<Judged> all) {
    Map<String, List<String>> places = new LinkedHashMap<>();
    for (Judged judged : all) {
      if (judged.hasFailed()) {
        places
            .computeIfAbsent(judged.condition().text(), text -> new ArrayList<>())
            .add(String.valueOf(judged.place() == null ? judged.missing() : judged.place()));
      }
    }
    List<Sentence> gates =
        places.entrySet().stream()
            .map(gate -> Sentence.of("compare.gate", gate.getKey(), gate.getValue()))
            .toList();
    return gates.isEmpty() ? List.of() : List.of(Sentence.of("compare.failed", gates));
  }

  private static Sentence unclear(Comparison comparison) {
    List<Change> all = comparison.places().stream().flatMap(at -> at.changes().stream()).toList();
    if (all.stream().anyMatch(c -> c.outcome() == Outcome.NO_VALUES_TO_JUDGE_BY)) {
      return Sentence.of("compare.no_values");
    }
    long few = all.stream().filter(c -> c.outcome() == Outcome.TOO_FEW_VALUES).count();
    return Sentence.of("compare.unclear", few, all.size(), few == all.size());
  }

  /** The clear changes by load level; the pooled ones only of figures that no level lists. */
  private static @Nullable Sentence list(Comparison comparison, Outcome outcome) {
    Map<String, List<String>> byPlace = new LinkedHashMap<>();
    Set<String> listed = new HashSet<>();
    List<ComparedPlace> places = new ArrayList<>(comparison.places());
    Collections.rotate(places, -1); // the pooled place is the first
    for (ComparedPlace place : places) {
      for (Change change : place.changes()) {
        String figure = change.figure().name();
        if (change.outcome() == outcome && (place.level() != null || !listed.contains(figure))) {
          listed.add(figure);
          byPlace
              .computeIfAbsent(place.name(), name -> new ArrayList<>())
              .add(figure + " " + by(change));
        }
      }
    }
    List<Sentence> lists =
        byPlace.entrySet().stream()
            .map(
                at ->
                    Sentence.of(
                        "compare.place",
                        at.getKey(),
                        at.getValue().stream().limit(MAX_NAMED).toList(),
                        Math.max(0, at.getValue().size() - MAX_NAMED)))
            .toList();
    return lists.isEmpty() ? null : Sentence.of("compare.places", outcome.words(), lists);
  }

  /** The result of a gate: {@code passed: ttft.p95 −78.7 %, limit +10 %, at c=8 (better, …)}. */
  static Sentence judged(Judged judged) {
    Change change = judged.change();
    return Sentence.of(
        "compare.judged",
        judged.hasFailed(),
        judged.condition().figure().toString(),
        change == null ? null : by(change),
        limit(judged.condition()),
        judged.place(),
        change == null ? judged.missing() : why(change, judged));
  }

  private static Sentence why(Change change, Judged judged) {
    String outcome = change.outcome().words();
    return judged.hasTooFewValues() && judged.hasFailed()
        ? Sentence.of("compare.thin", outcome)
        : Sentence.of(
            "compare.interval",
            outcome,
            judged.hasTooFewValues() || change.interval() == null ? null : interval(change));
  }

  private static String limit(FailCondition gate) {
    String sign = gate.percent() > 0 ? "+" : "";
    return sign + NumberText.plain(gate.percent()).replace('-', '−') + unitOf(gate.figure());
  }
}
