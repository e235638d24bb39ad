package io.github.gatlingllm.engine;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(120)
final class RequestKindsTest {
  private static final EmbeddedEngine.EngineBuilder FAST =
      EmbeddedEngine.builder().decodeStep(Duration.ofNanos(200_000)).seed(1);
  private static final String QUESTION = "'messages':[{'role':'user','content':'How are you?'}]";
  private static final String TOOLS =
      "'tools':[{'type':'function','function':{'name':'weather','parameters':{'type':'object',"
          + "'properties':{'city':{'type':'string'},'days':{'type':'integer','minimum':1,"
          + "'maximum':7}},'required':['city','days']}}}]";

  @AutoClose private final EmbeddedEngine engine = FAST.start();
  private final EngineClient client = new EngineClient(engine);

  private static String joined(List<JsonNode> chunks, String pointer) {
    return chunks.stream().map(chunk -> chunk.at(pointer).asText()).collect(Collectors.joining());
  }

  @Test
  void imageCountsAFixedNumberOfTokens() {
    String form =
        "{'max_tokens':1,'messages':[{'role':'user','content':[{'type':'text','text':'Look: 12'},"
            + "{'type':'image_url','image_url':{'url':'data:image/png;base64,%s'}}]}]}";
    assertThat(client.answer(form.formatted("AAAA")).at("/usage/prompt_tokens").intValue())
        .isEqualTo(2 + Prompt.IMAGE_TOKENS);
    // The same image is cached; another one shares not even the first block.
    String cached = "/usage/prompt_tokens_details/cached_tokens";
    assertThat(client.answer(form.formatted("AAAA")).at(cached).intValue()).isEqualTo(256);
    assertThat(client.answer(form.formatted("BBBB")).at(cached).intValue()).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"'required'", "{'type':'function','function':{'name':'weather'}}"})
  void toolCallIsNameThenArguments(String choice) {
    String body = "{" + QUESTION + "," + TOOLS + ",'tool_choice':" + choice + "%s}";
    List<JsonNode> chunks =
        client.stream(body.formatted(",'stream':true,'stream_options':{'include_usage':true}"));
    JsonNode first = chunks.get(1).at("/choices/0/delta/tool_calls/0");
    assertThat(first.at("/function/name").textValue()).isEqualTo("weather");
    assertThat(first.path("id").textValue()).startsWith("call_");
    String arguments = joined(chunks, "/choices/0/delta/tool_calls/0/function/arguments");
    assertThat(arguments).isEqualTo(CompletionRequest.JSON);
    assertThat(joined(chunks, "/choices/0/delta/content")).isEmpty();
    assertThat(chunks.get(chunks.size() - 2).at("/choices/0/finish_reason").textValue())
        .isEqualTo("tool_calls");
    assertThat(chunks.get(chunks.size() - 1).at("/usage/completion_tokens").intValue())
        .isEqualTo(1 + (arguments.length() + 3) / 4);

    JsonNode notStreamed = client.answer(body.formatted(""));
    assertThat(notStreamed.at("/choices/0/message/content").isNull()).isTrue();
    assertThat(notStreamed.at("/choices/0/message/tool_calls/0/function/arguments").textValue())
        .isEqualTo(arguments);
  }

  @Test
  void toolsWithoutAChoiceGetFreeText() {
    JsonNode answer = client.answer("{" + QUESTION + "," + TOOLS + ",'max_tokens':5}");
    assertThat(answer.at("/choices/0/message/content").textValue()).isNotBlank();
    assertThat(answer.at("/choices/0/message").has("tool_calls")).isFalse();
    assertThat(answer.at("/usage/prompt_tokens").intValue()).as("tools count").isGreaterThan(3);
  }

  @Test
  void jsonEndsByItselfOrIsCutOrPadded() {
    String body =
        "{%s,'response_format':{'type':'json_schema','json_schema':{'name':'a','schema':"
            + "{'type':'object'}}}%s}";
    JsonNode answer = client.answer(body.formatted(QUESTION, ""));
    String content = answer.at("/choices/0/message/content").textValue();
    assertThat(EngineClient.json(content).isObject()).isTrue();
    assertThat(answer.at("/choices/0/finish_reason").textValue()).isEqualTo("stop");
    List<JsonNode> streamed = client.stream(body.formatted(QUESTION, ",'stream':true"));
    assertThat(joined(streamed, "/choices/0/delta/content")).isEqualTo(content);

    JsonNode cut = client.answer(body.formatted(QUESTION, ",'max_tokens':3"));
    assertThat(cut.at("/choices/0/message/content").textValue())
        .isEqualTo(content.substring(0, 12));
    assertThat(cut.at("/choices/0/finish_reason").textValue()).isEqualTo("length");

    JsonNode pinned = client.answer(body.formatted(QUESTION, ",'max_tokens':50,'ignore_eos':true"));
    assertThat(pinned.at("/usage/completion_tokens").intValue()).isEqualTo(50);
    assertThat(EngineClient.json(pinned.at("/choices/0/message/content").textValue()))
        .isEqualTo(EngineClient.json(content));
  }

  @Test
  void choicesAreInterleavedAndCountedTogether() {
    String body = "{" + QUESTION + ",'n':3,'max_tokens':8,'ignore_eos':true%s}";
    List<JsonNode> chunks =
        client.stream(body.formatted(",'stream':true,'stream_options':{'include_usage':true}"));
    List<Integer> order =
        chunks.stream()
            .filter(chunk -> !chunk.at("/choices/0/delta/content").asText().isEmpty())
            .map(chunk -> chunk.at("/choices/0/index").intValue())
            .toList();
    assertThat(order).hasSize(24).containsOnly(0, 1, 2);
    assertThat(order.indexOf(2)).as("side by side").isLessThan(order.lastIndexOf(0));
    JsonNode usage = chunks.get(chunks.size() - 1).path("usage");
    assertThat(usage.path("prompt_tokens").intValue()).isEqualTo(3);
    assertThat(usage.path("completion_tokens").intValue()).isEqualTo(24);
    assertThat(chunks)
        .filteredOn(chunk -> chunk.at("/choices/0/finish_reason").isTextual())
        .hasSize(3);
    JsonNode notStreamed = client.answer(body.formatted(""));
    assertThat(notStreamed.path("choices")).hasSize(3);
    assertThat(notStreamed.findValuesAsText("content")).doesNotHaveDuplicates();
  }

  @Test
  void reasoningComesFirstAndIsCountedApart() {
    try (EmbeddedEngine reasoning = FAST.reasoning(6).start()) {
      EngineClient thinker = new EngineClient(reasoning);
      String body = "{" + QUESTION + ",'max_tokens':10,'ignore_eos':true%s}";
      JsonNode notStreamed = thinker.answer(body.formatted(""));
      assertThat(notStreamed.at("/choices/0/message/reasoning_content").textValue()).hasSize(24);
      assertThat(notStreamed.at("/choices/0/message/content").textValue()).hasSize(16);
      assertThat(notStreamed.at("/usage/completion_tokens").intValue()).isEqualTo(10);
      assertThat(notStreamed.at("/usage/completion_tokens_details/reasoning_tokens").intValue())
          .isEqualTo(6);
      List<JsonNode> chunks = thinker.stream(body.formatted(",'stream':true"));
      assertThat(joined(chunks, "/choices/0/delta/reasoning_content"))
          .isEqualTo(notStreamed.at("/choices/0/message/reasoning_content").textValue());
      assertThat(chunks.get(6).at("/choices/0/delta").has("reasoning_content")).isTrue();
      assertThat(chunks.get(7).at("/choices/0/delta").has("content")).isTrue();
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "'tool_choice':'required' | calls a function that is not among the tools",
        "'tool_choice':'always' | expected none, auto, required or a function",
        "'response_format':{'type':'xml'} | expected type text, json_object, or json_schema",
        "'tools':[{'type':'function'}] | A tool has no name",
      })
  void unsupportedParameterIsRejected(String parameter, String message) {
    JsonNode error = client.answer("{" + QUESTION + "," + parameter + "}").path("error");
    assertThat(error.path("message").textValue()).contains(message).hasSizeLessThan(200);
    assertThat(error.path("type").textValue()).isEqualTo("invalid_request_error");
  }
}
