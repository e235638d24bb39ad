package io.github.gatlingllm.simulations;

import io.github.gatlingllm.record.Assertion;
import java.util.Arrays;
import java.util.List;

/** Assertions as they are written in settings, for tests of other packages. */
public final class AssertionTexts {

  private AssertionTexts() {}

  public static List<Assertion> parse(String... texts) {
    return Arrays.stream(texts).map(AssertionText::parse).toList();
  }
}
