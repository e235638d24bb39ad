package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.level.Summary.Curve;
import io.github.gatlingllm.figures.metric.Distribution;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.Figures.ArrivalFigures;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.NumberText;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Workload and results in words, the same on the page, in text files and on the console. */
final class RunText {

  private final Summary summary;

  RunText(Summary summary) {
    this.summary = summary;
  }

  /** A name and its value, e.g. {@code requests} and {@code 100 started, …}. */
  record Fact(String name, String value) {}

  List<Fact> facts() {
    Figures.Counts counts = summary.figures().counts();
    boolean isSweep = summary.hasSeveralLevels();
    List<Fact> facts = new ArrayList<>();
    facts.add(
        new Fact(
            isSweep ? "requests of all levels" : "requests",
            "%s started, %s ok, %s cancelled"
                .formatted(
                    NumberText.count(counts.started()),
                    NumberText.count(counts.ok()),
                    failedAndCancelled(counts))));
    List<Curve> curves = summary.curves();
    if (curves.size() < 2) {
      Curve curve = curves.isEmpty() ? null : curves.get(0);
      LevelFigures level = curve == null ? null : summary.operatingLevel(curve);
      Figures figures = level == null ? summary.figures() : level.figures();
      facts.add(new Fact("operating point", curve == null || !isSweep ? "" : curve.quoted()));
      facts.add(new Fact("output", output(figures)));
      facts.add(new Fact("each request", eachRequest(figures)));
      facts.add(new Fact("readers", readers(figures)));
      facts.add(new Fact("efficiency", EngineSection.efficiency(figures)));
      facts.add(new Fact("engine", level == null ? "" : EngineSection.line(level)));
      facts.add(new Fact("trials", trials(figures.trials())));
      facts.add(new Fact("knee", curve == null || !isSweep ? "" : knee(curve.knee())));
    }
    for (Curve curve : curves) {
      Figures.Goodput goodput = summary.operatingLevel(curve).figures().goodput();
      if (goodput != null && summary.slo() != null) {
        String of = curves.size() == 1 ? "" : " of " + summary.name(curve);
        facts.add(new Fact("goodput" + of, goodput(goodput, curve)));
      }
    }
    facts.add(new Fact("rate limits", rateLimits(summary.figures())));
    facts.add(new Fact("workload", workload()));
    facts.add(new Fact("total tokens", tokens()));
    facts.add(new Fact(SelfTestText.NAME, new SelfTestText(summary).quote()));
    facts.add(new Fact(isSweep ? "arrivals of all levels" : "arrivals", arrivals()));
    facts.removeIf(fact -> fact.value().isEmpty());
    return facts;
  }

  /** Counts of failed and, if any, rate-limited requests, and the number of cancelled ones. */
  static String failedAndCancelled(Figures.Counts counts) {
    return NumberText.count(counts.failed())
        + " failed, "
        + (counts.rateLimited() == 0
            ? ""
            : NumberText.count(counts.rateLimited()) + " rate limited, ")
        + NumberText.count(counts.cancelled());
  }

  /** The effect of rate limits of the server and of the client; empty if none applied. */
  private static String rateLimits(Figures figures) {
    Figures.RateLimits limits = figures.rateLimits();
    if (limits == null) {
      return "";
    }
    StringBuilder text = new StringBuilder();
    if (limits.requests() > 0) {
      part(
          text,
          "",
          NumberText.count(limits.requests())
              + " requests rejected ("
              + NumberText.percent(limits.share())
              + ", HTTP 429): not counted as failed"
              + (figures.goodput() == null ? "" : ", but as SLO misses"));
    }
    part(text, "lowest left ", limits.left());
    Figures.Pacing pacing = limits.pacing();
    part(text, "we ", pacing == null || pacing.heldBack() == 0 ? "" : pacing.words());
    return text.toString();
  }

