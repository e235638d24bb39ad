package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.metric.Figure;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.Figures.Goodput;
import io.github.gatlingllm.figures.metric.Figures.MaxGoodput;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.Metric.Unit;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.record.Objectives.Assertion;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Judges assertions by the figures of their requests. An assertion fails where the figure has no
 * value, and where no such request was sent.
 */
final class AssertionJudge {

  private static final int MAX_NAMED = 5;

  private final FigureGroups parts;
  private final Function<@Nullable String, @Nullable MaxGoodput> maxGoodput;
  private final List<AssertionResult> results = new ArrayList<>();

  AssertionJudge(FigureGroups parts, Function<@Nullable String, @Nullable MaxGoodput> maxGoodput) {
    this.parts = parts;
    this.maxGoodput = maxGoodput;
  }

  List<AssertionResult> judge(List<Assertion> assertions) {
    assertions.forEach(this::judge);
    return List.copyOf(results);
  }

  private void judge(Assertion assertion) {
    Figure figure = Figure.parse(assertion.figure());
    String target = assertion.target();
    String name = String.valueOf(assertion.name());
    switch (assertion.scope()) {
      case RUN -> add(assertion, figure, "Global", null, "the checks were not judged");
      case GLOBAL -> one(assertion, figure, place("Global", target), target, null, null);
      case REQUEST -> {
        if (parts.requests(target).contains(name)) {
          one(assertion, figure, place(name, target), target, null, name);
        } else {
          none(assertion, figure, "no request is called", parts.requests(target));
        }
      }
      case EVERY_REQUEST -> {
        for (String each : parts.requests(target)) {
          one(assertion, figure, place(each, target), target, null, each);
        }
        if (parts.requests(target).isEmpty()) {
          add(assertion, figure, place("For all", target), null, "no request was sent");
        }
      }
      case STAGE -> stages(assertion, figure);
    }
  }

  private void stages(Assertion assertion, Figure figure) {
    List<LevelTally> all =
        parts.levels().stream().filter(FigureGroups.of(assertion.target())).toList();
    List<LevelTally> named =
        all.stream().filter(level -> level.info().label().equals(assertion.name())).toList();
    for (LevelTally level : named) {
      one(
          assertion,
          figure,
          parts.runLevels().place(level.info()),
          level.target(),
          level::equals,
          null);
    }
    if (named.isEmpty()) {
      none(
          assertion,
          figure,
          "no load level is called",
          all.stream().map(level -> level.info().label()).toList());
    }
  }

  private void one(
      Assertion assertion,
      Figure figure,
      String subject,
      @Nullable String target,
      @Nullable Predicate<LevelTally> level,
      @Nullable String name) {
    boolean all = level == null && name == null;
    GroupTally group = parts.joined(level == null ? FigureGroups.of(target) : level, name);
    Figures figures =
        group.figures(parts.judge(target), null, all ? maxGoodput.apply(target) : null);
    Double value = figure.of(figures, group::recorder);
    add(
        assertion,
        figure,
        subject,
        value,
        value == null ? noValue(figures) : note(figure, figures, group, value));
  }

  private static String noValue(Figures figures) {
    Goodput goodput = figures.goodput();
    String undefined = goodput == null ? null : goodput.undefined();
    return undefined == null ? "no value" : "no value: " + undefined;
  }

  /** The value from schedule where it differs, and a remark where few values lie beyond it. */
  private static @Nullable String note(
      Figure figure, Figures figures, GroupTally group, double value) {
    List<String> notes = new ArrayList<>();
    Metric other = figure.metric().fromSchedule();
    if (other != figure.metric()) {
      String name = other.figure() + figure.name().substring(figure.metric().figure().length());
      Double scheduled = Figure.parse(name).of(figures, group::recorder);
      if (scheduled != null && LatencyOrigin.differs(value, scheduled)) {
        notes.add("from admission; from schedule, as the SLO counts, " + NumberText.ms(scheduled));
      }
    }
    Long lowN = figure.lowN(figures);
    if (lowN != null) {
      notes.add(
          String.format(Locale.ROOT, "low n: fewer than 10 of %,d values lie beyond it", lowN));
    }
    return notes.isEmpty() ? null : String.join("; ", notes);
  }

  private void none(Assertion assertion, Figure figure, String reason, List<String> names) {
    List<String> distinct = names.stream().distinct().toList();
    String there =
        distinct.isEmpty()
            ? "; there is none"
            : distinct.stream()
                .limit(MAX_NAMED)
                .collect(
                    Collectors.joining(
                        ", ",
                        distinct.size() == 1 ? "; there is " : "; there are ",
                        distinct.size() > MAX_NAMED ? ", …" : ""));
    String name = String.valueOf(assertion.name());
    add(
        assertion,
        figure,
        place(name, assertion.target()),
        null,
        reason + " '" + name + "'" + there);
  }

  private void add(
      Assertion assertion,
      Figure figure,
      String whose,
      @Nullable Double value,
      @Nullable String note) {
    Unit unit = figure.unit();
    results.add(new AssertionResult(whose + ": " + figure.words(), assertion, unit, value, note));
  }

  /** The subject, with its target where the run has several. */
  private String place(String subject, @Nullable String target) {
    return target == null || parts.runLevels().targets().size() < 2
        ? subject
        : subject + " of " + target;
  }
}
