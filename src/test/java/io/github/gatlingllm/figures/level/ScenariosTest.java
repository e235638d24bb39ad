package io.github.gatlingllm.figures.level;

import static io.github.gatlingllm.figures.level.Recorded.at;
import static io.github.gatlingllm.figures.level.Runs.figures;
import static io.github.gatlingllm.figures.level.Runs.run;
import static io.github.gatlingllm.figures.level.Runs.summary;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.github.gatlingllm.figures.level.RunStatistics.RunFigures;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.record.Components;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.RunInfo.TargetFacts;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ScenariosTest {

  private static LevelInfo stage(
      int users, String target, @Nullable String scenario, double fromMs, double toMs) {
    return Components.with(Runs.stage(target, users, fromMs, toMs), "scenario", scenario);
  }

  private static RequestRecord ask(double startMs, String scenario, int users, double... tokens) {
    return at(startMs).scenario(scenario).stage("c=" + users).tokens(tokens).record();
  }

  /** Side by side: the windows overlap, and each token counts for its own scenario. */
  @Test
  void sameLabelAtTheSameTime() {
    RunInfo info =
        run(1, stage(8, "a", "A1", 0, 1_000), stage(8, "a", "C", 500, 1_000))
            .targets(Map.of("a", new TargetFacts(false, "chars4", null, 3.6, null)));
    Summary s =
        summary(
            info,
            ask(0, "A1", 8, 100, 600, 700),
            ask(500, "C", 8, 100, 200, 300, 400),
            ask(500, "C", 8, 600, 700));
    assertThat(s.stages()).extracting(LevelFigures::scenario).containsExactly("A1", "C");
    assertThat(s.stages())
        .extracting(x -> x.figures().number(Metric.OUTPUT_TOKENS_PER_S))
        .containsExactly(3.0, 8.0);
    assertThat(s.stages())
        .as("whose part of the cost it is, is not known")
        .extracting(x -> x.figures().number(Metric.COST_PER_MILLION_OUTPUT_TOKENS))
        .containsOnlyNulls();
    assertThat(s.stages()).extracting(x -> x.figures().counts().started()).containsExactly(1L, 2L);
    assertThat(s.stages()).extracting(LevelFigures::meanInFlight).containsExactly(0.7, 1.8);
    assertThat(s.figures().number(Metric.OUTPUT_TOKENS_PER_S)).as("7 in 1 s").isEqualTo(7);
    assertThat(s.targets()).singleElement().extracting(t -> t.label()).isEqualTo("a");
  }

  /** Tok/s: 2, 4, 4 has a knee, and 2, 2, 2 is flat from c=1 on. */
  @Test
  void curveAndKneePerScenario() {
    double[][] e2e = {{10, 20, 100}, {50, 10, 200}};
    List<LevelInfo> stages = new ArrayList<>();
    List<RequestRecord> records = new ArrayList<>();
    for (int scenario = 0; scenario < 2; scenario++) {
      for (int level = 0; level < 3; level++) {
        double from = (3 * scenario + level) * 1_000.0;
        String name = scenario == 0 ? "A1" : "C";
        stages.add(stage(1 << level, "a", name, from, from + 1_000));
        records.add(ask(from, name, 1 << level, 5, e2e[scenario][level]));
        if (scenario == 0 && level > 0) {
          records.add(ask(from, name, 1 << level, 5, e2e[scenario][level]));
        }
      }
    }
    RunFigures figures = figures(run(6, stages.toArray(LevelInfo[]::new)), records);
    Summary s = figures.summary();
    assertThat(s.curves())
        .extracting(
            LoadCurve::target, LoadCurve::scenario, c -> c.knee().stage(), c -> c.knee().reached())
        .containsExactly(tuple("a", "A1", "c=2", true), tuple("a", "C", "c=1", false));
    assertThat(s.curves().get(0).stages()).containsExactly("c=1", "c=2", "c=4");
    assertThat(s.knee().scenario()).isEqualTo("A1");
    assertThat(s.place(s.stages().get(4).info())).isEqualTo("c=2 of C");
    assertThat(s.verdict()).startsWith("A1: ").contains(" C: ");
    Series series = figures.series();
    assertThat(series.breakdowns())
        .extracting(stage -> s.place(stage.level()))
        .containsExactly("c=1 of A1", "c=2 of A1", "c=4 of A1", "c=1 of C", "c=2 of C", "c=4 of C");
  }

  @Test
  void levelWithoutScenarioHasTheRequestsOfAll() {
    RunInfo old = run(1, stage(8, "a", null, 0, 1_000));
    Summary s = summary(old, ask(0, "A1", 8, 100), ask(0, "C", 8, 100));
    assertThat(s.stages()).singleElement().extracting(LevelFigures::scenario).isNull();
    assertThat(s.stages().get(0).figures().counts().started()).isEqualTo(2);
    assertThat(s.place(s.stages().get(0).info())).isEqualTo("c=8");
  }
}
