package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.metric.Figure;
import io.github.gatlingllm.figures.metric.Figure.AssertionResult;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.Figures.Goodput;
import io.github.gatlingllm.figures.metric.Figures.GoodputResult;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.record.Objectives;
import io.github.gatlingllm.record.Objectives.Assertion;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Judges assertions; one fails without a value, and where no such request was sent. */
record AssertionJudge(
    FigureGroups parts, Function<@Nullable String, @Nullable GoodputResult> maxGoodput) {

  private static final int MAX_NAMED = 5;

  List<AssertionResult> judge(List<Assertion> assertions) {
    return assertions.stream().flatMap(this::results).toList();
  }

  private Stream<AssertionResult> results(Assertion assertion) {
    String target = assertion.target();
    Predicate<LevelWindow> ofTarget = FigureGroups.of(target);
    String name = String.valueOf(assertion.name());
    List<String> requests = parts.requests(target);
    return switch (assertion.scope()) {
      case RUN -> Stream.of(result(assertion, "Global", null, "the checks were not judged"));
      case GLOBAL -> Stream.of(one(assertion, place("Global", target), target, ofTarget, null));
      case REQUEST ->
          requests.contains(name)
              ? Stream.of(one(assertion, place(name, target), target, ofTarget, name))
              : Stream.of(none(assertion, "no request is called", requests));
      case EVERY_REQUEST ->
          requests.isEmpty()
              ? Stream.of(result(assertion, place("For all", target), null, "no request was sent"))
              : requests.stream()
                  .map(each -> one(assertion, place(each, target), target, ofTarget, each));
      case STAGE ->
          levels(assertion, parts.runLevels().firstRepeats().stream().filter(ofTarget).toList());
    };
  }

  private Stream<AssertionResult> levels(Assertion assertion, List<LevelWindow> all) {
    List<LevelWindow> named =
        all.stream().filter(level -> level.joined().label().equals(assertion.name())).toList();
    if (named.isEmpty()) {
      List<String> labels = all.stream().map(level -> level.joined().label()).toList();
      return Stream.of(none(assertion, "no load level is called", labels));
    }
    return named.stream()
        .map(
            level -> {
              String place = parts.runLevels().place(level.joined());
              return one(assertion, place, level.target(), level.repeats::contains, null);
            });
  }

  private AssertionResult one(
      Assertion assertion,
      String subject,
      @Nullable String target,
      Predicate<LevelWindow> levels,
      @Nullable String name) {
    Figure figure = Figure.parse(assertion.figure());
    GoodputResult max =
        assertion.scope() == Objectives.Scope.GLOBAL ? maxGoodput.apply(target) : null;
    Pooled group =
        parts.joined(levels, name == null ? null : part -> part.key(Grouping.REQUEST).equals(name));
    Figures figures = group.figures(parts.slo(target), false, null, max, List.of());
    Double value = figure.of(figures, group::values);
    String note = value == null ? noValue(figures) : note(figure, figures, group, value);
    return result(assertion, subject, value, note);
  }

  private static String noValue(Figures figures) {
    Goodput goodput = figures.goodput();
    String undefined = goodput == null ? null : goodput.undefined();
    return undefined == null ? "no value" : "no value: " + undefined;
  }

  /** The value from schedule where it differs, and a remark where few values lie beyond it. */
  private static @Nullable String note(Figure figure, Figures figures, Pooled group, double value) {
    List<String> notes = new ArrayList<>();
    Metric other = figure.metric().fromSchedule();
    if (other != figure.metric()) {
      String name = other.figure() + figure.name().substring(figure.metric().figure().length());
      Double scheduled = Figure.parse(name).of(figures, group::values);
      if (scheduled != null && LoadCurve.isLater(value, scheduled)) {
        notes.add("from admission; from schedule, as the SLO counts, " + NumberText.ms(scheduled));
      }
    }
    Long lowN = figure.lowN(figures);
    if (lowN != null) {
      notes.add("low n: fewer than 10 of " + NumberText.count(lowN) + " values lie beyond it");
    }
    return notes.isEmpty() ? null : String.join("; ", notes);
  }

  private AssertionResult none(Assertion assertion, String reason, List<String> names) {
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
    String note = reason + " '" + name + "'" + there;
    return result(assertion, place(name, assertion.target()), null, note);
  }

  private static AssertionResult result(
      Assertion assertion, String whose, @Nullable Double value, @Nullable String note) {
    Figure figure = Figure.parse(assertion.figure());
    String tier = assertion.tier() == null ? "" : ", tier " + assertion.tier();
    return new AssertionResult(
        whose + tier + ": " + figure.words(), assertion, figure.unit(), value, note);
  }

  /** The subject, with its target where the run has several. */
  private String place(String subject, @Nullable String target) {
    return target == null || parts.runLevels().targets().size() < 2
        ? subject
        : subject + " of " + target;
  }
}
