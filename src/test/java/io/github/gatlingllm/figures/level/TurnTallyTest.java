package io.github.gatlingllm.figures.level;

import static io.github.gatlingllm.figures.level.Recorded.at;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.record.RequestRecord;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class TurnTallyTest {

  private static Summary.Workload workload(List<RequestRecord> records) throws IOException {
    return Recorded.summary(Recorded.run(10, Recorded.stage(1, 0, 10_000)), records).workload();
  }

  @Test
  void eachTurnHasItsOwnFigures() throws IOException {
    Summary.Workload workload =
        workload(
            List.of(
                at(0).turn(1).prompt(20).cached(0).tokens(50, 60).record(),
                at(100).turn(2).prompt(60).cached(32).tokens(30, 40).record(),
                at(200).turn(1).prompt(40).cached(0).tokens(70, 80).record(),
                at(300).turn(2).prompt(68).cached(32).tokens(20, 40).record()));
    assertThat(workload.turns()).isEqualTo(Map.of(1, 2L, 2, 2L));
    assertThat(workload.byTurn()).extracting(Summary.Turn::turn).containsExactly(1, 2);
    Summary.Turn second = workload.byTurn().get(1);
    assertThat(second.requests()).isEqualTo(2);
    assertThat(second.meanPromptTokens()).isEqualTo(64);
    assertThat(second.cachedShare()).isEqualTo(0.5);
    assertThat(second.ttftMs().mean()).isEqualTo(25);
    assertThat(workload.byTurn().get(0).cachedShare()).isZero();
  }

  @Test
  void veryLongConversationsShareTheLastRow() throws IOException {
    Summary.Workload workload =
        workload(List.of(at(0).turn(100).record(), at(9).turn(7_000).record()));
    assertThat(workload.turns()).isEqualTo(Map.of(100, 2L));
  }

  @Test
  void requestsOutsideConversationsHaveNoTurn() throws IOException {
    assertThat(workload(List.of(at(0).tokens(5, 6).record())).byTurn()).isEmpty();
  }
}
