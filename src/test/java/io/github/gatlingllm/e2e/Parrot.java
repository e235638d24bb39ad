package io.github.gatlingllm.e2e;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.gatlingllm.testing.ChatChunks;
import io.github.gatlingllm.testing.Exchange;
import io.github.gatlingllm.testing.Request;
import io.github.gatlingllm.testing.ScriptedServer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * A server whose answers are set by the test: a user message {@code say <text>} is answered with
 * that text, any other one with {@value #OTHERWISE}. Requests to other paths get a JSON object.
 */
final class Parrot implements AutoCloseable {

  static final String OTHERWISE = "As [1] states.";

  /** Long enough that the two halves of an answer arrive in two reads. */
  private static final long LATER_NANOS = 50_000_000L;

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String SAY = "say ";

  private final ScriptedServer server = ScriptedServer.start(Parrot::answer);

  record Heard(Request request, JsonNode body) {

    List<String> contents() {
      List<String> contents = new ArrayList<>();
      body.path("messages").forEach(message -> contents.add(message.path("content").asText()));
      return contents;
    }
  }

  String url() {
    return server.baseUrl();
  }

  String baseUrl() {
    return url() + "/v1";
  }

  int connections() {
    return server.connections();
  }

  List<Request> requests() {
    return server.requests();
  }

  /** Received completion requests whose last message, or prompt, is this text. */
  List<Heard> heard(String last) throws IOException {
    return heard().stream().filter(each -> last(each.body()).equals(last)).toList();
  }

  List<Heard> heard() throws IOException {
    List<Heard> heard = new ArrayList<>();
    for (Request request : server.requests()) {
      if (request.path().endsWith("completions")) {
        heard.add(new Heard(request, JSON.readTree(request.body())));
      }
    }
    return heard;
  }

  private static void answer(Exchange exchange) throws IOException, InterruptedException {
    if (!exchange.request().path().endsWith("completions")) {
      exchange.respond(200, "application/json", "{}");
      return;
    }
    JsonNode body = JSON.readTree(exchange.request().body());
    String last = last(body);
    String text = last.startsWith(SAY) ? last.substring(SAY.length()) : OTHERWISE;
    if (!body.path("stream").asBoolean()) {
      exchange.respond(200, "application/json", ChatChunks.withUsage(ChatChunks.body(text), 7, 2));
      return;
    }
    if (body.has("tools") && text.startsWith("weather in ")) {
      callTools(exchange);
      return;
    }
    int middle = text.length() / 2;
    exchange
        .startStream()
        .event(ChatChunks.role())
        .event(ChatChunks.content(text.substring(0, middle)))
        .at(LATER_NANOS)
        .event(ChatChunks.content(text.substring(middle)))
        .event(ChatChunks.finish("stop"))
        .event(ChatChunks.usage(7, 2))
        .done()
        .lastChunk();
  }

  /** Calls a tool for two cities; the deltas of the two calls are interleaved. */
  private static void callTools(Exchange exchange) throws IOException, InterruptedException {
    exchange
        .startStream()
        .event(ChatChunks.role())
        .event(call("'index':0,'id':'p','function':{'name':'weather','arguments':''}"))
        .event(call("'index':0,'function':{'arguments':'{\\'in\\':'}"))
        .event(
            call(
                "'index':1,'id':'r','function':{'name':'weather','arguments':'{\\'in\\':\\'Rome\\'}'}"))
        .event(call("'index':0,'function':{'arguments':'\\'Paris\\'}'}"))
        .event(ChatChunks.finish("tool_calls"))
        .event(ChatChunks.usage(7, 4))
        .done()
        .lastChunk();
  }

  private static String call(String call) {
    String delta = "{'tool_calls':[{" + call + "}]}";
    return ChatChunks.chunk(delta.replace('\'', '"'), "null");
  }

  private static String last(JsonNode body) {
    JsonNode messages = body.path("messages");
    return messages.isEmpty()
        ? body.path("prompt").asText()
        : messages.get(messages.size() - 1).path("content").asText();
  }

  @Override
  public void close() throws IOException {
    server.close();
  }
}
