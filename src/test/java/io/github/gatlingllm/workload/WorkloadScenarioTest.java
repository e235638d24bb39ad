package io.github.gatlingllm.workload;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

final class WorkloadScenarioTest {

  private static final Tokenizer CL100K = Tokenizer.cl100k();

  @ParameterizedTest
  @CsvSource({"A1,50,1", "A2,2500,1", "B1,50,20", "B2,2500,20", "C,30,20", "D,50,20"})
  void hasItsSizesByTheTokenizer(WorkloadScenario scenario, int tokens, int distinct) {
    WorkloadScenario.Ready ready = scenario.ready(CL100K, 42, 20, null);

    assertThat(ready.prompts().misses()).isEmpty();
    assertThat(IntStream.range(0, 20).mapToObj(i -> ready.prompts().pick(i).text()).distinct())
        .hasSize(distinct)
        .allMatch(text -> CL100K.count(text) == tokens);
  }

  @Test
  void datasetGivesTheTextsOfB2AndTheDialogsOfD() {
    Dataset texts = Dataset.open(Dataset.Format.LONGBENCH, "datasets/longbench.json", CL100K);
    Prompts prompts = WorkloadScenario.B2.ready(CL100K, 42, 20, texts).prompts();

    assertThat(prompts.misses()).isEmpty();
    assertThat(prompts.made()).hasSize(20);
    assertThat(prompts.made())
        .allMatch(made -> made.text().startsWith("Here is a text, and after it a question"));

    Dataset dialogs = Dataset.open(Dataset.Format.OASST, "datasets/oasst.trees.jsonl", CL100K);
    WorkloadScenario.Ready ready = WorkloadScenario.D.ready(CL100K, 42, 20, dialogs);
    assertThat(ready.dataset()).isSameAs(dialogs);
    assertThat(ready.prompts().made()).isEmpty();
  }

  @Test
  void onlyRagHasASystemPromptOf2000Tokens() {
    for (WorkloadScenario scenario : WorkloadScenario.values()) {
      WorkloadScenario.Ready ready = scenario.ready(CL100K, 42, 1, null);
      if (scenario == WorkloadScenario.C) {
        String system = ready.system();
        assertThat(system).startsWith("You are an assistant");
        assertThat(CL100K.count(system == null ? "" : system)).isEqualTo(2_000);
        assertThat(ready.systemTokens()).isEqualTo(2_000);
      } else {
        assertThat(ready.system()).isNull();
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void theSameSeedGivesTheSamePromptsAndAnotherOneOthers(WorkloadScenario scenario) {
    WorkloadScenario.Ready ready = scenario.ready(CL100K, 42, 3, null);
    WorkloadScenario.Ready again = scenario.ready(CL100K, 42, 3, null);
    WorkloadScenario.Ready other = scenario.ready(CL100K, 43, 3, null);

    assertThat(again.prompts().made()).isEqualTo(ready.prompts().made());
    assertThat(again.system()).isEqualTo(ready.system());
    assertThat(other.prompts().made()).isNotEqualTo(ready.prompts().made());
  }

  /** Otherwise a scenario would hit the server's cache of another one. */
  @Test
  void promptsOfScenariosDiffer() {
    List<String> beginnings = new ArrayList<>();
    for (WorkloadScenario scenario : WorkloadScenario.values()) {
      List<String> texts =
          scenario.ready(CL100K, 42, 500, null).prompts().made().stream()
              .map(Prompts.DrawnPrompt::text)
              .toList();
      assertThat(texts).hasSize(scenario.isSame() ? 1 : 500).doesNotHaveDuplicates();
      texts.stream().map(text -> CL100K.head(text, 48)).distinct().forEach(beginnings::add);
    }
    assertThat(beginnings).doesNotHaveDuplicates();
  }
}
