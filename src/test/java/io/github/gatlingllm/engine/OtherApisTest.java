package io.github.gatlingllm.engine;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Responses, messages, embeddings and rerank, through the port: they state what chat states. */
@Timeout(120)
final class OtherApisTest {

  @AutoClose
  private final EmbeddedEngine engine =
      EmbeddedEngine.builder()
          .decodeStep(Duration.ofNanos(200_000))
          .seed(1)
          .reasoning(2)
          .apiKey("k")
          .start();

  private final EngineClient client = new EngineClient(engine);

  private JsonNode answer(String path, String body) {
    return EngineClient.json(client.post(path, body, "x-api-key", "k").join());
  }

  private List<JsonNode> stream(String path, String body) {
    return client
        .post(path, body, "Authorization", "Bearer k")
        .join()
        .lines()
        .filter(line -> line.startsWith("data: "))
        .map(line -> EngineClient.json(line.substring("data: ".length())))
        .toList();
  }

  private static String joined(List<JsonNode> events, String type, String pointer) {
    return events.stream()
        .filter(event -> event.path("type").asText().equals(type))
        .map(event -> event.at(pointer).asText())
        .collect(Collectors.joining());
  }

  @Test
  void sameRequestGetsTheSameAnswerInEveryApi() {
    String chat =
        answer(
                "/chat/completions",
                "{'max_tokens':9,'ignore_eos':true,'messages':[{'role':'system','content':'Brief.'},{'role':'user','content':'How"
                    + " are you?'}]}")
            .at("/choices/0/message/content")
            .textValue();

    String responses =
        "{'max_output_tokens':9,'ignore_eos':true,'instructions':'Brief.',"
            + "'input':'How are you?'%s}";
    JsonNode response = answer("/responses", responses.formatted(""));
    assertThat(response.at("/output/1/content/0/text").textValue()).isEqualTo(chat);
    assertThat(response.at("/incomplete_details/reason").textValue())
        .isEqualTo("max_output_tokens");
    assertThat(response.at("/usage/output_tokens").intValue()).isEqualTo(9);
    assertThat(response.at("/usage/output_tokens_details/reasoning_tokens").intValue())
        .isEqualTo(2);
    List<JsonNode> events = stream("/responses", responses.formatted(",'stream':true"));
    assertThat(joined(events, "response.output_text.delta", "/delta")).isEqualTo(chat);
    assertThat(events.get(events.size() - 1).path("type").textValue())
        .isEqualTo("response.incomplete");
    assertThat(events).extracting(e -> e.path("sequence_number").intValue()).isSorted();

    String messages =
        "{'max_tokens':9,'ignore_eos':true,'system':'Brief.','messages':[{'role':'user',"
            + "'content':[{'type':'text','text':'How are you?'}]}]%s}";
    JsonNode message = answer("/messages", messages.formatted(""));
    assertThat(message.at("/content/1/text").textValue()).isEqualTo(chat);
    assertThat(message.path("stop_reason").textValue()).isEqualTo("max_tokens");
    List<JsonNode> blocks = stream("/messages", messages.formatted(",'stream':true"));
    assertThat(joined(blocks, "content_block_delta", "/delta/text")).isEqualTo(chat);
    assertThat(blocks.get(blocks.size() - 1).path("type").textValue()).isEqualTo("message_stop");
  }

  @Test
  void toolsAreCalledAndTheirResultsRead() {
    String tool =
        "'name':'weather','%s':{'type':'object','properties':{'days':{'type':'integer'}},"
            + "'required':['days']}";
    JsonNode response =
        answer(
            "/responses",
            "{'input':[{'role':'user','content':'Bern?'},{'type':'function_call','call_id':'c',"
                + "'name':'weather','arguments':'{}'},{'type':'function_call_output',"
                + "'call_id':'c','output':'sunny'}],'tool_choice':'required','tools':[{"
                + "'type':'function',"
                + tool.formatted("parameters")
                + "}]}");
    JsonNode called = response.at("/output/1");
    assertThat(called.path("type").textValue()).isEqualTo("function_call");
    assertThat(EngineClient.json(called.path("arguments").textValue()).has("score")).isTrue();

    JsonNode message =
        answer(
            "/messages",
            "{'max_tokens':90,'messages':[{'role':'user','content':'Bern?'},{'role':'assistant',"
                + "'content':[{'type':'tool_use','id':'c','name':'weather','input':{}}]},"
                + "{'role':'user','content':[{'type':'tool_result','tool_use_id':'c',"
                + "'content':'sunny'}]}],'tool_choice':{'type':'any'},'tools':[{"
                + tool.formatted("input_schema")
                + "}]}");
    assertThat(message.at("/content/1/input").has("score")).isTrue();
    assertThat(message.path("stop_reason").textValue()).isEqualTo("tool_use");
  }

  @Test
  void oneEmbeddingPerTextAndEqualForEqualTexts() {
    JsonNode both = answer("/embeddings", "{'input':['one text','another']}").path("data");
    JsonNode again = answer("/embeddings", "{'input':'another'}");
    assertThat(both).hasSize(2);
    assertThat(both.at("/0/embedding")).hasSize(256).isNotEqualTo(both.at("/1/embedding"));
    assertThat(again.at("/data/0/embedding")).isEqualTo(both.at("/1/embedding"));
    assertThat(again.at("/usage/prompt_tokens").intValue()).isEqualTo(2);
    assertThat(answer("/embeddings", "{'input':[]}").at("/error/message").textValue())
        .contains("expected 1 to");
    assertThat(
            answer("/embeddings", "{'input':[[1,2,3],[4]]}").at("/usage/prompt_tokens").intValue())
        .isEqualTo(4);
  }

  @Test
  void documentsAreSortedByTheirScores() {
    String request = "{'query':'Which?','documents':['one text',{'text':'another'},'one text']%s}";
    JsonNode all = answer("/rerank", request.formatted(""));
    assertThat(all.path("results")).hasSize(3).noneMatch(result -> result.has("document"));
    assertThat(all.path("results"))
        .extracting(result -> -result.path("relevance_score").doubleValue())
        .isSorted();
    assertThat(all.path("results"))
        .extracting(result -> result.path("index").intValue())
        .containsExactlyInAnyOrder(0, 1, 2);
    assertThat(all.at("/usage/total_tokens").intValue())
        .as("each document with the query, 4 characters a token")
        .isEqualTo(4 + 4 + 4);

    JsonNode best = answer("/rerank", request.formatted(",'top_n':1,'return_documents':true"));
    assertThat(best.path("results")).hasSize(1);
    assertThat(best.at("/results/0/relevance_score"))
        .isEqualTo(all.at("/results/0/relevance_score"));
    assertThat(best.at("/results/0/document/text").textValue()).isIn("one text", "another");
    assertThat(answer("/rerank", "{'query':'?','documents':[]}").at("/error/param").textValue())
        .isEqualTo("documents");
  }

  @Test
  void messagesRequireMaxTokensAndEveryApiTheKey() {
    assertThat(
            answer("/messages", "{'messages':[{'role':'user','content':'Hi'}]}")
                .at("/error/message")
                .textValue())
        .isEqualTo("max_tokens: Field required");
    assertThat(client.post("/embeddings", "{'input':'x'}", "x-api-key", "other").join())
        .contains("Incorrect API key");
  }
}
