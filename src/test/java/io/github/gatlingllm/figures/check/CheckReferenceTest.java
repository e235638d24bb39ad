package io.github.gatlingllm.figures.check;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.docs.ReferencePage;
import io.github.gatlingllm.figures.metric.Figures.Check;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** {@code docs/checks.md} is the catalogue of checks. */
class CheckReferenceTest {

  private static final String HEAD =
      """
      # Checks

      Checks tell whether the figures of a run are valid. Their results are in `checks[]` of `llm/summary.json`, in section
      Validity of the report, and in part in the console block and the Markdown summary. This page is generated from the
      catalogue of checks (`check.CheckCatalogue`); ids are stable.

      A **note** is worth knowing but does not affect the figures. A **warning** has to be kept in mind when the figures are
      read. **invalid** means that figures are wrong or misleading; it makes the assertion `valid` fail. Checks without a finding
      are counted ("18 checks passed"). Shares are of the requests that were scheduled in a measure window. A check that does
      not apply to a run is left out.

      """;

  @Test
  void pageIsGeneratedFromTheCatalogue() throws IOException {
    Set<CheckCatalogue> load =
        EnumSet.range(CheckCatalogue.RECORDS_DROPPED, CheckCatalogue.SAME_MODEL);
    Set<CheckCatalogue> answers =
        EnumSet.range(CheckCatalogue.ERRORS, CheckCatalogue.CANCELLED_TAILS);
    Set<CheckCatalogue> server =
        EnumSet.range(CheckCatalogue.METRICS_COVERED, CheckCatalogue.KV_CACHE_FULL);
    assertThat(load.size() + answers.size() + server.size())
        .isEqualTo(CheckCatalogue.values().length);
    ReferencePage.of("checks.md")
        .mustBe(
            HEAD
                + "## Load\n\n"
                + table(load)
                + "\n## Answers\n\n"
                + table(answers)
                + "\n## Server metrics\n\n"
                + table(server));
  }

  private static String table(Set<CheckCatalogue> checks) {
    List<List<String>> rows = new ArrayList<>();
    for (CheckCatalogue check : checks) {
      rows.add(
          List.of(
              "`" + check.id() + "`",
              check.question,
              check.figure,
              check.threshold.words(),
              check.appliesTo,
              check.remedy));
    }
    return ReferencePage.table(
        List.of("id", "question", "figure", "level", "applies to", "remedy"), rows);
  }

  @Test
  void entriesAreComplete() {
    assertThat(Arrays.stream(CheckCatalogue.values()))
        .allSatisfy(
            check -> {
              assertThat(check.question).endsWith("?");
              assertThat(check.remedy).endsWith(".");
              assertThat(check.id()).matches("[a-z0-9_]+");
            });
  }

  @Test
  void thresholdsMatchTheirWords() {
    Threshold shares = Threshold.of("warning above 2 %, invalid above 50 %");
    assertThat(shares.value()).isEqualTo(0.02);
    assertThat(shares.level(0.02)).isEqualTo(Check.Level.OK);
    assertThat(shares.level(0.021)).isEqualTo(Check.Level.WARNING);
    assertThat(shares.level(0.51)).isEqualTo(Check.Level.INVALID);
    Threshold counts = Threshold.of("note below 1,000, warning below 100");
    assertThat(counts.level(1_000.0)).isEqualTo(Check.Level.OK);
    assertThat(counts.level(999.0)).isEqualTo(Check.Level.NOTE);
    assertThat(counts.level(99.0)).isEqualTo(Check.Level.WARNING);
    assertThat(Threshold.of("invalid above 0").level(1.0)).isEqualTo(Check.Level.INVALID);
    assertThat(Threshold.judged("warning above 5 % + 0.1 ms").level(1.0)).isEqualTo(Check.Level.OK);
  }
}
