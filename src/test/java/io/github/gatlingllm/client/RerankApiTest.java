package io.github.gatlingllm.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gatlingllm.record.Timeline;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Requests and answers of the servers that rerank, after the formats that their makers publish. */
class RerankApiTest {

  private static GenerationRequest.Builder request(String url) {
    return GenerationRequest.of(Api.RERANK.at(url))
        .model("m")
        .prefix("7 ")
        .prompt("q?")
        .inputs(List.of("a", "b \"c\""));
  }

  /** The URL, and the body that is sent to it. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          http://vllm/v1/rerank            | documents
          http://vllm/v2/rerank            | documents
          https://jina/v1/rerank?x=1       | documents
          http://gateway/jina/v1/rerank    | documents
          http://tei/rerank                | texts
          http://gateway/tei/rerank?x=1    | texts
          """)
  void bodyIsInTheDialectOfThePath(String url, String field) {
    GenerationRequest request = request(url).maxTokens(9).ignoreEos(true).build();
    assertThat(new String(request.toJson(), UTF_8))
        .isEqualTo(
            "{'model':'m','query':'7 q?','%s':['a','b \\'c\\'']}"
                .formatted(field)
                .replace("\\'", "\\\"")
                .replace('\'', '"'));
    assertThat(request.api().key()).isEqualTo("rerank");
    assertThat(request.inputs()).isEqualTo(2);
    assertThat(request.stream()).isFalse();
    assertThat(request.prompt())
        .isEqualTo("{\"query\":\"7 q?\",\"documents\":[\"a\",\"b \\\"c\\\"\"]}");
    assertThat(request.promptTexts())
        .as("the model reads the query with each document")
        .containsExactly("7 q?", "a", "7 q?", "b \"c\"");
  }

  @Test
  void warmUpWithoutDocumentsComparesTheQueryWithItself() {
    GenerationRequest request = GenerationRequest.of(Api.RERANK).prompt("q").build();
    assertThat(request.promptTexts()).containsExactly("q", "q");
    assertThatThrownBy(() -> GenerationRequest.of(Api.RERANK).build())
        .hasMessage("rerank request has no documents; set its documents");
  }

  /**
   * Name, answer, what it pushes; then whether it is all for two documents, and for one of them.
   */
  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = ';',
      quoteCharacter = '`',
      textBlock =
          """
          vLLM; {'id':'rerank-1','model':'m','usage':{'total_tokens':56},'results':[{'index':1,\
          'document':{'text':'b','multi_modal':null},'relevance_score':0.99},{'index':0,\
          'document':{'text':'a'},'relevance_score':0.1}]}; usage 56 -1 -1 -1 | result 1 | result 0; \
          true; false
          Jina; {'model':'m','object':'list','usage':{'total_tokens':15,'prompt_tokens':15},\
          'results':[{'index':0,'relevance_score':0.9},{'index':1,'relevance_score':1e-3}]}; \
          usage 15 -1 -1 -1 | result 0 | result 1; true; false
          Cohere v1; {'id':'x','results':[{'index':1,'relevance_score':0.9}],'meta':{'api_version':\
          {'version':'1'},'billed_units':{'search_units':1}}}; result 1; false; true
          TEI; [{'index':1,'score':0.99},{'index':0,'score':-4.5}]; result 1 | result 0; true; false
          SGLang; [{'score':0.99,'document':'b','index':1,'meta_info':{'id':'x'}},{'score':0.1,\
          'document':'a','index':0}]; result 1 | result 0; true; false
          llama.cpp; {'model':'m','object':'list','usage':{'prompt_tokens':9,'total_tokens':9},\
          'results':[{'index':0,'relevance_score':-3},{'index':1,'relevance_score':2}]}; \
          usage 9 -1 -1 -1 | result 0 | result 1; true; false
          Voyage; {'object':'list','data':[{'relevance_score':0.4,'index':0},\
          {'relevance_score':0.3,'index':1}],'model':'m','usage':{'total_tokens':26}}; \
          result 0 | result 1 | usage 26 -1 -1 -1; true; false
          one twice; [{'index':1,'score':1},{'index':1,'score':1}]; result 1 | result 1; false; true
          one too many; [{'index':0,'score':1},{'index':2,'score':1}]; result 0 | result 2; false; false
          without a score; {'results':[{'index':0},{'index':1}]}; ; false; false
          empty list; []; ; false; false
          an error; {'error':'overloaded','error_type':'overloaded'}; error overloaded; false; false
          """)
  void answer(String name, String json, String pushes, boolean two, boolean one) {
    byte[] body = json.replace('\'', '"').getBytes(UTF_8);
    assertThat(Pushes.ofBody(Api.RERANK, body))
        .isEqualTo(List.of(((pushes == null ? "" : pushes + " | ") + "end").split(" \\| ")));
    assertThat(isComplete(request("http://a/v1/rerank"), body)).isEqualTo(two);
    assertThat(isComplete(request("http://a/v1/rerank").parameter("top_n", 1), body))
        .isEqualTo(one);
  }

  private static boolean isComplete(GenerationRequest.Builder request, byte[] body) {
    ReceivedAnswer answer = new ReceivedAnswer(new Timeline(0, 0), request.build());
    answer.body(body, body.length);
    return answer.hasAllResults();
  }
}
