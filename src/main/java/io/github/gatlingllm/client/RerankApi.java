package io.github.gatlingllm.client;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.gatlingllm.client.EmbeddingsApi.ResultParser;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Reranking: a query and documents in, the relevance of each document out; never streamed. As vLLM,
 * SGLang, llama.cpp, Jina, Voyage and Cohere (v1, v2) have it, and TEI, whose path has no version.
 */
final class RerankApi extends Api {

  private static final Pattern VERSIONED = Pattern.compile("/v\\d\\w*/rerank(\\?|$)");
  private static final Set<String> SCORES = Set.of("relevance_score", "score");

  private static final Api TEI = new RerankApi("texts");

  RerankApi(String documents) {
    super("rerank", "/rerank", documents, null, Trait.RESULTS, Trait.QUERY);
  }

  @Override
  public Api at(String url) {
    return VERSIONED.matcher(url).find() ? this : TEI;
  }

  @Override
  public String provider() {
    return "cohere";
  }

  /** The prompt is the query, and the only document where there is none. */
  @Override
  void addInput(ObjectNode body, GenerationRequest.Builder from) {
    if (from.prompt != null) {
      body.set("query", JsonText.of(from.prefix, from.prompt));
      List<String> documents = from.inputs.isEmpty() ? List.of(from.prompt) : from.inputs;
      ArrayNode texts = body.putArray(inputField);
      documents.forEach(texts::add);
    }
  }

  @Override
  JsonNode input(ObjectNode body) {
    ObjectNode input = JsonNodeFactory.instance.objectNode();
    input.set("query", body.path("query"));
    return input.set("documents", body.path(inputField));
  }

  /** Models read the query with each document. */
  @Override
  void addTexts(ObjectNode body, List<JsonNode> texts) {
    for (JsonNode document : body.path(inputField)) {
      addTexts(body.path("query"), texts);
      addTexts(document, texts);
    }
  }

  @Override
  int inputs(ObjectNode body) {
    return body.path(inputField).size();
  }

  @Override
  int results(ObjectNode body) {
    int max = body.path("top_n").asInt(body.path("top_k").asInt(Integer.MAX_VALUE));
    return Math.min(max, inputs(body));
  }

  @Override
  ChunkParser parser(ChunkListener listener) {
    return new ResultParser(listener, SCORES, true);
  }
}
