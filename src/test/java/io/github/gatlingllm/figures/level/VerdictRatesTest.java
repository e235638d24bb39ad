package io.github.gatlingllm.figures.level;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.docs.SimulatedTable;
import io.github.gatlingllm.figures.metric.Figures.GoodputResult;
import io.github.gatlingllm.record.Slo;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.function.Predicate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** How often sentences of the verdict are wrong, in simulated sweeps. */
@Tag("nightly")
class VerdictRatesTest {

  private static final Slo SLO = Slo.parse("ttft<200ms");

  /** Adds level i of a sweep of c = 1, 2, 4 … */
  private interface Sweep {
    void level(Levels levels, int i, Random random);
  }

  private record Claim(String text, double allowed, Predicate<Summary> isWrong) {}

  private final List<List<String>> rows = new ArrayList<>();

  @Test
  void claimsAreRarelyWrong() throws IOException {
    for (int requests : new int[] {400, 1_000}) {
      double allowed = requests == 400 ? 0.1 : 0.05;
      simulate(
          "missed by 0.5 % × c, 1 % allowed, " + requests + " requests each",
          SimulatedTable.runs(12_000 / requests, 400),
          4,
          (levels, i, random) -> misses(levels, i, requests, random),
          new Claim("certain up to a level above the limit", allowed, run -> certain(run) > 2),
          new Claim("met up to a level above the limit", allowed, run -> met(run) > 2));
    }
    for (int requests : new int[] {100, 1_000}) {
      simulate(
          "output ± 6 %, " + requests + " requests each",
          SimulatedTable.runs(requests > 100 ? 6 : 30, 400),
          7,
          (levels, i, random) ->
              levels
                  .target("a")
                  .level(1 << i, noisy(requests, 0.06, random), 100)
                  .target("b")
                  .level(1 << i, noisy(requests, 0.06, random), 100),
          new Claim(
              "a winner of two identical targets",
              0.067,
              run -> !run.verdict().contains("no clear difference")));
    }
    simulate(
        "output ± 5 %, flat from c=8 on",
        SimulatedTable.runs(30, 400),
        7,
        (levels, i, random) ->
            levels.level(1 << i, noisy(Math.min(100, 12.5 * (1 << i)), 0.05, random), 100),
        new Claim("no knee of a plateau", 0.01, run -> !run.knee().reached()));
    new SimulatedTable(getClass())
        .hasRows(List.of("wrong claim", "simulated levels", "allowed", "measured"), rows);
  }

  private void simulate(String what, int runs, int count, Sweep sweep, Claim... claims) {
    Random random = new Random(24);
    int[] wrong = new int[claims.length];
    for (int run = 0; run < runs; run++) {
      Levels levels = new Levels();
      for (int i = 0; i < count; i++) {
        sweep.level(levels, i, random);
      }
      Summary summary = levels.figures(SLO).summary();
      for (int i = 0; i < claims.length; i++) {
        wrong[i] += claims[i].isWrong.test(summary) ? 1 : 0;
      }
    }
    for (int i = 0; i < claims.length; i++) {
      double allowed = claims[i].allowed;
      double measured = (double) wrong[i] / runs;
      assertThat(measured)
          .as(claims[i].text + ", " + what)
          .isLessThanOrEqualTo(allowed + SimulatedTable.chance(allowed, runs));
      rows.add(List.of(claims[i].text, what, percent(allowed), percent(measured)));
    }
  }

  private static void misses(Levels levels, int i, int requests, Random random) {
    double share = 0.005 * (1 << i);
    int late = (int) random.doubles(requests).filter(p -> p < share).count();
    levels.level(1 << i, requests, 100, late);
  }

  private static int noisy(double output, double deviation, Random random) {
    return (int) Math.round(output * (1 + deviation * random.nextGaussian()));
  }

  /** The level up to which the SLO is met with confidence; 0 for none. */
  private static int certain(Summary run) {
    Summary.OperatingPoint at = run.operatingPoint();
    return at.why().equals(LoadCurve.Choice.IN_SLO.why(false, null)) ? users(at.stage()) : 0;
  }

  private static int met(Summary run) {
    GoodputResult max = run.figures().goodput().max();
    return max == null ? 0 : users(max.stage());
  }

  private static int users(String stage) {
    return Integer.parseInt(stage.substring(2));
  }

  private static String percent(double share) {
    return String.format(Locale.ROOT, "%.1f %%", 100 * share);
  }
}
