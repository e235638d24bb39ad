package io.github.gatlingllm.workload;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.gatlingllm.wire.GenerationRequest.Message;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Dialogs in the form of ShareGPT: an object with a list of messages that say who they are from.
 *
 * <pre>{@code
 * {"id": "a1", "conversations": [{"from": "human", "value": "…"}, {"from": "gpt", "value": "…"}]}
 * }</pre>
 *
 * <p>The list may be called {@code items}, as in raw exports, and messages may have {@code role}
 * and {@code content}, as in later collections of the same form.
 */
final class ShareGpt implements DialogReader {

  @Override
  public Dialog dialog(List<JsonNode> entries, long key) {
    JsonNode entry = entries.get(0);
    JsonNode list = entry.has("conversations") ? entry.path("conversations") : entry.path("items");
    if (!list.isArray()) {
      throw new IllegalArgumentException(
          "expected an object with a list \"conversations\"; is it in the ShareGPT form?");
    }
    List<Message> messages = new ArrayList<>();
    for (JsonNode said : list) {
      String text = DialogReader.text(said, said.has("value") ? "value" : "content");
      String from = DialogReader.text(said, said.has("from") ? "from" : "role");
      messages.add(Message.of(role(from), text));
    }
    return Dialog.of(messages);
  }

  private static String role(String from) {
    return switch (from.toLowerCase(Locale.ROOT)) {
      case "human", "user" -> "user";
      case "gpt", "assistant", "chatgpt", "bing", "bard", "model" -> "assistant";
      case "system" -> "system";
      default ->
          throw new IllegalArgumentException(
              "a message is from '" + from + "'; expected human, gpt or system");
    };
  }
}
