package io.github.gatlingllm.figures.check;

import static io.github.gatlingllm.figures.check.CheckCatalogue.BUFFERING;
import static io.github.gatlingllm.figures.check.CheckCatalogue.COALESCED_EVENTS;
import static io.github.gatlingllm.figures.check.CheckCatalogue.ENGINE_TTFT;
import static io.github.gatlingllm.figures.check.CheckCatalogue.GENERATOR;
import static io.github.gatlingllm.figures.check.CheckCatalogue.SILENT_SPANS;
import static io.github.gatlingllm.figures.check.CheckCatalogue.STEADY_STATE;

import io.github.gatlingllm.figures.level.RunStatistics.RunFigures;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.metric.Figures.Check;
import io.github.gatlingllm.figures.metric.Figures.CheckLevel;
import io.github.gatlingllm.figures.metric.Sentence;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/** Judges the figures of a run by all checks of the catalogue. */
public final class Checks {

  /** Checks that a generator short of CPU triggers too, as if the server were the cause. */
  private static final Set<CheckCatalogue> ALSO_BY_GENERATOR =
      Collections.unmodifiableSet(
          EnumSet.of(STEADY_STATE, SILENT_SPANS, BUFFERING, COALESCED_EVENTS, ENGINE_TTFT));

  private Checks() {}

  /** Whether no check calls the run invalid but that of the load generator. */
  public static boolean isOnlyGeneratorInvalid(Summary summary) {
    return summary.checks().stream()
        .filter(check -> check.level() == CheckLevel.INVALID)
        .allMatch(check -> check.id().equals(CheckCatalogue.GENERATOR.id()));
  }

  public static RunFigures judged(RunFigures figures) {
    Summary summary = figures.summary();
    return figures.summary(summary.checked(judge(new CheckInput(summary, figures.facts()))));
  }

  private static List<Check> judge(CheckInput in) {
    boolean mayBeGenerator = GENERATOR.judge.apply(in).anyMatch(GeneratorCheck::isDoubtful);
    return Arrays.stream(CheckCatalogue.values())
        .flatMap(entry -> entry.judge.apply(in).map(found -> check(entry, found, mayBeGenerator)))
        .sorted(Comparator.comparing(Check::level).reversed())
        .toList();
  }

  private static Check check(CheckCatalogue entry, Finding finding, boolean mayBeGenerator) {
    CheckLevel own = finding.level();
    CheckLevel level = own == null ? entry.threshold.level(finding.value()) : own;
    Double bound = finding.threshold();
    boolean isMeasured = level != CheckLevel.OK && finding.value() != null;
    boolean isDoubted = mayBeGenerator && isMeasured && ALSO_BY_GENERATOR.contains(entry);
    List<Sentence> found =
        isDoubted ? finding.adding("generator.doubt").sentences() : finding.sentences();
    return new Check(
        entry.id(),
        level,
        finding.value(),
        bound == null ? entry.threshold.value() : bound,
        found,
        level == CheckLevel.OK ? "" : remedy(entry, finding));
  }

  private static String remedy(CheckCatalogue entry, Finding finding) {
    return finding.remedy() == null ? entry.remedy() : finding.remedy().text();
  }
}
