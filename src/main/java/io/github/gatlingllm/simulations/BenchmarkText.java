package io.github.gatlingllm.simulations;

import static java.util.stream.Collectors.joining;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.gatlingllm.client.Api;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.figures.metric.Sentence;
import io.github.gatlingllm.load.LoadPlan;
import io.github.gatlingllm.load.PlanText;
import io.github.gatlingllm.settings.AgentX;
import io.github.gatlingllm.settings.DryRun;
import io.github.gatlingllm.settings.Setting;
import io.github.gatlingllm.settings.SettingValue.Length;
import io.github.gatlingllm.settings.SettingValue.WeightedModel;
import io.github.gatlingllm.settings.TargetSpec;
import io.github.gatlingllm.workload.Dataset;
import io.github.gatlingllm.workload.Dataset.RecordedSession;
import io.github.gatlingllm.workload.Dataset.SessionFile;
import io.github.gatlingllm.workload.LengthDistribution;
import io.github.gatlingllm.workload.PromptPrefix;
import io.github.gatlingllm.workload.Prompts;
import io.github.gatlingllm.workload.Prompts.PromptPool;
import io.github.gatlingllm.workload.SessionTimeline;
import io.github.gatlingllm.workload.Tokenizer;
import io.github.gatlingllm.workload.WorkloadScenario;
import java.time.Duration;
import java.util.Collection;
import java.util.IntSummaryStatistics;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;

/** Tells a dry run the plan of a benchmark. */
record BenchmarkText(BenchmarkPlan plan, Tokenizer tokenizer, DryRun rows) {
  private static final int MISSES_SHOWN = 3;
  private static final String IN_TURN = ", one after the other, each with the full load";

  static String of(BenchmarkPlan plan) {
    DryRun rows = new DryRun();
    BenchmarkText text = new BenchmarkText(plan, plan.tokenizers().get(0), rows);
    text.targets();
    List<? extends LoadPlan> loads = plan.plans();
    for (int i = 0; i < loads.size(); i++) {
      BenchmarkPlan each = plan.each().get(i);
      BenchmarkText own = new BenchmarkText(each, each.tokenizers().get(0), rows);
      if (!plan.classes().isEmpty()) {
        rows.row("class", each.named("") + ", together with the others");
      }
      rows.load(new PlanText(loads.get(i)), own.each());
      int urls = each.targets().stream().mapToInt(target -> target.urls().size()).max().orElse(1);
      rows.beforeLoad(each::get, WeightedModel.tries(each.get(Setting.MODEL).mix(), urls));
      own.workload();
      own.requests();
      own.goals(i == loads.size() - 1);
      rows.lines(each::get, "limits");
    }
    if (!plan.classes().isEmpty() && loads.get(0) instanceof LoadPlan.Sweep sweep) {
      rows.row("classes", sweep.turnsText(plan.settings().classNames()));
    }
    rows.lines(plan::get, "connections");
    rows.row("seed", Long.toString(plan.seed()));
    int turns =
        (plan.get(Setting.INTERLEAVE) ? 1 : Math.max(1, plan.targets().size()))
            * plan.workload().scenarios()
            * (plan.hasInterference() ? plan.classes().size() + 1 : 1);
    rows.row("time", plan.loadText().expectedTime(turns));
    return rows.toString();
  }

  private void row(String name, String value) {
    rows.row(name, value);
  }

  private void targets() {
    if (plan.isEmbedded()) {
      row(
          "target",
          plan.get(Setting.SELF_TEST)
              ? "embedded engine in a separate process (self-test)"
              : "embedded engine (no llm.endpoint is set)");
    }
    boolean hasSeveral = plan.targets().size() > 1;
    for (int i = 0; i < plan.targets().size(); i++) {
      TargetSpec target = plan.targets().get(i);
      rows.target(hasSeveral ? plan.labels().get(i) : "", target.urls());
      List<WeightedModel> mix = plan.get(Setting.MODEL).mix();
      row(
          "model",
          Objects.requireNonNullElse(
              mix.isEmpty() ? target.model() : WeightedModel.shares(mix),
              "not set: the server's only model; a server of several decides"));
      row("API key", target.apiKey() == null ? "none" : "set");
    }
    if (hasSeveral) {
      rows.lines(plan::get, "order");
    }
    String answers = plan.get(Setting.STREAM) ? "streamed" : "not streamed";
    String inputs = NumberText.counted(plan.get(Setting.INPUTS_PER_REQUEST), "input");
    row(
        "API",
        plan.api().key() + ", " + (plan.api().generates() ? answers : inputs + " per request"));
  }