  /** What figures of the whole run pool, e.g. {@code all load levels}; may be empty. */
  String pooledOver() {
    List<String> what = new ArrayList<>();
    if (summary.stages().stream().map(LevelFigures::label).distinct().count() > 1) {
      what.add("load levels");
    }
    if (summary.hasSeveralTargets()) {
      what.add("targets");
    }
    if (summary.hasSeveralScenarios()) {
      what.add("scenarios");
    }
    return what.isEmpty() ? "" : "all " + String.join(" and ", what);
  }

  /** {@link #pooledOver} as a caption, e.g. {@code All load levels pooled.}; may be empty. */
  String pooled() {
    String pooled = pooledOver();
    return pooled.isEmpty() ? "" : "A" + pooled.substring(1) + " pooled.";
  }

  private static String output(Figures figures) {
    String requests = number(figures, Metric.REQUESTS_PER_S) + " completed";
    if (figures.embeds()) {
      String inputs = NumberText.with(figures.number(Metric.INPUT_TOKENS_PER_S), "input tok/s");
      return number(figures, Metric.INPUTS_PER_S) + ", " + inputs + ", " + requests;
    }
    Double jitter = figures.number(Metric.JITTER);
    return "%s, total %s, %s (%s)%s"
        .formatted(
            number(figures, Metric.OUTPUT_TOKENS_PER_S),
            number(figures, Metric.TOTAL_TOKENS_PER_S),
            requests,
            NumberText.with(figures.requestsPerMin(), "requests/min"),
            jitter == null ? "" : "; jitter (ITL p99 ÷ p50) " + NumberText.number(jitter));
  }

  private static String number(Figures figures, Metric metric) {
    return NumberText.with(figures.number(metric), metric.unit().sign());
  }

  private static String eachRequest(Figures figures) {
    Distribution decode = figures.metric(Metric.DECODE_TOKENS_PER_S);
    return decode.isEmpty()
        ? ""
        : "median %s over its whole time, %s while it decodes (p10 %s)"
            .formatted(
                NumberText.with(figures.metric(Metric.USER_TOKENS_PER_S).p50(), "tok/s"),
                NumberText.with(decode.p50(), "tok/s"),
                NumberText.number(decode.p10()));
  }

  private static String readers(Figures figures) {
    Figures.Reader reader = figures.reader();
    return reader.stalled() == 0
        ? ""
        : "%s wait for a late token at %s tokens/s; 99 %% would not if they began %s later"
            .formatted(
                NumberText.percent(reader.stalledShare()),
                NumberText.plain(reader.tokensPerS()),
                NumberText.ms(figures.metric(Metric.READER_STALL_MS).p99()));
  }

  private static String trials(Figures.@Nullable Trials trials) {
    if (trials == null) {
      return "";
    }
    double mean = trials.meanTokensPerS();
    return "%s, mean %s, standard deviation %s (%s), slowest %s, fastest %s"
        .formatted(
            NumberText.count(trials.count()),
            NumberText.with(mean, "tok/s"),
            NumberText.number(trials.stdTokensPerS()),
            NumberText.percent(mean == 0 ? null : (Double) (trials.stdTokensPerS() / mean)),
            NumberText.number(trials.minTokensPerS()),
            NumberText.number(trials.maxTokensPerS()));
  }

  /** Total tokens of all measured prompts and answers; empty if unknown. */
  String tokens() {
    StringBuilder text = new StringBuilder();
    part(text, "in ", sum(summary.workload().promptTokens()));
    part(text, "out ", sum(summary.workload().outputTokens()));
    return text.toString();
  }

  private static String sum(Distribution lengths) {
    Double mean = lengths.mean();
    return mean == null ? "" : NumberText.count(Math.round(mean * lengths.count()));
  }

  private String goodput(Figures.Goodput goodput, Curve curve) {
    String at = summary.curves().size() > 1 ? " at " + curve.quoted() : "";
    return NumberText.with(goodput.requestsPerS(), "requests/s")
        + at
        + ", "
        + inSlo(goodput)
        + "; "
        + maxGoodput(curve.maxGoodput());
  }

