package io.github.gatlingllm.simulations;

import io.github.gatlingllm.action.InvalidSimulation;
import io.github.gatlingllm.simulations.SettingEntry.Group;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.params.provider.Arguments;

/** The messages on mistakes in settings, for the file of all messages. */
public final class SettingMistakes {

  /** Values of which most settings refuse some. */
  private static final List<String> ODD = List.of("nonsense", "-1", "0", "1,,2");

  private final Path folder;
  private final StringBuilder text = new StringBuilder();
  private final Set<String> said = new LinkedHashSet<>();

  private SettingMistakes(Path folder) {
    this.folder = folder;
  }

  /**
   * A line per mistake, by groups of settings.
   *
   * @param folder without a file {@code .env}
   */
  public static String text(Path folder) {
    SettingMistakes mistakes = new SettingMistakes(folder);
    mistakes.ask(Map.of("llm.maxToken", "5"));
    mistakes.ask(Map.of("llm.prefix", "8x64"));
    mistakes.ask(Map.of("llm.header.", "5"));
    mistakes.ask(Map.of("llm.model", ""));
    for (Group group : Group.values()) {
      mistakes.text.append("\n# ").append(group.title()).append("\n\n");
      Setting.all().stream()
          .filter(setting -> setting.group() == group && !setting.name().startsWith("header"))
          .forEach(mistakes::of);
    }
    mistakes.text.append("\n# Settings that do not fit each other\n\n");
    BenchmarkPlanTest.contradictions().forEach(mistakes::contradiction);
    return mistakes.text.toString();
  }

  /** Plans as they are printed before a run. */
  public static String plans(Path folder) {
    StringBuilder plans = new StringBuilder();
    List<Map<String, String>> runs =
        List.of(
            Map.of(),
            Map.of(
                "llm.endpoint", "vllm=http://a:8000/v1,sglang=http://b:30000/v1",
                "llm.rate", "1,2,4",
                "llm.slo", "ttft<200ms,tpot<50ms",
                "llm.stopWhen", "slo<50%,overSaturated",
                "llm.assert", "ttft.p99<200ms",
                "llm.maxInFlight", "64",
                "llm.prompt", "Why is the sky blue?"),
            Map.of(
                "llm.search", "maxGoodput",
                "llm.slo", "ttft<1s",
                "llm.promptTokens", "100-200",
                "llm.sharedPrefix", "8x64",
                "llm.thinkTime", "1s-5s"),
            Map.of("llm.scenario", "D", "llm.concurrency", "4", "llm.turns", "3"));
    for (Map<String, String> run : runs) {
      plans.append("# ").append(new TreeMap<>(run)).append("\n\n");
      try {
        Map<String, String> pinned = new LinkedHashMap<>(run);
        pinned.put("llm.seed", "4711");
        Settings settings = new Settings(pinned, Map.of(), folder.resolve(".env"));
        plans.append(DryRun.text(BenchmarkPlan.of(settings, () -> 1))).append('\n');
        settings.warnings().forEach(line -> plans.append(line).append('\n'));
      } catch (InvalidSimulation e) {
        plans.append(e.getMessage()).append("\n\n");
      }
    }
    return plans.toString();
  }

  private void of(SettingEntry<?> setting) {
    for (String odd : ODD) {
      ask(Map.of(setting.property(), odd));
    }
    List<String> needed = new ArrayList<>(setting.needs());
    if (!needed.isEmpty()) {
      ask(Map.of(setting.property(), setting.example()));
    }
    for (String other : setting.excludes()) {
      SettingEntry<?> excluded = Setting.named(other.replaceAll("[ =].*", ""));
      if (excluded != null) {
        ask(Map.of(setting.property(), setting.example(), excluded.property(), excluded.example()));
      }
    }
  }

  private void contradiction(Arguments arguments) {
    Map<String, String> properties = new LinkedHashMap<>();
    ((Map<?, ?>) arguments.get()[0])
        .forEach((name, value) -> properties.put("llm." + name, "" + value));
    ask(properties);
  }

  /** Only what is read: nothing is made of it that takes time. */
  private void ask(Map<String, String> properties) {
    try {
      Settings settings = new Settings(properties, Map.of(), folder.resolve(".env"));
      settings.check();
      if (properties.size() > 1) {
        BenchmarkPlan.of(settings, () -> 4711);
      }
    } catch (InvalidSimulation e) {
      String reason = e.getMessage();
      // The longest first: a value may be part of another.
      List<String> values = new ArrayList<>(properties.values());
      values.sort(Comparator.comparing(String::length).reversed().thenComparing(value -> value));
      for (String value : values) {
        reason = value.isEmpty() ? reason : reason.replace(value, "…");
      }
      if (said.add(reason)) {
        text.append(e.getMessage()).append('\n');
      }
    }
  }
}
