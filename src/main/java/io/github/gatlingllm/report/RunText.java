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

  /** The results: counts of the whole run, and figures at the operating point. */
  List<Fact> facts() {
    Figures.Counts counts = summary.figures().counts();
    List<Fact> facts = new ArrayList<>();
    facts.add(
        new Fact(
            summary.hasSeveralLevels() ? "requests of all levels" : "requests",
            NumberText.count(counts.started())
                + " started, "
                + NumberText.count(counts.ok())
                + " ok, "
                + failedAndCancelled(counts)
                + " cancelled"));
    List<Curve> curves = summary.curves();
    if (curves.size() < 2) {
      boolean known = curves.size() == 1;
      Figures figures = known ? summary.operatingLevel(curves.get(0)).figures() : summary.figures();
      if (summary.hasSeveralLevels()) {
        facts.add(new Fact("operating point", curves.get(0).quoted()));
      }
      facts.add(new Fact("output", output(figures)));
      Distribution decode = figures.metric(Metric.DECODE_TOKENS_PER_S);
      if (!decode.isEmpty()) {
        facts.add(
            new Fact(
                "each request", eachRequest(figures.metric(Metric.USER_TOKENS_PER_S), decode)));
      }
      if (figures.reader().stalled() > 0) {
        facts.add(new Fact("readers", readers(figures)));
      }
      String efficiency = EngineSection.efficiency(figures);
      if (!efficiency.isEmpty()) {
        facts.add(new Fact("efficiency", efficiency));
      }
      String engine = known ? EngineSection.line(summary.operatingLevel(curves.get(0))) : "";
      if (!engine.isEmpty()) {
        facts.add(new Fact("engine", engine));
      }
      if (figures.trials() != null) {
        facts.add(new Fact("trials", trials(figures.trials())));
      }
      if (summary.hasSeveralLevels() && curves.get(0).knee() != null) {
        facts.add(new Fact("knee", knee(curves.get(0).knee())));
      }
    }
    for (Curve curve : curves) {
      Figures.Goodput goodput = summary.operatingLevel(curve).figures().goodput();
      String of = curves.size() == 1 ? "" : " of " + summary.name(curve);
      if (goodput != null && summary.slo() != null) {
        facts.add(new Fact("goodput" + of, goodput(goodput, curve)));
      }
    }
    String limits = rateLimits(summary.figures());
    if (!limits.isEmpty()) {
      facts.add(new Fact("rate limits", limits));
    }
    facts.add(new Fact("workload", workload()));
    String tokens = tokens();
    if (!tokens.isEmpty()) {
      facts.add(new Fact("total tokens", tokens));
    }
    facts.add(new Fact(SelfTestText.NAME, new SelfTestText(summary).quote()));
    if (summary.arrivals() != null) {
      facts.add(
          new Fact(
              summary.hasSeveralLevels() ? "arrivals of all levels" : "arrivals",
              arrivals(summary.arrivals())));
    }
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
    if (figures.embeds()) {
      return NumberText.with(figures.number(Metric.INPUTS_PER_S), "inputs/s")
          + ", "
          + NumberText.with(figures.number(Metric.INPUT_TOKENS_PER_S), "input tok/s")
          + ", "
          + NumberText.with(figures.number(Metric.REQUESTS_PER_S), "requests/s")
          + " completed";
    }
    Double jitter = figures.number(Metric.JITTER);
    return NumberText.with(figures.number(Metric.OUTPUT_TOKENS_PER_S), "tok/s")
        + ", total "
        + NumberText.with(figures.number(Metric.TOTAL_TOKENS_PER_S), "tok/s")
        + ", "
        + NumberText.with(figures.number(Metric.REQUESTS_PER_S), "requests/s")
        + " completed ("
        + NumberText.with(figures.requestsPerMin(), "requests/min")
        + ")"
        + (jitter == null ? "" : "; jitter (ITL p99 ÷ p50) " + NumberText.number(jitter));
  }

  private static String eachRequest(Distribution whole, Distribution decode) {
    return "%s over its whole time, %s while it decodes (p10 %s)"
        .formatted(
            "median " + NumberText.with(whole.p50(), "tok/s"),
            NumberText.with(decode.p50(), "tok/s"),
            NumberText.number(decode.p10()));
  }

  private static String readers(Figures figures) {
    Figures.Reader reader = figures.reader();
    Distribution stall = figures.metric(Metric.READER_STALL_MS);
    return "%s wait for a late token at %s tokens/s; 99 %% would not if they began %s later"
        .formatted(
            NumberText.percent(reader.stalledShare()),
            NumberText.plain(reader.tokensPerS()),
            NumberText.ms(stall.p99()));
  }

  private static String trials(Figures.Trials trials) {
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
        ? "no load level holds it"
        : "max goodput "
            + NumberText.with(max.requestsPerS(), "requests/s")
            + " at "
            + max.stage()
            + (summary.slo() == null ? "" : " (sloRule=" + summary.slo().rule() + ")");
  }

  private static String knee(Summary.Knee knee) {
    return knee.reached()
        ? knee.stage()
            + (knee.outputTokensPerS() == null
                ? ","
                : " = " + NumberText.with(knee.outputTokensPerS(), "tok/s") + " at")
            + " E2E p50 "
            + NumberText.ms(knee.medianE2eMs())
        : knee.saturatedFromFirst()
            ? "below " + knee.stage() + ": saturated from the first level"
            : "not reached: output still grows with the last level";
  }

  /** Planned and realised arrivals: rates, dispersion, lag. */
  private static String arrivals(ArrivalFigures arrivals) {
    return NumberText.count(arrivals.count())
        + (arrivals.plannedPerS() == null
            ? ", planned rate not recorded"
            : ", planned " + NumberText.with(arrivals.plannedPerS(), "requests/s"))
        + ", realised "
        + NumberText.with(arrivals.realisedPerS(), "requests/s")
        + "; dispersion "
        + NumberText.number(arrivals.plannedDispersion())
        + " planned, "
        + NumberText.number(arrivals.realisedDispersion())
        + " realised; lag p50 "
        + NumberText.ms(arrivals.lagP50Ms())
        + ", p99 "
        + NumberText.ms(arrivals.lagP99Ms())
        + ", max "
        + NumberText.ms(arrivals.lagMaxMs());
  }

  /** Lengths of prompts and answers, and the use of the prefix cache. */
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

  /** Shared prefixes and unique prompts of the load test; empty without either. */
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
