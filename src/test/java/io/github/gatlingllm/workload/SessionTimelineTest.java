package io.github.gatlingllm.workload;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.workload.Conversation.Dialog;
import io.github.gatlingllm.workload.Dataset.Agent;
import io.github.gatlingllm.workload.Dataset.RecordedRequest;
import io.github.gatlingllm.workload.Dataset.RecordedSession;
import io.github.gatlingllm.workload.Dataset.RecordedTurn;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class SessionTimelineTest {

  private static final long SECOND = 1_000_000_000L;

  /**
   * Sent at 0, 20 (gap 10 after an answer of 10 s), then its agents from 30: joined at 30 and 45,
   * in the background at 130; then, 5 after the join at 50, at 55.
   */
  private static final RecordedSession TREE =
      new RecordedSession(
          "s",
          new Agent(
              "",
              List.of(
                  turn(0, 0, 10),
                  turn(
                      10,
                      0,
                      10,
                      new Agent("j", List.of(turn(0, 0, 5), turn(10, 0, 5)), 2),
                      new Agent("b", List.of(turn(100, 0, 5)), null)),
                  turn(5, 0, 10)),
              null),
          6);

  private static RecordedTurn turn(long gap, long due, long took, Agent... children) {
    Supplier<Dialog> prompt = () -> Dialog.of(List.of());
    return new RecordedTurn(
        gap * SECOND,
        due * SECOND,
        prompt,
        List.of(children),
        new RecordedRequest(0L, took * SECOND, 0, null, null, 1, () -> new long[0]));
  }

  private static String shown(Agent agent) {
    return agent.name()
        + (agent.joinedBy() == null ? "" : "^" + agent.joinedBy())
        + "+"
        + agent.before()
        + agent.turns().stream()
            .map(
                turn ->
                    (turn.isRequest() ? " %.1f@%.1f" : " none")
                            .formatted(turn.gapNanos() / 1e9, turn.dueNanos() / 1e9)
                        + turn.children().stream()
                            .map(child -> "[" + shown(child) + "]")
                            .collect(Collectors.joining()))
            .collect(Collectors.joining());
  }

  /** Shares of the 130 s from the first to the last request. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "0 | +0 0.0@0.0 | 5 | +1 20.0@0.0[j^1+0 0.0@0.0 10.0@0.0][b+0 100.0@0.0] 5.0@0.0",
        "10 | +0 0.0@0.0 | 5 | +1 10.0@0.0[j^1+0 0.0@0.0 10.0@0.0][b+0 100.0@0.0] 5.0@0.0",
        "25 | +1 0.0@0.0 | 4 | +1 none[j^1+0 5.0@0.0 10.0@0.0][b+0 105.0@0.0] 5.0@0.0",
        "40 | j+0 0.0@0.0 | 3 | +1 none[j^1+1 5.0@0.0][b+0 90.0@0.0] 5.0@0.0",
        "52 | j+1 0.0@0.0 | 2 | +1 none[b+0 78.0@0.0] 3.0@0.0",
        "90 | +2 0.0@0.0 | 1 | +2 none[b+0 40.0@0.0]",
        "130 | b+0 0.0@0.0 | 0 | +0",
      })
  void whatIsLeftOfASession(double at, String fill, int turns, String main) {
    RecordedSession rest = SessionTimeline.from(TREE, at / 130);

    assertThat(shown(Objects.requireNonNull(rest.fill()))).isEqualTo(fill);
    assertThat(rest.turns()).isEqualTo(turns);
    assertThat(shown(rest.main())).isEqualTo(main);
  }

  @Test
  void timeStampsCountFromTheInstant() {
    Agent child = new Agent("c", List.of(turn(0, 30, 0)), 2);
    RecordedSession stamped =
        new RecordedSession(
            "s",
            new Agent("", List.of(turn(0, 0, 0), turn(0, 20, 0, child), turn(0, 40, 0)), null),
            4);

    assertThat(shown(SessionTimeline.from(stamped, 0.25).main()))
        .isEqualTo("+1 10.0@0.0[c^1+0 0.0@20.0] 0.0@30.0");
  }

  /** Without recorded times, the share is one of the number of requests. */
  @Test
  void aSessionWithoutTimesIsCutBetweenRequests() {
    RecordedSession plain =
        new RecordedSession(
            "s",
            new Agent(
                "", List.of(turn(0, 0, 0), turn(0, 0, 0), turn(0, 0, 0), turn(0, 0, 0)), null),
            4);

    assertThat(SessionTimeline.from(plain, 0.7).turns()).isEqualTo(1);
    assertThat(Objects.requireNonNull(SessionTimeline.from(plain, 0.7).fill()).before())
        .isEqualTo(2);
  }

  @Test
  void gapsAreCutThenDivided() {
    assertThat(shown(SessionTimeline.paced(TREE, 8 * SECOND, 2).main()))
        .isEqualTo("+0 0.0@0.0 4.0@0.0[j^2+0 0.0@0.0 4.0@0.0][b+0 4.0@0.0] 2.5@0.0");
    assertThat(SessionTimeline.paced(TREE, Long.MAX_VALUE, 1)).isSameAs(TREE);
    assertThat(SessionTimeline.gaps(TREE)).isEqualTo(125e9);
  }

  /** 100 s and 5 s between time stamps, and 50 s to that of the child. */
  @Test
  void timesBetweenTimeStampsAreCut() {
    Agent child = new Agent("c", List.of(turn(0, 150, 0)), 2);
    RecordedSession stamped =
        new RecordedSession(
            "s",
            new Agent("", List.of(turn(0, 0, 0), turn(0, 100, 0, child), turn(0, 105, 0)), null),
            4);

    assertThat(shown(SessionTimeline.paced(stamped, 10 * SECOND, 1).main()))
        .isEqualTo("+0 0.0@0.0 0.0@10.0[c^2+0 0.0@20.0] 0.0@15.0");
    assertThat(SessionTimeline.gaps(stamped)).isEqualTo(155e9);
  }
}
