package io.github.gatlingllm.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.simulations.Benchmark;
import io.github.gatlingllm.testing.GatlingRun;
import io.github.gatlingllm.workload.Tokenizer;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Workloads in real runs of Gatling: the requests that are sent. */
class WorkloadsIT {

  private static final Tokenizer CL100K = Tokenizer.cl100k();

  @Test
  void dialogsGrowNoncesDifferAndPromptsHaveExactLengths() throws Exception {
    try (Parrot server = new Parrot()) {
      GatlingRun run =
          GatlingRun.of(WorkloadsSimulation.class).set("baseUrl", server.baseUrl()).succeed();
      List<Parrot.Heard> heard = server.heard();
      assertThat(heard).hasSize(2 * WorkloadsSimulation.TURNS + 2 * WorkloadsSimulation.USERS);
      dialogs(heard.subList(0, 2 * WorkloadsSimulation.TURNS));
      int fed = heard.size() - WorkloadsSimulation.USERS;
      unique(heard.subList(fed - WorkloadsSimulation.USERS, fed));
      fed(heard.subList(fed, heard.size()));
      assertThat(run.requests("D").stream().map(r -> r.identity().turn()))
          .containsExactly(1, 2, 3, 1, 2, 3);
      assertThat(run.requests("fed " + WorkloadsSimulation.FED_TOKENS)).hasSize(3);
      assertThat(run.info().config())
          .containsEntry("uniquePrompts", "true")
          .containsEntry("prefixSeed", "42");
    }
  }

  private static void dialogs(List<Parrot.Heard> heard) {
    for (int dialog = 0; dialog < 2; dialog++) {
      List<String> before = List.of();
      for (int turn = 0; turn < WorkloadsSimulation.TURNS; turn++) {
        List<String> contents = heard.get(dialog * WorkloadsSimulation.TURNS + turn).contents();
        assertThat(contents).as("turn " + turn).hasSize(2 * turn + 1);
        assertThat(contents.subList(0, before.size())).isEqualTo(before);
        assertThat(CL100K.count(contents.get(2 * turn))).isEqualTo(50);
        before = contents;
      }
    }
  }

  private static void unique(List<Parrot.Heard> heard) {
    assertThat(heard.stream().map(each -> each.contents().get(0).substring(0, 20)))
        .doesNotHaveDuplicates()
        .allMatch(nonce -> nonce.matches("\\d{18}\n\n"));
    assertThat(heard.stream().map(each -> each.contents().get(0).substring(20)).distinct())
        .as("the system prompt behind the nonces")
        .hasSize(1)
        .allMatch(system -> CL100K.count(system) == 2_000);
  }

  private static void fed(List<Parrot.Heard> heard) {
    assertThat(heard.stream().map(each -> each.contents().get(0)))
        .doesNotHaveDuplicates()
        .allMatch(prompt -> CL100K.count(prompt) == WorkloadsSimulation.FED_TOKENS)
        .allMatch(prompt -> prompt.matches("(?s)\\d{18}\n\n\\S.*"));
  }

  @Test
  void scenariosRunOneAfterTheOtherOnEachTarget() throws Exception {
    try (EmbeddedEngine a = EmbeddedEngine.builder().seed(1).start();
        EmbeddedEngine b = EmbeddedEngine.builder().seed(1).start()) {
      GatlingRun run =
          GatlingRun.of(Benchmark.class)
              .set("llm.endpoint", a.baseUrl() + "," + b.baseUrl())
              .set("llm.concurrency", "1")
              .set("llm.maxTokens", "4")
              .set("llm.seed", "42")
              .set("llm.scenario", "D,B1,A1,C")
              .set("llm.requests", "2")
              .set("llm.sharedPrefix", "2x32")
              .succeed();

      List<String> each =
          List.of(
              "D D", "D D", "D D", "D D", "D D", "D D", "D D", "D D", "D D", "D D", "B1 B1",
              "B1 B1", "A1 A1", "A1 A1", "C C", "C C");
      List<RequestRecord> records = run.requests();
      assertThat(records).hasSize(2 * each.size()).allMatch(record -> record.outcome().ok());
      for (int target = 0; target < 2; target++) {
        List<RequestRecord> asked =
            records.subList(target * each.size(), (target + 1) * each.size());
        assertThat(asked.stream().map(r -> r.identity().scenario() + " " + r.identity().name()))
            .containsExactlyElementsOf(each);
        assertThat(asked.stream().map(r -> r.identity().target()).distinct()).hasSize(1);
      }
      assertThat(records.stream().map(r -> r.identity().target()).distinct()).hasSize(2);
      assertThat(run.info().config()).containsEntry("sharedPrefix", "2x32");
    }
  }
}
