package io.github.gatlingllm.stats;

import io.github.gatlingllm.metric.Figures.Goodput;
import io.github.gatlingllm.metric.NumberText;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.stats.Summary.Stage;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The SLO of a curve, and how a load level met it, in the words of the rule that it is judged by:
 * percentiles of each objective, or a share of requests that meet all at once.
 */
final class SloWords {

  private final Slo slo;
  private final HeadlineClock clock;
  private final String percent;

  SloWords(LoadCurve curve) {
    slo = curve.slo();
    clock = curve.clock();
    percent = NumberText.plain(slo.percentile());
  }

  private boolean byRequests() {
    return slo.rule() == Slo.Rule.REQUESTS;
  }

  private boolean isOne() {
    return slo.objectives().size() == 1;
  }

  /** That it is met, e.g. {@code TTFT p99 ≤ 200 ms and TPOT p99 ≤ 50 ms are met}. */
  String isMet() {
    return byRequests()
        ? percent + " % of the requests meet " + limits("") + atOnce()
        : limits(" p" + percent) + (isOne() ? " is met" : " are met");
  }

  /** That no level meets it, and how the lowest one did. */
  String noneMeets(String lowest, Stage level) {
    Goodput goodput = Objects.requireNonNull(level.figures().goodput());
    if (goodput.holds() == null) {
      return "No load level is known to meet %s; at the lowest, %s, %s"
          .formatted(demand(), lowest, untold(goodput));
    }
    return byRequests()
        ? "At no load level do %s %% of the requests meet %s; at the lowest, %s, %s do"
            .formatted(percent, limits("") + atOnce(), lowest, NumberText.percent(goodput.share()))
        : "No load level meets %s; at the lowest, %s, %s"
            .formatted(demand(), lowest, byShares(level, goodput));
  }

  /**
   * How one level did, e.g. {@code TTFT p99 ≤ 200 ms is not met: TTFT by 98.0 % of 50 requests}.
   */
  String outcome(Stage level) {
    Goodput goodput = Objects.requireNonNull(level.figures().goodput());
    if (goodput.holds() == null) {
      return "whether " + isMet() + " cannot be told: " + untold(goodput);
    }
    boolean holds = goodput.holds();
    if (byRequests()) {
      return "%s of %s requests met %s, %s the required %s %%"
          .formatted(
              NumberText.percent(goodput.share()),
              NumberText.count(goodput.attempted()),
              limits("") + atOnce(),
              holds ? "at least" : "less than",
              percent);
    }
    String verb = isOne() ? holds ? "is met" : "is not met" : holds ? "are met" : "are not all met";
    return demand() + " " + verb + ": " + byShares(level, goodput);
  }

  private String demand() {
    return byRequests()
        ? limits("") + atOnce() + " with " + percent + " % of the requests"
        : limits(" p" + percent);
  }

  private String atOnce() {
    return isOne() ? "" : " at once";
  }

  private String limits(String percentile) {
    return slo.objectives().stream()
        .map(o -> name(o) + percentile + " ≤ " + NumberText.plainMs(o.limitNanos() / 1e6))
        .collect(Collectors.joining(" and "));
  }

  private String name(Slo.Objective objective) {
    boolean named = objective.measure().isFromSchedule() && clock.isNamed();
    return objective.measure().name() + (named ? " from schedule" : "");
  }

  /**
   * By how many each objective was met, in their order, then those that single requests have:
   * {@code TTFT by 98.0 % of 50 requests, TPOT by 100 % of 48}. What applied to none is left out.
   */
  private String byShares(Stage level, Goodput goodput) {
    List<Goodput.Objective> others = new ArrayList<>(goodput.objectives());
    List<String> shares = new ArrayList<>();
    for (Slo.Objective each : slo.objectives()) {
      Set<String> names = Set.of(each.toString(), level.target() + ": " + each);
      others.stream()
          .filter(o -> names.contains(o.objective()))
          .findFirst()
          .ifPresent(
              own -> {
                others.remove(own);
                shares.add(share(each.measure().name(), own, shares.isEmpty()));
              });
    }
    others.forEach(own -> shares.add(share(own.objective(), own, shares.isEmpty())));
    shares.removeIf(String::isEmpty);
    return String.join(", ", shares);
  }

  private static String share(String name, Goodput.Objective own, boolean isFirst) {
    return own.attempted() + own.excluded() == 0
        ? ""
        : "%s by %s of %s%s"
            .formatted(
                name,
                NumberText.percent(own.share()),
                NumberText.count(own.attempted()),
                isFirst ? " requests" : "");
  }

  private static String untold(Goodput goodput) {
    String why = goodput.undefined();
    return why != null
        ? why
        : goodput.objectives().stream()
            .map(Goodput.Objective::undefined)
            .filter(Objects::nonNull)
            .findFirst()
            .orElse("nothing was judged");
  }
}
