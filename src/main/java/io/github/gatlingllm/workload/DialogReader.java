package io.github.gatlingllm.workload;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.gatlingllm.client.Api.Message;
import io.github.gatlingllm.load.DataFile;
import io.github.gatlingllm.workload.Conversation.Dialog;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/** Converts the entries of one published format to dialogs. */
interface DialogReader {

  String LONGBENCH_PROMPT =
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

      Which choice is right? Name its letter, then say why.\
      """;

  Dialog dialog(JsonNode entry, long key);

  /** Like {@link #dialog}, for statistics only: long texts of known length may be missing. */
  default Dialog outline(JsonNode entry, long key) {
    return dialog(entry, key);
  }

  String LONGBENCH_V1_PROMPT =
      """
      Here is a text, and after it a question about it.

      <text>
      %s
      </text>

      %s\
      """;

  static String text(JsonNode object, String key) {
    JsonNode value = object.path(key);
    if (!value.isTextual()) {
      throw new IllegalArgumentException("expected a text \"" + key + "\"");
    }
    return value.textValue();
  }

  /** A well-formed entry without a question. */
  final class Unusable extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Unusable(String reason) {
      super(reason, null, false, false);
    }
  }

  /**
   * A dialog of ShareGPT, {@code {"conversations": [{"from": "human", "value": "…"}, …]}};
   * collections also name them {@code conversation}, {@code items} or {@code messages}, {@code
   * role} and {@code content}.
   */
  static Dialog shareGpt(JsonNode entry) {
    JsonNode list =
        Stream.of("conversations", "conversation", "items", "messages")
            .map(entry::path)
            .filter(JsonNode::isArray)
            .findFirst()
            .orElseThrow(
                () ->
                    new IllegalArgumentException(
                        "expected an object with a list \"conversations\"; is it in the ShareGPT"
                            + " form?"));
    List<Message> messages = new ArrayList<>();
    for (JsonNode message : list) {
      String role = shareGptRole(text(message, message.has("from") ? "from" : "role"));
      messages.add(Message.of(role, text(message, message.has("value") ? "value" : "content")));
    }
    return Dialog.of(messages);
  }

  private static String shareGptRole(String from) {
    return switch (from.toLowerCase(Locale.ROOT)) {
      case "human", "user" -> "user";
      case "gpt", "assistant", "chatgpt", "bing", "bard", "model" -> "assistant";
      case "system" -> "system";
      case "function_call", "function", "observation", "tool", "tool_call", "tool_response" ->
          throw new Unusable("with calls of tools");
      default -> throw new Unusable("with messages of another role than human, gpt and system");
    };
  }

  /**
   * The best-ranked path through a message tree of OpenAssistant, {@code {"prompt": {"text": "…",
   * "role": "prompter", "replies": [{…}, …]}}}: after each message the reply with the lowest {@code
   * rank}, ranked before unranked, without those that were deleted or rejected by reviewers.
   */
  static Dialog openAssistant(JsonNode tree) {
    JsonNode prompt = tree.path("prompt");
    if (!prompt.isObject()) {
      throw new IllegalArgumentException("expected a message tree with a \"prompt\"");
    }
    if (isRejected(prompt)) {
      throw new Unusable("the prompt was deleted or rejected");
    }
    List<Message> messages = new ArrayList<>();
    for (JsonNode next = prompt; next != null; next = best(next.path("replies"))) {
      String role = text(next, "role");
      if (!role.equals("prompter") && !role.equals("assistant")) {
        throw new IllegalArgumentException(
            "a message has the role '" + role + "'; expected prompter or assistant");
      }
      messages.add(Message.of(role.equals("prompter") ? "user" : role, text(next, "text")));
    }
    return Dialog.of(messages);
  }

  private static @Nullable JsonNode best(JsonNode replies) {
    return StreamSupport.stream(replies.spliterator(), false)
        .filter(reply -> !isRejected(reply))
        .min(Comparator.comparingInt(reply -> reply.path("rank").asInt(Integer.MAX_VALUE)))
        .orElse(null);
  }

  private static boolean isRejected(JsonNode message) {
    JsonNode review = message.path("review_result");
    return message.path("deleted").asBoolean(false)
        || (review.isBoolean() && !review.booleanValue());
  }

  /**
   * A question of LongBench v2, whose {@code answer} is a letter for grading, or of its first
   * version, with an {@code input}, which is empty where the context states what to do.
   */
  static Dialog longBench(JsonNode entry) {
    if (entry.has("input")) {
      String input = text(entry, "input").strip();
      String context = text(entry, "context").strip();
      return Dialog.of(
          List.of(
              Message.user(
                  input.isEmpty() || context.isEmpty()
                      ? context + input
                      : LONGBENCH_V1_PROMPT.formatted(context, input))));
    }
    String prompt =
        LONGBENCH_PROMPT.formatted(
            text(entry, "context").strip(),
            text(entry, "question").strip(),
            text(entry, "choice_A").strip(),
            text(entry, "choice_B").strip(),
            text(entry, "choice_C").strip(),
            text(entry, "choice_D").strip());
    return Dialog.of(List.of(Message.user(prompt)));
  }

  /** A chat in OpenAI's format: a fine-tuning example, a line of its batch API, or a payload. */
  static Dialog openAiChat(JsonNode entry) {
    JsonNode chat =
        Stream.of(entry.path("body"), entry.path("payload"), entry.path("payload").path(0))
            .filter(JsonNode::isObject)
            .findFirst()
            .orElse(entry);
    if (!chat.path("messages").isArray()) {
      throw new IllegalArgumentException(
          "expected an object with a list \"messages\", or with it in \"body\" or \"payload\"");
    }
    List<Message> messages = new ArrayList<>();
    for (JsonNode message : chat.path("messages")) {
      messages.add(openAiMessage(message));
    }
    return new Dialog(
        messages,
        array(chat, "tools"),
        null,
        length(chat, chat.has("max_tokens") ? "max_tokens" : "max_completion_tokens"));
  }

  /** The prompt of a request that has it as messages or as a text; null if only its length. */
  static @Nullable Dialog prompt(JsonNode request, @Nullable Integer outputTokens) {
    if (request.has("text_input")) {
      List<Message> messages = List.of(Message.user(text(request, "text_input")));
      return new Dialog(messages, null, null, outputTokens);
    }
    if (!request.has("messages")) {
      return null;
    }
    Dialog chat = openAiChat(request);
    Integer output = outputTokens == null ? chat.outputTokens() : outputTokens;
    return new Dialog(chat.messages(), chat.tools(), null, output);
  }

  private static Message openAiMessage(JsonNode message) {
    JsonNode content = message.path("content");
    boolean isAbsent = content.isNull() || content.isMissingNode();
    if (!isAbsent && !content.isTextual() && !content.isArray()) {
      throw new IllegalArgumentException("expected a text or a list of parts as \"content\"");
    }
    String toolCalls = array(message, "tool_calls");
    if (isAbsent && toolCalls == null) {
      throw new IllegalArgumentException("a message has neither \"content\" nor \"tool_calls\"");
    }
    return new Message(
        text(message, "role"),
        content.textValue(),
        content.isArray() ? content.toString() : null,
        toolCalls,
        message.path("tool_call_id").textValue());
  }

  private static @Nullable String array(JsonNode object, String key) {
    JsonNode value = object.path(key);
    if (value.isMissingNode() || value.isNull()) {
      return null;
    }
    if (!value.isArray()) {
      throw new IllegalArgumentException("expected a list as \"" + key + "\"");
    }
    return value.toString();
  }

  static @Nullable Integer length(JsonNode object, String key) {
    JsonNode value = object.path(key);
    if (value.isMissingNode() || value.isNull()) {
      return null;
    }
    if (!value.isInt() || value.intValue() < 1) {
      throw new IllegalArgumentException(
          "\"%s\" is %s; expected an integer ≥ 1".formatted(key, DataFile.clipped(value)));
    }
    return value.intValue();
  }
}
