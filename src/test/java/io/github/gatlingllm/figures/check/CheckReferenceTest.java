package io.github.gatlingllm.figures.check;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.docs.ReferencePage;
import io.github.gatlingllm.figures.metric.Figures.Check;
import java.io.IOException;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** {@code docs/checks.md} is the catalogue of checks. */
class CheckReferenceTest {

  @Test
  void pageIsGeneratedFromTheCatalogue() throws IOException {
    Set<CheckCatalogue> load =
        EnumSet.range(CheckCatalogue.RECORDS_DROPPED, CheckCatalogue.SAME_MODEL);
    Set<CheckCatalogue> answers =
        EnumSet.range(CheckCatalogue.ERRORS, CheckCatalogue.CANCELLED_TAILS);
    Set<CheckCatalogue> server =
        EnumSet.range(CheckCatalogue.METRICS_COVERED, CheckCatalogue.GPU_IMBALANCE);
    assertThat(load.size() + answers.size() + server.size())
        .isEqualTo(CheckCatalogue.values().length);
    ReferencePage.of("checks.md")
        .mustHave(
            List.of("id", "question", "figure", "level", "applies to", "remedy"),
            Stream.of(load, answers, server).map(CheckReferenceTest::rows).toList());
  }

  private static List<List<String>> rows(Set<CheckCatalogue> checks) {
    return checks.stream()
        .map(
            check ->
                List.of(
                    "`" + check.id() + "`",
                    check.question,
                    check.figure,
                    check.threshold.words(),
                    check.appliesTo,
                    check.remedy))
        .toList();
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
