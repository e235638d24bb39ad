package io.github.gatlingllm.workload;

import io.github.gatlingllm.workload.Dataset.Agent;
import io.github.gatlingllm.workload.Dataset.RecordedSession;
import java.util.stream.Collectors;

/** Recorded sessions in one line: who sends what when, and who waits for whom. */
final class RecordedTrees {

  private RecordedTrees() {}

  /** Turns as {@code model@start+gap}, times in ms, with the agents that begin in brackets. */
  private static String shown(Agent agent) {
    return agent.name()
        + agent.turns().stream()
            .map(
                turn ->
                    " %s@%s+%s%s"
                        .formatted(
                            turn.recorded().model(),
                            turn.recorded().startNanos() / 1_000_000,
                            turn.gapNanos() / 1_000_000,
                            turn.children().stream()
                                .map(child -> "[" + shown(child) + "]" + joined(child))
                                .collect(Collectors.joining())))
            .collect(Collectors.joining());
  }

  private static String joined(Agent agent) {
    return agent.isBackground() ? "~" : "^" + agent.joinedBy();
  }

  static String shown(RecordedSession session) {
    return shown(session.main())
        + session.beside().stream()
            .map(agent -> " | " + shown(agent))
            .collect(Collectors.joining());
  }
}