  /** The share of requests in SLO, together with the SLO and its clock. */
  static String inSlo(Figures.Goodput goodput) {
    String undefined = goodput.undefined();
    return (undefined == null
            ? NumberText.percent(goodput.share()) + " of requests"
            : "share not known (" + undefined + ")")
        + " in SLO "
        + goodput.slo();
  }

  private String maxGoodput(Figures.@Nullable MaxGoodput max) {
    return max == null
        ? "the lightest load does not hold it"
        : "max goodput "
            + NumberText.with(max.requestsPerS(), "requests/s")
            + " at "
            + max.stage()
            + (summary.slo() == null ? "" : " (sloRule=" + summary.slo().rule() + ")");
  }

  private static String knee(Summary.@Nullable Knee knee) {
    if (knee == null) {
      return "";
    }
    Double output = knee.outputTokensPerS();
    return knee.reached()
        ? knee.stage()
            + (output == null ? "," : " = " + NumberText.with(output, "tok/s") + " at")
            + " E2E p50 "
            + NumberText.ms(knee.medianE2eMs())
        : knee.saturatedFromFirst()
            ? "below " + knee.stage() + ": saturated from the first level"
            : "not reached: output still grows with the last level";
  }

  /** Planned and realised arrivals: rates, dispersion, lag; empty without open load. */
  private String arrivals() {
    ArrivalFigures arrivals = summary.arrivals();
    return arrivals == null
        ? ""
        : "%s, %s, realised %s; dispersion %s planned, %s realised; lag p50 %s, p99 %s, max %s"
            .formatted(
                NumberText.count(arrivals.count()),
                arrivals.plannedPerS() == null
                    ? "planned rate not recorded"
                    : "planned " + NumberText.with(arrivals.plannedPerS(), "requests/s"),
                NumberText.with(arrivals.realisedPerS(), "requests/s"),
                NumberText.number(arrivals.plannedDispersion()),
                NumberText.number(arrivals.realisedDispersion()),
                NumberText.ms(arrivals.lagP50Ms()),
                NumberText.ms(arrivals.lagP99Ms()),
                NumberText.ms(arrivals.lagMaxMs()));
  }

  String workload() {
    StringBuilder text = new StringBuilder();
    part(text, "prompt tokens ", lengths(summary.workload().promptTokens()));
    part(text, "output tokens ", lengths(summary.workload().outputTokens()));
    part(text, "prefix cache ", cached());
    part(text, "", prefixes());
    return text.isEmpty() ? NumberText.ABSENT : text.toString();
  }

  /** Median, mean and range of token counts; empty without values. */
  static String lengths(Distribution tokens) {
    if (tokens.isEmpty()) {
      return "";
    }
    String median = NumberText.number(tokens.p50());
    String least = NumberText.number(tokens.min());
    String most = NumberText.number(tokens.max());
    return least.equals(most)
        ? median + " each"
        : "median %s, mean %s (%s to %s)"
            .formatted(median, NumberText.number(tokens.mean()), least, most);
  }

  /** The cached share of prompt tokens; empty if the server does not report it. */
  String cached() {
    Double share = summary.workload().cachedShare();
    return share == null ? "" : NumberText.percent(share) + " of prompt tokens";
  }

  String prefixes() {
    StringBuilder text = new StringBuilder();
    part(text, "shared prefixes ", summary.config().getOrDefault("sharedPrefix", ""));
    part(
        text,
        "",
        "true".equals(summary.config().get("uniquePrompts")) ? "every prompt unique" : "");
    return text.toString();
  }

  private static void part(StringBuilder text, String name, String value) {
    if (!value.isEmpty()) {
      text.append(text.isEmpty() ? "" : "; ").append(name).append(value);
    }
  }
}