  private String each() {
    boolean scenarios = plan.workload().scenarios() > 1;
    boolean targets = plan.targets().size() > 1;
    String scenario = plan.workload().pools().isEmpty() ? "scenario" : "pair of lengths";
    String each = scenarios && targets ? scenario + " and target" : scenarios ? scenario : "target";
    return (scenarios || targets ? ", per " + each : "")
        + (plan.workload().hasDialogs()
            ? "; a dialog of " + plan.get(Setting.TURNS) + " turns counts as one request"
            : "");
  }

  private void workload() {
    Workload workload = plan.workload();
    Dataset dataset = workload.dataset();
    List<WorkloadScenario.Ready> known = workload.known();
    if (!workload.pools().isEmpty()) {
      pools(workload.pools());
    } else if (dataset != null) {
      String order = plan.get(Setting.TURN_BY_TURN) ? ", turn by turn" : "";
      row("dataset", dataset.name() + " (" + dataset.format() + order + ")");
      recorded(dataset.summary(), dataset.sha256());
    } else if (workload.sessions() != null) {
      row("sessions", workload.sessions().name());
      recorded(workload.sessions().summary(), workload.sessions().sha256());
      rows.lines(plan::get, "gaps");
      gapCap(workload.sessions());
      rows.lines(plan::get, "sessions begin", "history");
      Map<String, String> texts = plan.settings().shown();
      if (AgentX.isRequested(texts)) {
        Duration measured = plan.get(Setting.DURATION);
        List<String> deviations = AgentX.deviations(plan::get, texts, measured);
        row("scenario", Sentence.text("load.agentx", deviations));
      }
    } else if (workload.isMix()) {
      row("mix", shares(workload));
    } else {
      String names = known.stream().map(each -> each.scenario().name()).collect(joining(","));
      row("scenarios", names + (known.size() > 1 ? IN_TURN : ""));
    }
    known.forEach(this::scenario);
    rows.lines(plan::get, "images", "context", "think time");
    List<String> misses = workload.misses().toList();
    if (!misses.isEmpty()) {
      String some = misses.stream().limit(MISSES_SHOWN).collect(joining(", "));
      String more = misses.size() > MISSES_SHOWN ? ", …" : "";
      String count = misses.size() + " of " + workload.made() + " prompts: ";
      row("NOT EXACT", count + some + more);
    }
    if (plan.prefix() != PromptPrefix.NONE) {
      IntSummaryStatistics sizes = PromptPrefix.sizes(plan.prefix().texts(tokenizer), tokenizer);
      String varying = sizes.getMin() == sizes.getMax() ? "" : ", and so do totals vary";
      boolean isOfReplays =
          workload.sessions() != null && plan.prefix() instanceof PromptPrefix.Unique;
      String where = isOfReplays ? ", the same in all requests of a replay" : "";
      row("prefix", plan.prefix() + ": " + PlanText.sizes(sizes, "token") + varying + where);
    }
  }

  private void pools(List<Workload.Pool> pools) {
    boolean isGrid = pools.size() > 1;
    if (isGrid) {
      row("grid", pools.size() + " pairs of prompt and output tokens" + IN_TURN + ":");
      row("", pools.stream().map(Workload.Pool::pair).collect(joining(", ")));
    }
    Prompts prompts = pools.get(0).prompts();
    LengthDistribution lengths = prompts.lengths();
    PromptPool pool = prompts.source() instanceof PromptPool texts ? texts : null;
    String source =
        (pool == null ? "" : NumberText.counted(pool.texts().size(), "prompt") + " ")
            + "("
            + prompts.source().origin()
            + (prompts.hasOutputs() ? ", with " + answers(pool.outputs().values()) : "")
            + ")";
    if (lengths == null) {
      row(
          "prompts",
          source + (pool == null ? "" : ", " + PlanText.spread(pool.chars(), "character")));
      return;
    }
    String made = NumberText.counted(prompts.made().size(), "text") + (isGrid ? " a pair" : "");
    row("prompts", made + " made of " + source + repeats(prompts, pools.size()));
    String all =
        plan.get(Setting.PROMPT_TOKENS).stream().map(Length::toString).collect(joining(", "));
    ModelTokenizers counter = plan.counters().get(0);
    boolean ofRequest = plan.get(Setting.PROMPT_TOKENS_OF).equals("request");
    row(
        "prompt size",
        (isGrid ? all : counter.size(String.valueOf(lengths)))
            + (ofRequest ? ", the chat template included," : "")
            + " by "
            + counter.words()
            + (ofRequest ? "" : counter.template(lengths.toString())));
  }

  private static String answers(Collection<Integer> lengths) {
    return NumberText.counted(lengths.size(), "length")
        + " of answers: "
        + PlanText.sizes(lengths.stream().mapToInt(n -> n).summaryStatistics(), "token");
  }

