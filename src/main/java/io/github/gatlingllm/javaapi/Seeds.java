package io.github.gatlingllm.javaapi;

import java.util.SplittableRandom;

/** Seeds of what nobody pinned. */
final class Seeds {

  private Seeds() {}

  static long random() {
    return new SplittableRandom().nextLong();
  }
}
