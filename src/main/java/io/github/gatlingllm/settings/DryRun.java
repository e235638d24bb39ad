package io.github.gatlingllm.settings;

import static java.util.stream.Collectors.joining;

import io.github.gatlingllm.client.Secrets;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.figures.metric.Sentence;
import io.github.gatlingllm.load.PlanText;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.settings.SettingValue.Slos;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The plan of a run as text, without keys and values of headers: what a dry run prints. */
public final class DryRun {

  private final StringBuilder text = new StringBuilder();

  /** The values of rows, of a process or of a protocol. */
  public interface Values {
    <T extends @Nullable Object> T get(Setting<T> row);
  }

  public void row(String name, String value) {
    text.append(String.format(Locale.ROOT, "%-15s%s", name, value)).append('\n');
  }

  /** Lines of the catalogue, each of the values of one row or of several; none without a value. */
  public void lines(Values values, String... names) {
    Stream.of(names).forEach(line -> line(values, line));
  }

  private void line(Values values, String name) {
    String line =
        Setting.all().stream()
            .map(row -> row.planText(name, values))
            .filter(Objects::nonNull)
            .collect(joining(", "));
    if (!line.isEmpty()) {
      row(name, line);
    }
  }

  /**
   * A target.
   *
   * @param label empty where there is only one
   */
  public void target(String label, List<String> urls) {
    row(
        "target",
        (label.isEmpty() ? "" : label + ": ")
            + urls.stream().map(Secrets::redactUrl).collect(joining(" and ")));
  }

  /**
   * The load levels.
   *
   * @param each what has that number of requests
   */
  public void load(PlanText plan, String each) {
    plan.addTo(this::row, each);
  }

  /**
   * What is sent before the load.
   *
   * @param min their minimum number where there are any
   */
  public void beforeLoad(Values values, int min) {
    int requests = values.get(Setting.WARMUP);
    int sent = Math.max(requests, min);
    row("warm-up", requests == 0 ? "none" : NumberText.counted(sent, "request"));
    lines(values, "before levels", "after levels", "answers", "wait");
  }

  /** The objectives of a run, or of each tier. */
  public void slos(Slos slos, String objectives) {
    if (slos.tiers().isEmpty()) {
      slo("", objectives, slos.all());
    }
    slos.tiers().forEach((tier, slo) -> slo(tier + ": ", slo.toString(), slo));
  }

  public void slo(String whose, String objectives, Slo slo) {
    row(
        "SLO",
        Sentence.text(
            "load.slo", whose, objectives, slo.percentile(), slo.rule() == Slo.Rule.REQUESTS));
  }

  @Override
  public String toString() {
    return text.toString();
  }
}
