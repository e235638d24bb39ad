package io.github.gatlingllm.record;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TokenGapsTest {

  /**
   * Each row: offsets, tokens per event, choice per event, N; then raw gaps, and gaps per token.
   */
  @ParameterizedTest
  @CsvSource({
    "'100', '', '', 1, '', ''",
    "'', '', '', 5, '', ''",
    "'100 130 190', '', '', 3, '30 60', '30 60'",
    "'100 130 190', '1 1 3', '', 5, '30 60', '20 20 20 30'",
    "'100 130 190', '', '', 6, '30 60', '15 15 30 30'",
    "'100 130 190', '', '', 2, '30 60', '30 60'",
    "'100 130 190', '1 0 1', '', 2, '30 60', '90'",
    "'100 130 190', '1 1 0', '', 2, '30 60', '30'",
    "'100 100 100', '', '', 3, '0 0', '0 0'",
    "'10 15 30 45', '', '0 1 0 1', 4, '20 30', '20 30'",
    "'100 300', '', '', 4, '200', '100 100'",
    "'0 10 20 30', '', '', 6, '10 10 10', '6 6 6 6 6'",
  })
  void gapsAndTokens(
      String offsets, String tokens, String choices, int n, String raw, String perToken) {
    RequestRecord.Events events = events(ints(offsets), ints(tokens), ints(choices));
    List<String> chunks = new ArrayList<>();
    TokenGaps.visit(events, tokens(n), (i, chunk, micros, count) -> chunks.add("" + chunk));
    assertThat(String.join(" ", chunks)).isEqualTo(raw);
    List<String> values = new ArrayList<>();
    for (double value : TokenGaps.sortedTokenMicros(events, tokens(n))) {
      values.add("" + (int) value);
    }
    assertThat(String.join(" ", values)).isEqualTo(perToken);
  }

  /** A count that no answer can have must not cost memory. */
  @Test
  void gapsOfTooManyTokensAreNotListed() {
    RequestRecord.Events events =
        events(new int[] {0, 10}, new int[] {1, 2_000_000_000}, new int[0]);
    assertThat(TokenGaps.sortedTokenMicros(events, tokens(3))).isEmpty();
  }

  @Test
  void unknownNumberOfTokensIsOnePerEvent() {
    RequestRecord.Tokens unknown =
        new RequestRecord.Tokens(
            null, null, null, null, null, null, null, null, null, true, null, List.of(), null);
    assertThat(
            TokenGaps.sortedTokenMicros(
                events(new int[] {0, 10, 30}, new int[0], new int[0]), unknown))
        .containsExactly(10, 20);
  }

  @ParameterizedTest
  @CsvSource({"50, 2", "51, 3", "75, 3", "76, 4", "99, 4", "100, 4", "25, 1", "1, 1"})
  void nearestRank(double percent, double expected) {
    assertThat(TokenGaps.nearestRank(new double[] {1, 2, 3, 4}, percent)).isEqualTo(expected);
  }

  private static int[] ints(String text) {
    return text.isEmpty()
        ? new int[0]
        : java.util.Arrays.stream(text.split(" ", -1)).mapToInt(Integer::parseInt).toArray();
  }

  private static RequestRecord.Events events(int[] offsets, int[] tokens, int[] choices) {
    return new RequestRecord.Events(
        offsets, tokens, choices, offsets.length, 0, 0, true, null, null);
  }

  private static RequestRecord.Tokens tokens(int n) {
    return new RequestRecord.Tokens(
        null, null, null, null, null, n, null, null, n, false, null, List.of(), null);
  }
}
