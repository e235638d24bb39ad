package io.github.gatlingllm.workload;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class TokenizerTest {

  @Test
  void headsEndWithWholeCharactersAndHoldNoMoreTokensThanAsked() {
    String text = "Größe, naïveté, 東京, 🤖🤖🏳️‍🌈 and a plain end.";
    for (Tokenizer tokenizer : new Tokenizer[] {Tokenizer.cl100k(), Tokenizer.chars4()}) {
      int all = tokenizer.count(text);
      for (int n = 0; n <= all; n++) {
        String head = tokenizer.head(text, n);
        assertThat(text).startsWith(head);
        assertThat(head).doesNotContain("\uFFFD");
        assertThat(tokenizer.count(head)).isLessThanOrEqualTo(n);
      }
      assertThat(tokenizer.head(text, all)).isEqualTo(text);
      assertThat(tokenizer.head(text, all + 1)).isEqualTo(text);
    }
  }

  @Test
  void fourCharactersAreOneToken() {
    assertThat(Tokenizer.chars4().count("")).isZero();
    assertThat(Tokenizer.chars4().count("abcd")).isOne();
    assertThat(Tokenizer.chars4().count("abcde")).isEqualTo(2);
    assertThat(Tokenizer.chars4().count("🤖🤖🤖🤖")).isOne();
  }
}
