package io.github.gatlingllm.action;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.testing.PlanLines;
import io.github.gatlingllm.testing.SlowServer;
import io.github.gatlingllm.testing.SlowServer.Visit;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Closed loops in a real run of Gatling, judged by what the server saw. */
class ClosedLoopIT {

  private static final List<String> LEVELS = List.of("c=32", "c=8", "c=1");

  private static int users(String label) {
    return Integer.parseInt(label.substring("c=".length()));
  }

  private static PlanLines run(String plan, SlowServer server, boolean exits) throws Exception {
    PlanLines lines =
        PlanLines.of(
            PlanSimulation.class, Map.of("url", server.url(), "plan", plan, "exits", exits));
    assertThat(lines.all()).endsWith("after");
    return lines;
  }

  /** The server answers when all users of a level are there, so the run ends only if they come. */
  @Test
  void eachLevelHasExactlyItsUsersInFlight() throws Exception {
    try (SlowServer server = SlowServer.together(ClosedLoopIT::users)) {
      PlanLines lines = run("rounds", server, false);

      assertThat(lines.of("started")).containsExactlyElementsOf(LEVELS);
      for (String label : LEVELS) {
        assertThat(server.visits(label)).as(label).hasSize(96);
        assertThat(server.most(label)).as(label).isEqualTo(users(label));
      }
    }
  }

  /** Every other user exits after its first iteration; four are there all the same, 12 times. */
  @Test
  void usersThatExitAreReplacedAndACountBoundsTheLevel() throws Exception {
    try (SlowServer server = SlowServer.together(ClosedLoopIT::users)) {
      run("count", server, true);

      assertThat(server.visits()).hasSize(48);
      assertThat(server.visits()).extracting(Visit::path).containsOnly("/c=4/measure");
      assertThat(server.most("c=4")).isEqualTo(4);
    }
  }

  /** A body that never leaves the stack must not grow it. */
  @Test
  void iterationsThatNeverWaitDoNotOverflow() throws Exception {
    PlanLines lines = PlanLines.of(PlanSimulation.class, Map.of("plan", "spin"));

    assertThat(lines.words("spins", "all").get(2)).isEqualTo("100000");
  }
}
