package io.github.gatlingllm.report;

import static java.util.stream.Collectors.joining;

import io.github.gatlingllm.figures.level.LoadCurve;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.level.Summary.RequestGroup;
import io.github.gatlingllm.figures.level.Summary.TierSummary;
import io.github.gatlingllm.figures.metric.Backlog.Queue;
import io.github.gatlingllm.figures.metric.EngineFigures;
import io.github.gatlingllm.figures.metric.EngineFigures.Gpu;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.Figures.GoodputResult;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.record.LevelInfo.HookCall;
import io.github.gatlingllm.record.ServerSample.EngineMetric;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.BinaryOperator;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What a row of a table is about. The columns of {@code tables.txt} show fields of {@code own},
 * fields of this class, and figures.
 *
 * @param summary of the run; null for what is drawn without one, such as points of charts
 * @param group heading of several rows; empty for none
 * @param anchor of the part of the page that is about it; empty for none
 * @param level where it was measured; null for several levels together
 * @param own what it has beside figures, e.g. a trial
 */
record Row(
    @Nullable Summary summary,
    String name,
    String group,
    String anchor,
    @Nullable LevelFigures level,
    @Nullable LoadCurve curve,
    @Nullable Figures figures,
    @Nullable Object own) {

  static Row of(Object own) {
    return new Row(null, "", "", "", null, null, null, own);
  }

  static Row of(Summary summary, String name, Object own) {
    return new Row(summary, name, "", "", null, null, own instanceof Figures of ? of : null, own);
  }

  static Row of(Summary summary, LevelFigures level) {
    return at(summary, level, summary.place(level.info()), level);
  }

  /** Something that a load level has several of, or what describes the level. */
  static Row at(Summary summary, LevelFigures level, String name, Object own) {
    return new Row(summary, name, "", "", level, null, level.figures(), own);
  }

  static Row of(Summary summary, ShownLevels.ShownLevel level) {
    LoadCurve curve = level.curve();
    return new Row(
        summary,
        level.stage().label(),
        summary.curves().size() > 1 ? summary.name(curve) : "",
        "level" + level.suffix(),
        level.stage(),
        curve,
        level.stage().figures(),
        level.stage());
  }

  static Row of(Summary summary, LoadCurve curve) {
    LevelFigures level = curve.operatingLevel();
    return of(summary, new RequestGroup(summary.name(curve), curve, level.figures()), "");
  }

  static Row of(Summary summary, RequestGroup part, String anchor) {
    LevelFigures level = part.curve().operatingLevel();
    Figures figures = part.figures();
    return new Row(summary, part.name(), "", anchor, level, part.curve(), figures, figures);
  }

  static Row of(Summary summary, RequestGroup request) {
    int curve = summary.curves().indexOf(request.curve());
    return of(summary, request, anchor(request.name()) + (curve == 0 ? "" : "-" + curve));
  }

  /** The anchor of a request's metrics in {@code llm.html}; Gatling's pages link to it. */
  static String anchor(String requestName) {
    return "request-" + String.format(Locale.ROOT, "%08x", requestName.hashCode());
  }

  Summary run() {
    return Objects.requireNonNull(summary);
  }

  String at() {
    return level == null ? NumberText.ABSENT : run().place(level.info());
  }

  /** The operating point, e.g. {@code vLLM: c=16, the knee}; empty in a run with one level. */
  String point() {
    return curve == null || !run().hasSeveralLevels() ? "" : operatingPoint(run(), curve);
  }

  /** The operating point of a curve, e.g. {@code At c=16, the knee}. */
  static String operatingPoint(Summary summary, LoadCurve curve) {
    String text = curve.quoted();
    return summary.curves().size() == 1 ? "At " + text : summary.name(curve) + ": " + text;
  }

  String marks() {
    return curve == null || level == null ? "" : marks(run(), curve, level);
  }

  /** Marks of a load level on its curve, e.g. {@code knee, max goodput}; may be empty. */
  static String marks(Summary summary, LoadCurve curve, LevelFigures stage) {
    List<String> marks = new ArrayList<>();
    Summary.Knee knee = curve.knee();
    if (knee != null && knee.reached() && knee.stage().equals(stage.label())) {
      marks.add("knee");
    }
    Figures.GoodputResult max = curve.maxGoodput();
    if (summary.tiers().isEmpty() && max != null && max.stage().equals(stage.label())) {
      marks.add("max goodput");
    }
    for (TierSummary tier : summary.tiers()) {
      GoodputResult ofTier = tier.maxGoodput();
      if (tier.isOf(curve) && ofTier != null && ofTier.stage().equals(stage.label())) {
        marks.add("max goodput of " + tier.tier());
      }
    }
    Queue queue = stage.queue();
    if (queue != null && queue.grows()) {
      marks.add(queue.held() ? "delayed before sending" : "not kept up with");
    }
    return String.join(", ", marks);
  }

  /** The knee of a pair of lengths in words. */
  String knee() {
    Summary.Knee knee = curve == null ? null : curve.knee();
    return knee == null || !(knee.reached() || knee.saturatedFromFirst())
        ? "not reached"
        : (knee.saturatedFromFirst() ? "≤ " : "") + knee.stage();
  }

  /** The models of the target; null if all targets have the same. */
  @Nullable String models() {
    Map<String, String> models =
        run().targets().stream()
            .collect(
                Collectors.toMap(Summary.TargetSummary::label, t -> String.join(", ", t.models())));
    return curve == null || Set.copyOf(models.values()).size() < 2
        ? null
        : models.getOrDefault(curve.target(), "");
  }

  private @Nullable Queue queue() {
    return level == null ? null : level.queue();
  }

  /** The offered load; null unless it is a rate. */
  @Nullable Double offeredPerS() {
    return level == null || queue() == null ? null : level.offered();
  }

  @Nullable String queueAtEnd() {
    Queue queue = queue();
    return queue == null ? null : NumberText.count(queue.end()) + (queue.grows() ? " ↑" : "");
  }

  String hooks() {
    return level == null
        ? ""
        : level.info().hooks().stream().map(HookCall::toString).distinct().collect(joining(", "));
  }

  private static Map<String, Gpu> gpus(@Nullable LevelFigures level) {
    EngineFigures engine = level == null ? null : level.serverMetrics();
    return engine == null ? Map.of() : engine.gpus();
  }

  /** The number of GPUs; null if they are not several. */
  @Nullable Integer gpus() {
    int count = gpus(level).size();
    return count < 2 ? null : (Integer) count;
  }

  @Nullable Double lowest(EngineMetric gauge) {
    return over(gpu -> gpu.mean(gauge), Math::min);
  }

  @Nullable Double highest(EngineMetric gauge) {
    return over(gpu -> gpu.mean(gauge), Math::max);
  }

  @Nullable Double max(EngineMetric gauge) {
    return over(gpu -> gpu.max(gauge), Math::max);
  }

  private @Nullable Double over(
      Function<Gpu, @Nullable Double> figure, BinaryOperator<Double> choice) {
    return gpus(level).values().stream()
        .map(figure)
        .filter(Objects::nonNull)
        .reduce(choice)
        .orElse(null);
  }
}
