package io.github.gatlingllm.workload;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.gatlingllm.wire.GenerationRequest.Message;
import java.util.List;

/**
 * Questions of LongBench v2: a long {@code context}, a {@code question}, and {@code choice_A} to
 * {@code choice_D}. Its {@code answer} is a letter to grade by, not a recorded answer.
 */
final class LongBench implements DialogReader {

  private static final String PROMPT =
      """
      Here is a text, and after it a question about it.

      <text>
      %s
      </text>

      %s
      A: %s
      B: %s
      C: %s
      D: %s

      Which choice is right? Name its letter, then say why.""";

  @Override
  public Dialog dialog(List<JsonNode> entries, long key) {
    JsonNode entry = entries.get(0);
    String prompt =
        PROMPT.formatted(
            DialogReader.text(entry, "context").strip(),
            DialogReader.text(entry, "question").strip(),
            DialogReader.text(entry, "choice_A").strip(),
            DialogReader.text(entry, "choice_B").strip(),
            DialogReader.text(entry, "choice_C").strip(),
            DialogReader.text(entry, "choice_D").strip());
    return Dialog.of(List.of(Message.user(prompt)));
  }
}
