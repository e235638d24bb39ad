package io.github.gatlingllm.simulations;

import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.workload.Dataset;
import io.github.gatlingllm.workload.LengthDistribution;
import io.github.gatlingllm.workload.PromptPool;
import io.github.gatlingllm.workload.PromptPrefix;
import io.github.gatlingllm.workload.Prompts;
import io.github.gatlingllm.workload.Tokenizer;
import io.github.gatlingllm.workload.WorkloadScenario;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.IntSummaryStatistics;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;

/** The rows of a plan that describe the workload. */
record WorkloadRows(BenchmarkPlan plan, BiConsumer<String, String> row) {

  private static final int MISSES_SHOWN = 3;

  void add() {
    if (plan.workload() instanceof Workload.Pool pool) {
      pool(pool.prompts());
    } else if (plan.workload() instanceof Workload.Recorded recorded) {
      Dataset dataset = recorded.dataset();
      row.accept(
          "dataset",
          dataset.name()
              + " ("
              + dataset.format().key()
              + (plan.get(Setting.TURN_BY_TURN) ? ", turn by turn" : "")
              + ")");
      for (String part : dataset.summary().split("; ", -1)) {
        row.accept("", part);
      }
    } else if (plan.workload() instanceof Workload.Known known) {
      row.accept(
          known.mixed() ? "mix" : "scenarios",
          known.mixed()
              ? shares(known)
              : known.names()
                  + (known.shares().size() > 1
                      ? ", one after the other, each with the whole load"
                      : ""));
      known.list().forEach(this::scenario);
    }
    ShownImages images = plan.get(Setting.IMAGES);
    if (images != null) {
      row.accept("images", images.toString());
    }
    Integer context = plan.get(Setting.CONTEXT_TOKENS);
    if (context != null) {
      row.accept("context", context + " tokens; a dialog ends before a turn that would not fit");
    }
    WorkloadReader.ThinkTime think = plan.get(Setting.THINK_TIME);
    if (!think.isNone()) {
      row.accept("think time", think + " before a user's next request");
    }
    List<Prompts.Miss> misses = plan.workload().misses().toList();
    if (!misses.isEmpty()) {
      row.accept(
          "NOT EXACT",
          misses.size()
              + " of "
              + plan.workload().made()
              + " prompts: "
              + misses.stream()
                  .limit(MISSES_SHOWN)
                  .map(Prompts.Miss::toString)
                  .collect(Collectors.joining(", "))
              + (misses.size() > MISSES_SHOWN ? ", …" : ""));
    }
    if (!(plan.prefix() instanceof PromptPrefix.None)) {
      IntSummaryStatistics sizes =
          PromptPrefix.sizes(plan.prefix().texts(tokenizer()), tokenizer());
      row.accept(
          "prefix",
          plan.prefix()
              + ": "
              + (sizes.getMin() == sizes.getMax()
                  ? NumberText.counted(sizes.getMax(), "token")
                  : sizes.getMin() + " to " + sizes.getMax() + " tokens, and so do totals vary"));
    }
  }

  private void pool(Prompts prompts) {
    LengthDistribution lengths = prompts.lengths();
    PromptPool pool = prompts.source() instanceof PromptPool texts ? texts : null;
    String source =
        (pool == null ? "" : NumberText.counted(pool.texts().size(), "prompt") + " ")
            + "("
            + prompts.source().origin()
            + ")";
    if (lengths == null) {
      row.accept("prompts", source + (pool == null ? "" : ", " + sizes(pool.chars())));
      return;
    }
    row.accept(
        "prompts",
        NumberText.counted(prompts.made().size(), "text")
            + " made of "
            + source
            + distinct(prompts));
    row.accept("prompt size", lengths + " by " + tokenizer().name());
  }

  private static String distinct(Prompts prompts) {
    return prompts.made().size() < Prompts.MAX_MADE ? "" : "; after these they repeat";
  }

  private void scenario(WorkloadScenario.Ready ready) {
    WorkloadScenario scenario = ready.scenario();
    String system =
        ready.system() == null ? "" : "a system prompt of " + ready.systemTokens() + " tokens, ";
    String each =
        scenario.dialog()
            ? Objects.requireNonNullElse(plan.get(Setting.TURNS), WorkloadScenario.TURNS)
                + " turns of "
                + scenario.tokens()
                + " tokens"
            : scenario.tokens() + " tokens";
    long differ = ready.prompts().made().stream().map(Prompts.Prompt::text).distinct().count();
    String distinct = scenario.same() ? "" : ", " + NumberText.count(differ) + " distinct";
    row.accept(
        "",
        String.format(
            Locale.ROOT,
            "%-2s %s: %s%s%s",
            scenario.name(),
            scenario.title(),
            system,
            each,
            distinct + distinct(ready.prompts())));
    row.accept("", "   shows: " + scenario.shows());
  }

  private static String shares(Workload.Known mix) {
    double all = mix.shares().stream().mapToDouble(Workload.Known.Share::weight).sum();
    return mix.shares().stream()
        .map(
            share ->
                share.ready().scenario()
                    + " "
                    + BigDecimal.valueOf(100 * share.weight() / all)
                        .setScale(1, RoundingMode.HALF_UP)
                        .stripTrailingZeros()
                        .toPlainString()
                    + " %")
        .collect(Collectors.joining(", "));
  }

  private static String sizes(IntSummaryStatistics chars) {
    return chars.getMin() == chars.getMax()
        ? NumberText.counted(chars.getMin(), "character")
        : chars.getMin()
            + " to "
            + chars.getMax()
            + " characters, "
            + Math.round(chars.getAverage())
            + " on average";
  }

  private Tokenizer tokenizer() {
    return plan.tokenizers().get(0);
  }
}