  private static String repeats(Prompts prompts, int pools) {
    return prompts.made().size() < Workload.maxMade(pools) ? "" : "; after these they repeat";
  }

  private void scenario(WorkloadScenario.Ready ready) {
    WorkloadScenario scenario = ready.scenario();
    String system =
        ready.system() == null ? "" : "a system prompt of " + ready.systemTokens() + " tokens, ";
    String turns = scenario.isDialog() ? plan.get(Setting.TURNS) + " turns of " : "";
    long differ = ready.prompts().made().stream().map(Prompts.DrawnPrompt::text).distinct().count();
    String distinct = scenario.isSame() ? "" : ", " + NumberText.count(differ) + " distinct";
    Dataset dataset = ready.dataset();
    row(
        "",
        String.format(Locale.ROOT, "%-2s %s: ", scenario.name(), scenario.title())
            + (dataset != null && scenario.isDialog()
                ? "at most " + plan.get(Setting.TURNS) + " turns"
                : system + turns + scenario.tokens() + " tokens" + distinct)
            + repeats(ready.prompts(), 1));
    if (dataset != null) {
      row("", "   of " + dataset.name() + " (" + dataset.format() + ")");
      recorded(dataset.summary(), dataset.sha256());
    }
    row("", "   shows: " + scenario.shows());
  }

  private void recorded(String summary, String sha256) {
    List.of(summary.split("; ", -1)).forEach(part -> row("", part));
    row("", "SHA-256 " + sha256);
  }

  /** How much of the recorded gaps their cap takes away. */
  private void gapCap(SessionFile sessions) {
    Duration cap = plan.get(Setting.SESSION_GAP_CAP);
    if (cap != null) {
      double all = 0;
      double remaining = 0;
      for (RecordedSession each : sessions.sessions()) {
        all += SessionTimeline.gaps(each);
        remaining += SessionTimeline.gaps(SessionTimeline.paced(each, cap.toNanos(), 1));
      }
      Duration taken = Duration.ofNanos((long) (all - remaining));
      row(
          "",
          Sentence.text("load.gap_cap", PlanText.time(taken), all == 0 ? 0 : 1 - remaining / all));
    }
  }

  private static String shares(Workload mix) {
    double all = mix.weights().stream().mapToDouble(weight -> weight).sum();
    return IntStream.range(0, mix.known().size())
        .mapToObj(
            i ->
                "%s %s %%"
                    .formatted(
                        mix.known().get(i).scenario(),
                        NumberText.load(100 * mix.weights().get(i) / all)))
        .collect(joining(", "));
  }

  private void requests() {
    boolean isQueriedLater = plan.get(Setting.DRY_RUN) && plan.get(Setting.WARMUP) > 0;
    row(
        "tokenizer",
        plan.counters().stream()
            .map(each -> each.line(isQueriedLater))
            .distinct()
            .collect(joining(", ")));
    String sizes = plan.promptsSizedBy();
    if (sizes != null) {
      row("sized by", sizes);
    }
    if (plan.api().generates()) {
      boolean isPinned = plan.get(Setting.IGNORE_EOS);
      boolean isExact = isPinned && !plan.api().is(Api.Trait.IGNORES_PINNING);
      String lengths = plan.outputs().stream().map(Object::toString).collect(joining(", "));
      row(
          "output",
          (plan.hasRecordedOutputs() ? "as recorded, else " : "")
              + (isExact ? lengths : "at most " + lengths.replace("exactly ", ""))
              + (isExact
                  ? " (ignore_eos, min_tokens)"
                  : isPinned
                      ? " (exactly that if the server takes ignore_eos with "
                          + plan.api().key()
                          + ")"
                      : ""));
      if (plan.get(Setting.TEMPERATURE) == null && plan.get(Setting.TOP_P) == null) {
        row("sampling", "the server's defaults");
      }
      rows.lines(plan::get, "sampling");
    }
    ObjectNode body = plan.get(Setting.BODY);
    if (!body.isEmpty()) {
      row("extra fields", String.join(", ", (Iterable<String>) body::fieldNames));
    }
    Map<String, String> headers = plan.settings().headers();
    if (!headers.isEmpty()) {
      row("extra headers", String.join(", ", headers.keySet()));
    }
  }

  private void goals(boolean isLast) {
    rows.slos(plan.slo(), plan.slo().toString());
    String proof = plan.slo().isEmpty() ? "" : plan.loadText().proof(plan.slo().all().percentile());
    if (!proof.isEmpty()) {
      row("", proof);
    }
    if (isLast && !plan.get(Setting.ASSERT).isEmpty()) {
      String note = plan.get(Setting.FAIL_BUILD) ? "" : " (a miss does not fail the build)";
      row("build gates", plan.config().get(Setting.ASSERT.name) + note);
    }
  }
}
