package io.github.gatlingllm.workload;

import java.nio.charset.StandardCharsets;

/** Text as it arrives at a server. */
final class SentText {

  private SentText() {}

  /** The text itself, but for half a surrogate pair: UTF-8 has none, a question mark is sent. */
  static String of(String text) {
    boolean whole =
        text.codePoints()
            .noneMatch(c -> c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE);
    return whole ? text : new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
  }
}
