package io.github.gatlingllm.e2e;

import static org.assertj.core.api.Assertions.assertThat;

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
      GatlingRun run = GatlingRun.of(WorkloadsSimulation.class, server.baseUrl()).succeed();
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
}
