package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.metric.Distribution;
import io.github.gatlingllm.figures.metric.Distribution.Spread;
import io.github.gatlingllm.figures.metric.Figure;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.Metric.Unit;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.record.RunInfo.Keyed;
import io.github.gatlingllm.record.ServerSample.EngineMetric;
import io.github.gatlingllm.report.Table.TableCell;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A value that a column shows of a row: a field, or a figure of the row's requests.
 *
 * @param heading its name as the heading of a column
 * @param steps the accessors of a field, and of a field of it; empty for a figure
 * @param isOfRow whether it is a field of {@link Row} itself
 * @param isHeadline whether the figure counts from the schedule where headlines do
 */
record ColumnValue(
    String heading,
    List<Step> steps,
    boolean isOfRow,
    @Nullable Figure figure,
    boolean isHeadline) {

  /** e.g. {@code max(KV_CACHE_USE)}. */
  private static final Pattern STEP = Pattern.compile("([a-z]\\w*)(?:\\((\\w+)\\))?");

  private static final Pattern PERCENTILE = Pattern.compile("p\\d+");

  private record Step(Method accessor, @Nullable EngineMetric argument) {

    private @Nullable Object of(@Nullable Object holder) {
      try {
        return holder == null
            ? null
            : argument == null ? accessor.invoke(holder) : accessor.invoke(holder, argument);
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException("Cannot read " + accessor, e);
      }
    }
  }

  /**
   * The field of {@code own}, else of {@link Row}, else the figure of that name.
   *
   * @throws IllegalArgumentException with one line if there is none
   */
  static ColumnValue of(String name, Class<?> own) {
    List<Step> steps = steps(name, own);
    if (!steps.isEmpty()) {
      return new ColumnValue(name, steps, false, null, false);
    }
    List<Step> common = steps(name, Row.class);
    return common.isEmpty() ? ofFigures(name) : new ColumnValue(name, common, true, null, false);
  }

  static boolean isField(String name, Class<?> own) {
    return !steps(name, own).isEmpty() || !steps(name, Row.class).isEmpty();
  }

  private static List<Step> steps(String name, Class<?> holder) {
    List<Step> steps = new ArrayList<>();
    Class<?> type = holder;
    for (String part : name.split("\\.", -1)) {
      Matcher form = STEP.matcher(part);
      Step step = form.matches() ? step(type, form.group(1), form.group(2)) : null;
      if (step == null) {
        return List.of();
      }
      steps.add(step);
      type = step.accessor.getReturnType();
    }
    return steps;
  }

  private static @Nullable Step step(Class<?> type, String name, @Nullable String argument) {
    if (!type.isRecord()) {
      return null;
    }
    EngineMetric metric =
        Stream.of(EngineMetric.values())
            .filter(each -> each.name().equals(argument))
            .findFirst()
            .orElse(null);
    Class<?>[] parameters = metric == null ? new Class<?>[0] : new Class<?>[] {EngineMetric.class};
    return Stream.of(type.getDeclaredMethods(), type.getMethods())
        .flatMap(Arrays::stream)
        .filter(each -> each.getName().equals(name))
        .filter(each -> Arrays.equals(each.getParameterTypes(), parameters))
        .filter(each -> argument == null || metric != null)
        .findFirst()
        .map(
            found -> {
              found.setAccessible(true); // of records of this package
              return new Step(found, metric);
            })
        .orElse(null);
  }

  private static ColumnValue ofFigures(String name) {
    Figure figure = Figure.parse(name.startsWith("*") ? name.substring(1) : name);
    if (figure.percent() != null && !Figure.names().contains(figure.name())) {
      throw new IllegalArgumentException("'" + name + "' is a percentile that reports do not have");
    }
    Unit unit = figure.unit();
    boolean hasUnit = !unit.sign().isEmpty() && unit != Unit.PERCENT;
    String title =
        (figure.metric().title() + " " + statistic(figure).replace("percent", "")).strip();
    return new ColumnValue(
        title + (hasUnit ? ", " + unit.sign() : ""),
        List.of(),
        false,
        figure,
        name.startsWith("*"));
  }

  /** As in tables.txt; empty for a field. */
  String figureName() {
    return figure == null ? "" : (isHeadline ? "*" : "") + figure.name();
  }

  /** The formula of a figure; empty for a field. */
  String formula() {
    return figure == null ? "" : figure.metric().formula();
  }

  /** E.g. {@code p99}; empty for a single number. */
  private static String statistic(Figure figure) {
    String name = figure.name();
    int length = figure.metric().figure().length();
    return name.length() <= length ? "" : name.substring(length + 1);
  }

  private Figure figure(Figure of, Row row) {
    Metric shown = isHeadline ? row.run().headlineMetric(of.metric()) : of.metric();
    return shown == of.metric() ? of : Figure.parse(shown.figure() + "." + statistic(of));
  }

  boolean isLeftAligned() {
    Class<?> type = steps.isEmpty() ? Double.class : last().accessor.getReturnType();
    return type == String.class || (type.isRecord() && type != TableCell.class);
  }

  private Step last() {
    return steps.get(steps.size() - 1);
  }

  /** What the last accessor reads from. */
  private @Nullable Object holder(Row row) {
    Object holder = isOfRow ? row : row.own();
    for (Step step : steps.subList(0, steps.size() - 1)) {
      holder = step.of(holder);
    }
    return holder;
  }

  /** The value; null if absent. A share is from 0 to 1. */
  @Nullable Object of(Row row) {
    if (figure == null) {
      return last().of(holder(row));
    }
    Figures figures = row.figures();
    Double value = figures == null ? null : figure(figure, row).of(figures);
    return value == null || figure.unit() != Unit.PERCENT ? value : (Double) (value / 100);
  }

  @Nullable Double number(Row row) {
    Number number = (Number) of(row);
    return number == null ? null : (Double) number.doubleValue();
  }

  /** Whether a row has the value: it is present, not false and not empty. */
  boolean isIn(Row row) {
    Object value = of(row);
    return !(value == null
        || value.equals(false)
        || value.equals("")
        || (value instanceof Collection<?> all && all.isEmpty())
        || (value instanceof Map<?, ?> map && map.isEmpty()));
  }

  /** The value in its usual form. */
  TableCell cell(Row row) {
    if (figure == null) {
      String name = last().accessor.getName();
      boolean isPercentile = PERCENTILE.matcher(name).matches();
      return isPercentile && holder(row) instanceof Distribution values
          ? TableCell.percentile(values, name)
          : shown(
              isLeftAligned() ? Objects.requireNonNullElse(of(row), NumberText.ABSENT) : of(row));
    }
    Figures figures = row.figures();
    if (figure.percent() != null && figures != null) {
      return TableCell.percentile(figures.metric(figure(figure, row).metric()), statistic(figure));
    }
    return figure.unit() == Unit.PERCENT ? TableCell.percent((Double) of(row)) : shown(of(row));
  }

  private static TableCell shown(@Nullable Object value) {
    if (value instanceof TableCell cell) {
      return cell;
    }
    if (value instanceof Boolean is) {
      return TableCell.passed(is);
    }
    if (value instanceof Double number) {
      return TableCell.number(number);
    }
    if (value instanceof Number count) {
      return TableCell.count(count.longValue());
    }
    if (value instanceof Keyed keyed) {
      return TableCell.figure(keyed.key());
    }
    return value == null ? TableCell.figure(NumberText.ABSENT) : TableCell.words(value.toString());
  }

  /** Half the interval between repeats as a share of the figure; empty where there are none. */
  String spread(Row row) {
    Figures figures = row.figures();
    Spread spread =
        figure == null || figures == null ? null : figures.spread(figure(figure, row)::of);
    if (spread == null || spread.value() == 0) {
      return "";
    }
    double percent = 100 * spread.half() / spread.value();
    return String.format(Locale.ROOT, percent < 10 ? "±%.1f %%" : "±%.0f %%", percent);
  }
}
