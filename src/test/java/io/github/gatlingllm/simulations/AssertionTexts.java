package io.github.gatlingllm.simulations;

import io.github.gatlingllm.record.Objectives.Assertion;
import java.util.Arrays;
import java.util.List;

/** Lets tests of other packages parse assertions of settings. */
public final class AssertionTexts {

  private AssertionTexts() {}

  public static List<Assertion> parse(String... texts) {
    return Arrays.stream(texts).map(Goals::assertion).toList();
  }
}
