package io.github.gatlingllm.simulations;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.gatlingllm.client.Secrets;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.load.LoadLevel;
import io.github.gatlingllm.load.LoadLevel.Phases;
import io.github.gatlingllm.load.PlanText;
import io.github.gatlingllm.workload.Tokenizer;
import io.github.gatlingllm.workload.WorkloadScenario;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The plan of a benchmark as text, for {@code llm.dryRun=true} and for the start of a run. It has
 * at most 120 columns, and contains no key and no header value.
 */
final class DryRun {

  private static final int COLUMNS = 120;
  private static final int INDENT = 15;

  private final BenchmarkPlan plan;
  private final StringBuilder text = new StringBuilder();

  private DryRun(BenchmarkPlan plan) {
    this.plan = plan;
  }

  static String text(BenchmarkPlan plan) {
    return new DryRun(plan).lines();
  }

  private String lines() {
    targets();
    load();
    requests();
    row("SLO", plan.slo().isEmpty() ? "none" : plan.slo() + PlanText.held(plan.slo().all()));
    if (!plan.get(Setting.ASSERT).isEmpty()) {
      row(
          "build gates",
          plan.config().get(Setting.ASSERT.name)
              + (plan.get(Setting.FAIL_BUILD) ? "" : " (a miss does not fail the build)"));
    }
    row(
        "limits",
        PlanText.time(plan.get(Setting.TIMEOUT))
            + " per request, "
            + PlanText.time(plan.get(Setting.IDLE_TIMEOUT))
            + " between events"
            + limit(Setting.MAX_IN_FLIGHT, "in flight")
            + limit(Setting.MAX_REQUESTS_PER_MINUTE, "requests a minute")
            + limit(Setting.MAX_TOKENS_PER_MINUTE, "tokens a minute"));
    row("connections", connections());
    row("seed", Long.toString(plan.seed()));
    row("time", estimatedTime());
    return text.toString();
  }

  private String limit(SettingEntry<@Nullable Integer> setting, String what) {
    Integer most = plan.get(setting);
    return most == null ? "" : ", " + most + " " + what;
  }

  private void targets() {
    if (plan.embedded()) {
      row(
          "target",
          plan.get(Setting.SELF_TEST)
              ? "embedded engine in a process of its own: how exact is this tool here?"
              : "embedded engine (no llm.endpoint is set)");
    }
    boolean several = plan.targets().size() > 1;
    for (int i = 0; i < plan.targets().size(); i++) {
      Target target = plan.targets().get(i);
      row(
          "target",
          (several ? plan.labels().get(i) + ": " : "")
              + Secrets.redactUrl(target.endpoint().url()));
      row(
          "model",
          Objects.requireNonNullElse(
              target.model(), "not set: the server's only model; a server of several decides"));
      row("API key", target.apiKey() == null ? "none" : "set");
    }
    if (several) {
      row("order", plan.get(Setting.INTERLEAVE) ? "side by side" : "one after the other");
    }
    row(
        "API",
        plan.api().key()
            + (!plan.api().generates()
                ? ", "
                    + NumberText.counted(plan.get(Setting.INPUTS_PER_REQUEST), "input")
                    + " per request"
                : plan.get(Setting.STREAM) ? ", streamed" : ", not streamed"));
  }

  private void load() {
    PlanText load = plan.load().words();
    load.levels(this::row);
    if (!plan.load().search()) {
      row("requests", load.total() + each());
    }
    load.stops(this::row);
    int warmup = plan.get(Setting.WARMUP);
    row("warm-up", warmup == 0 ? "none" : NumberText.counted(warmup, "request"));
    load.phases(this::row);
  }

  private String each() {
    String scenario = plan.workload().scenarios() > 1 ? "scenario" : "";
    String target = plan.targets().size() > 1 ? "target" : "";
    String both = scenario.isEmpty() || target.isEmpty() ? "" : " and ";
    return (scenario.isEmpty() && target.isEmpty() ? "" : ", per " + scenario + both + target)
        + (plan.workload().dialogs()
            ? "; a dialog of "
                + Objects.requireNonNullElse(plan.get(Setting.TURNS), WorkloadScenario.TURNS)
                + " turns counts as one"
            : "");
  }

  private void output() {
    row(
        "output",
        (plan.get(Setting.IGNORE_EOS) ? "exactly " : "at most ")
            + (plan.hasRecordedOutputs() ? "as recorded, else " : "")
            + NumberText.counted(plan.get(Setting.MAX_TOKENS), "token")
            + (plan.get(Setting.IGNORE_EOS) ? " (ignore_eos, min_tokens)" : ""));
    List<String> sampling = new ArrayList<>();
    addNumber(sampling, "temperature", plan.get(Setting.TEMPERATURE));
    addNumber(sampling, "top_p", plan.get(Setting.TOP_P));
    row("sampling", sampling.isEmpty() ? "the server's defaults" : String.join(", ", sampling));
  }

  private void requests() {
    new WorkloadRows(plan, this::row).add();
    row(
        "tokenizer",
        plan.tokenizers().stream()
            .map(Tokenizer::name)
            .distinct()
            .collect(Collectors.joining(", ")));
    String sizes = plan.promptsSizedBy();
    if (sizes != null) {
      row("sized by", sizes);
    }
    if (plan.api().generates()) {
      output();
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

  private String connections() {
    return (plan.get(Setting.CONNECTIONS) == BenchmarkPlan.Connections.SHARED
            ? "shared by all users"
            : "own ones per user")
        + (plan.get(Setting.HTTP2) ? ", HTTP/2 where the server agrees" : "")
        + (plan.get(Setting.VERIFY_TLS) ? "" : ", certificates NOT verified");
  }

  private String estimatedTime() {
    Load load = plan.load();
    if (load.search()) {
      return "depends on the server: 15 to 20 levels, 30 to 40 times the time of one";
    }
    Duration measured = Duration.ZERO;
    for (LoadLevel level : load.levels()) {
      Duration duration = PlanText.expectedDuration(level);
      if (duration == null) {
        return "depends on the server: " + load.words().total();
      }
      measured = measured.plus(duration);
    }
    int turns =
        (plan.get(Setting.INTERLEAVE) ? 1 : Math.max(1, plan.targets().size()))
            * plan.workload().scenarios();
    measured = measured.multipliedBy(turns);
    long longest = load.levels().stream().mapToLong(DryRun::longestNanos).sum();
    return PlanText.time(measured)
        + " of measuring, at most "
        + PlanText.time(Duration.ofNanos(longest * turns))
        + " in all";
  }

  private static long longestNanos(LoadLevel level) {
    Phases phases = level.phases();
    return phases.requests() == null
        ? phases.longestNanos()
        : Objects.requireNonNull(PlanText.expectedDuration(level)).toNanos()
            + phases.longestNanos();
  }

  private void row(String name, String value) {
    String line = String.format(Locale.ROOT, "%-" + INDENT + "s%s", name, value);
    text.append(line.length() <= COLUMNS ? line : line.substring(0, COLUMNS - 1) + "…");
    text.append('\n');
  }

  private static void addNumber(List<String> to, String name, @Nullable Double value) {
    if (value != null) {
      to.add(name + " " + NumberText.plain(value));
    }
  }
}
