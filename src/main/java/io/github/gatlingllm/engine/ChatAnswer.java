package io.github.gatlingllm.engine;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import io.github.gatlingllm.client.Api;
import io.github.gatlingllm.engine.GeneratedAnswer.TokenType;
import io.netty.channel.ChannelHandlerContext;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Answers of chat and text completions: the role chunk when the prefill begins (chat only), a chunk
 * per text, the finish chunk; after the last choice the usage chunk if requested, and {@code
 * [DONE]}.
 */
final class ChatAnswer extends ResponseWriter.Events {
  private final CompletionRequest request;
  private final boolean chat;
  private final String model;
  private final long createdSeconds;
  private final Map<Place, Chunk> chunks = new HashMap<>();

  private record Place(int choice, TokenType type) {}

  private record Chunk(String start, String end) {}

  ChatAnswer(
      ChannelHandlerContext context,
      CompletionRequest request,
      String requestId,
      String model,
      long createdSeconds) {
    super(context, requestId);
    this.request = request;
    this.chat = request.api() == Api.CHAT;
    this.model = model;
    this.createdSeconds = createdSeconds;
  }

  @Override
  void begin(int choice, Usage usage) {
    if (chat) {
      chunk(chunk(choice, Json.of("{'role':'assistant','content':''}"), null).text(), usage);
    }
  }

  @Override
  void text(int choice, TokenType type, String text, Usage usage) {
    Chunk chunk = chunks.computeIfAbsent(new Place(choice, type), this::around);
    String escaped = String.valueOf(JsonStringEncoder.getInstance().quoteAsString(text));
    chunk(chunk.start + escaped + chunk.end, usage);
  }

  private Chunk around(Place place) {
    String mark = "|";
    String json = chunk(place.choice, chat ? delta(place, mark) : mark, null).text();
    int at = json.lastIndexOf(mark);
    return new Chunk(json.substring(0, at), json.substring(at + 1));
  }

  private Json delta(Place place, String text) {
    return switch (place.type) {
      case REASONING -> Json.of("{'reasoning_content':%s}", text);
      case TEXT -> Json.of("{'content':%s}", text);
      case TOOL_NAME ->
          Json.of("{'tool_calls':[%s]}", call(place.choice, text, "").with("index", 0));
      case ARGUMENTS -> Json.of("{'tool_calls':[{'index':0,'function':{'arguments':%s}}]}", text);
    };
  }

  private Json call(int choice, String name, String arguments) {
    return Json.of(
        "{'id':%s,'type':'function','function':{'name':%s,'arguments':%s}}",
        "call_" + requestId + "-" + choice, name, arguments);
  }

  @Override
  void finish(int choice, String finishReason, Usage usage) {
    chunk(chunk(choice, chat ? Json.of("{}") : "", finishReason).text(), usage);
  }

  @Override
  void end(Usage usage) {
    if (request.includeUsage()) {
      event(answer(List.of()).with("usage", usage.json()).text());
    }
    event("[DONE]");
    close();
  }

  private void chunk(String json, Usage usage) {
    event(request.continuousUsage() ? new Json(json).with("usage", usage.json()).text() : json);
  }

  private void event(String data) {
    write("data: " + data + "\n\n");
  }

  private Json chunk(int index, Object content, @Nullable String finishReason) {
    return answer(List.of(choice(index, chat ? "delta" : "text", content, finishReason)));
  }

  @Override
  Json whole(List<SentChoice> choices, Usage usage) {
    return answer(
            IntStream.range(0, choices.size())
                .mapToObj(index -> whole(index, choices.get(index)))
                .toList())
        .with("usage", usage.json());
  }

  private Json whole(int index, SentChoice sent) {
    String text = Objects.requireNonNullElse(sent.text(TokenType.TEXT), "");
    if (!chat) {
      return choice(index, "text", text, sent.finishReason);
    }
    String reasoning = sent.text(TokenType.REASONING);
    String tool = sent.text(TokenType.TOOL_NAME);
    Json message = Json.of("{'role':'assistant','content':%s}", tool == null ? text : null);
    if (reasoning != null) {
      message = message.with("reasoning_content", reasoning);
    }
    if (tool != null) {
      String arguments = Objects.requireNonNullElse(sent.text(TokenType.ARGUMENTS), "");
      message = message.with("tool_calls", List.of(call(index, tool, arguments)));
    }
    return choice(index, "message", message, sent.finishReason);
  }

  private Json answer(List<Json> choices) {
    String object =
        chat ? (request.stream() ? "chat.completion.chunk" : "chat.completion") : "text_completion";
    return Json.of(
        "{'id':%s,'object':%s,'created':%s,'model':%s,'choices':%s}",
        (chat ? "chatcmpl-" : "cmpl-") + requestId, object, createdSeconds, model, choices);
  }

  private static Json choice(
      int index, String name, Object content, @Nullable String finishReason) {
    return Json.of(
        "{'index':%s,%s:%s,'logprobs':null,'finish_reason':%s}",
        index, name, content, finishReason);
  }
}
