package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.level.LoadCurve;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.level.Summary.WorkloadSummary;
import io.github.gatlingllm.figures.metric.Distribution;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.figures.metric.Sentence;
import io.github.gatlingllm.record.SelfTest;
import io.github.gatlingllm.record.StartCommand;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Workload and results in words, the same on the page, in text files and on the console. */
final class RunText {

  /** The fact from a self-test of the load generator on the run's machine. */
  static final String MEASUREMENT_ERROR = "measurement error";

  private RunText() {}

  /**
   * A row of a template, e.g. {@code requests} and {@code 100 started, …}.
   *
   * @param remark words beside the value; may be empty
   * @param formula of a figure; may be empty
   */
  record NamedText(String name, String value, String remark, String formula) {

    NamedText(String name, String value) {
      this(name, value, "", "");
    }
  }

  /** The rows of a template, with the columns of {@link NamedText} or the first of them. */
  static List<NamedText> rows(String template, Map<String, Object> values) {
    return Templates.rows(template, 4, values).stream()
        .map(
            row ->
                new NamedText(
                    row.get(0),
                    row.get(1),
                    row.size() < 3 ? "" : row.get(2),
                    row.size() < 4 ? "" : row.get(3)))
        .toList();
  }

  /** The facts of {@code facts.peb} or {@code head.peb}, without those that have no value. */
  static List<NamedText> facts(String template, Map<String, Object> values) {
    return rows(template, values).stream().filter(row -> !row.value().isEmpty()).toList();
  }

  static List<NamedText> facts(Summary summary) {
    List<LoadCurve> curves = summary.curves();
    LoadCurve curve = curves.size() == 1 ? curves.get(0) : null;
    LevelFigures level = curve == null ? null : curve.operatingLevel();
    Map<String, Object> values = new HashMap<>();
    values.put("summary", summary);
    values.put("curve", curve);
    values.put("figures", level == null ? summary.figures() : level.figures());
    values.put("engine", level == null ? null : level.serverMetrics());
    values.put("selfTest", StartCommand.of(summary.config()).alone("selfTest", "true"));
    return facts("facts", values);
  }

  static String fact(Summary summary, String name) {
    return facts(summary).stream()
        .filter(fact -> fact.name().equals(name))
        .map(NamedText::value)
        .findFirst()
        .orElse(NumberText.ABSENT);
  }

  /** What figures of the entire run pool, e.g. {@code all load levels}; may be empty. */
  static String pooledOver(Summary summary) {
    boolean hasLevels = summary.stages().stream().map(LevelFigures::label).distinct().count() > 1;
    boolean hasTargets = summary.hasSeveralTargets();
    boolean hasScenarios = summary.hasSeveralScenarios();
    return hasLevels || hasTargets || hasScenarios
        ? Sentence.text("pooled", hasLevels, hasTargets, hasScenarios)
        : "";
  }

  /** {@link #pooledOver} as a caption, e.g. {@code All load levels pooled.}; may be empty. */
  static String pooled(Summary summary) {
    String pooled = pooledOver(summary);
    return pooled.isEmpty() ? "" : Sentence.text("pooled.caption", pooled);
  }

  /** The self-test of a run that is one; null for other runs. */
  static @Nullable SelfTest ownSelfTest(Summary summary) {
    boolean isSelfTest = summary.config().containsKey(SelfTest.ENGINE);
    return isSelfTest && summary.selfTest() != null ? summary.selfTest().test() : null;
  }

  /** The highest load with errors within the bound; empty for runs other than a self-test. */
  static String ceiling(Summary summary) {
    SelfTest test = ownSelfTest(summary);
    return test == null ? "" : Templates.rows("ceiling", 1, Map.of("test", test)).get(0).get(0);
  }

  /** Lengths that arrived, and, where that adds something, the setting that requested them. */
  static String lengths(Summary summary, String setting) {
    WorkloadSummary workload = summary.workload();
    boolean isPrompt = setting.equals("promptTokens");
    Distribution tokens = isPrompt ? workload.promptTokens() : workload.outputTokens();
    if (tokens.isEmpty()) {
      return "";
    }
    Integer added = isPrompt ? workload.templateTokens() : null;
    int template = added == null || added > tokens.min() ? 0 : added;
    String requested = summary.config().getOrDefault("lengths", "");
    requested = summary.config().getOrDefault(setting, requested);
    boolean isKnown = isEach(tokens, 0, requested) || isEach(tokens, template, requested);
    Object withTemplate =
        template == 0
            ? null
            : isEach(tokens, 0) ? NumberText.number(tokens.p50()) : template + " more";
    return Sentence.text(
        "lengths", arrived(tokens, template), isKnown ? null : requested, withTemplate);
  }

  /** Median, mean and range of token counts; empty without values. */
  static String lengths(Distribution tokens) {
    return tokens.isEmpty() ? "" : arrived(tokens, 0).text();
  }

  private static boolean isEach(Distribution tokens, int less) {
    return length(tokens.min(), less).equals(length(tokens.max(), less));
  }

  private static boolean isEach(Distribution tokens, int less, String requested) {
    return isEach(tokens, less) && length(tokens.min(), less).replace(",", "").equals(requested);
  }

  private static String length(double tokens, int less) {
    return NumberText.number(tokens - less);
  }

  private static Sentence arrived(Distribution tokens, int less) {
    return Sentence.of(
        "lengths.arrived",
        isEach(tokens, less),
        length(tokens.p50(), less),
        length(tokens.mean(), less),
        length(tokens.min(), less),
        length(tokens.max(), less));
  }
}
