package io.github.gatlingllm.compare;

import io.github.gatlingllm.compare.Comparison.Change;
import io.github.gatlingllm.compare.Comparison.Place;
import io.github.gatlingllm.metric.Figure;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A bound on the change of a figure, beyond which a comparison fails.
 *
 * <pre>
 * ttft.p95>+10%           more than 10 % above the base, all stages pooled
 * output_tokens_per_s&lt;-5%  more than 5 % below it
 * goodput&lt;-2%             a share: more than 2 percentage points below it
 * c=8:e2e.p99>+20%        of one stage
 * </pre>
 *
 * <p>The bound is on the measured change, whether or not it is clear beyond noise; the interval is
 * shown beside it. A figure without a value in both runs fails.
 *
 * @param text as it was written
 * @param stage label of the stage; null for all stages pooled
 * @param figure which one, any of {@link Figure#names}
 * @param above whether more than the bound fails, not less
 * @param percent the bound: percent of the base, or percentage points of a share
 */
public record FailCondition(
    String text, @Nullable String stage, Figure figure, boolean above, double percent) {

  private static final Pattern FORM =
      Pattern.compile(
          "(?:([^:<>]+):)?\\s*([A-Za-z0-9_.]+)\\s*([<>])\\s*([+-]?\\d{1,6}(?:\\.\\d{1,6})?)\\s*%");

  /**
   * The outcome of a condition.
   *
   * @param change of its figure; null where that has no value in one of the runs
   */
  public record Judged(FailCondition condition, @Nullable Change change, boolean hasFailed) {}

  /**
   * Reads conditions, separated by commas.
   *
   * @throws IllegalArgumentException in one line that names the first wrong one and what is allowed
   */
  public static List<FailCondition> parse(String text) {
    List<FailCondition> conditions = new ArrayList<>();
    for (String part : text.split(",", -1)) {
      conditions.add(one(part.strip()));
    }
    return conditions;
  }

  private static FailCondition one(String text) {
    Matcher form = FORM.matcher(text);
    if (!form.matches()) {
      throw new IllegalArgumentException(
          "'" + text + "' is no condition; expected e.g. ttft.p95>+10% or goodput<-2%");
    }
    String stage = form.group(1);
    return new FailCondition(
        text,
        stage == null ? null : stage.strip(),
        Figure.parse(form.group(2)),
        form.group(3).equals(">"),
        new BigDecimal(form.group(4)).doubleValue());
  }

  /** Judges a comparison; a stage that several targets have is judged at each. */
  public List<Judged> judge(Comparison comparison) {
    List<Place> places =
        stage == null
            ? comparison.places().stream().limit(1).toList()
            : comparison.places().stream().filter(p -> stage.equals(p.stage())).toList();
    if (places.isEmpty()) {
      return List.of(new Judged(this, null, true));
    }
    return places.stream().map(this::judged).toList();
  }

  private Judged judged(Place place) {
    Change change =
        place.change(figure.name()).orElseGet(() -> RunComparison.measured(figure, place));
    Double measured = change == null ? null : change.percent();
    boolean isBeyond = measured == null || (above ? measured > percent : measured < percent);
    return new Judged(this, measured == null ? null : change, isBeyond);
  }
}
