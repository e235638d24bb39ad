package io.github.gatlingllm.workload;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class CountedTextsTest {

  private final List<String> asked = new ArrayList<>();
  private final Tokenizer counting =
      new FakeTokenizer(
          text -> {
            asked.add(text);
            return text.length();
          });

  @Test
  void eachTextIsTokenizedOnce() {
    TokenCounting.CountedTexts texts = new TokenCounting.CountedTexts(counting);
    assertThat(texts.count(List.of("be brief", "hi"))).isEqualTo(10);
    assertThat(texts.count(List.of("be brief", "hi", "hello", "and"))).isEqualTo(18);
    assertThat(texts.count(List.of())).isZero();
    assertThat(asked).containsExactly("be brief", "hi", "hello", "and");
  }

  @Test
  void leastRecentlyUsedTextIsEvicted() {
    TokenCounting.CountedTexts texts = new TokenCounting.CountedTexts(counting, 10, 99);
    assertThat(texts.count(List.of("aaaa", "bbbb", "aaaa", "cccc"))).isEqualTo(16);
    assertThat(texts.count(List.of("aaaa", "bbbb"))).isEqualTo(8);
    assertThat(asked).containsExactly("aaaa", "bbbb", "cccc", "bbbb");
  }

  @Test
  void textAboveTheLimitIsNotCached() {
    TokenCounting.CountedTexts texts = new TokenCounting.CountedTexts(counting, 3, 99);
    assertThat(texts.count(List.of("abcd", "abcd"))).isEqualTo(8);
    assertThat(asked).containsExactly("abcd", "abcd");
  }

  @Test
  void numberOfCachedTextsIsBounded() {
    TokenCounting.CountedTexts texts = new TokenCounting.CountedTexts(counting, 1_000, 5);
    for (int i = 0; i < 100; i++) {
      texts.count(List.of("" + i));
    }
    asked.clear();
    texts.count(List.of("99", "95", "94"));
    assertThat(asked).containsExactly("94");
  }
}
