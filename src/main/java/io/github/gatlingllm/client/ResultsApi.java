package io.github.gatlingllm.client;

import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** An API whose answer has a result for each input; never streamed. */
abstract class ResultsApi extends Api {

  /** Fields, one of which a result has. */
  private final Set<String> values;

  /** Whether a result states which input it is of; else they are in the order of inputs. */
  private final boolean isIndexed;

  private ResultsApi(
      String key, String inputField, Set<String> values, boolean isIndexed, Trait... traits) {
    super(key, "/" + key, inputField, null, traits);
    this.values = values;
    this.isIndexed = isIndexed;
  }

  static Api embeddings() {
    return new Embeddings();
  }

  static Api rerank() {
    return new Rerank("documents");
  }

  @Override
  ChunkParser parser(ChunkListener listener) {
    return new ResultParser(listener);
  }

  /** OpenAI embeddings: texts in, one vector for each out. */
  private static final class Embeddings extends ResultsApi {

    Embeddings() {
      super("embeddings", "input", Set.of("embedding"), false, Trait.RESULTS);
    }

    @Override
    void addInput(ObjectNode body, GenerationRequest.Builder from) {
      if (from.prompt != null) {
        body.set("input", JsonText.of(from.prefix, from.prompt));
      } else {
        ArrayNode texts = body.putArray("input");
        from.inputs.forEach(text -> texts.add(from.prefix + text));
      }
    }

    @Override
    void addTexts(ObjectNode body, List<JsonNode> texts) {
      super.addTexts(body, texts);
      addTexts(body.path("input"), texts);
    }

    /** Token ids are one input. */
    @Override
    int inputs(ObjectNode body) {
      JsonNode input = input(body);
      return input.isArray() && !input.path(0).isNumber() ? input.size() : 1;
    }
  }

  /**
   * Reranking: a query and documents in, the relevance of each document out. As vLLM, SGLang,
   * llama.cpp, Jina, Voyage and Cohere (v1, v2) have it, and TEI, whose path has no version.
   */
  private static final class Rerank extends ResultsApi {

    private static final Pattern VERSIONED = Pattern.compile("/v\\d\\w*/rerank(\\?|$)");

    private static final Api TEI = new Rerank("texts");

    Rerank(String documents) {
      super(
          "rerank",
          documents,
          Set.of("relevance_score", "score"),
          true,
          Trait.RESULTS,
          Trait.QUERY);
    }

    @Override
    public Api at(String url) {
      return VERSIONED.matcher(url).find() ? this : TEI;
    }

    @Override
    public String provider() {
      return "cohere";
    }

    /** The prompt is the query; without documents it is the only one too. */
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
  }

  /** Reads the results of inputs: objects with one of the fields, in a list. */
  private final class ResultParser extends CompletionParser {

    ResultParser(ChunkListener listener) {
      super(listener);
    }

    /** TEI and SGLang send the list alone. */
    @Override
    boolean begins(@Nullable JsonToken first) {
      return super.begins(first) || first == JsonToken.START_ARRAY;
    }

    @Override
    void document() throws IOException {
      if (json.isExpectedStartArrayToken()) {
        results("results");
      }
      super.document();
    }

    @Override
    void results(String field) throws IOException {
      if (!field.equals("data") && !field.equals("results")) {
        return;
      }
      int position = 0;
      for (boolean more = firstElement(); more; more = nextElement()) {
        int of = position++;
        boolean hasValue = false;
        for (String inner = firstField(); inner != null; inner = nextField()) {
          of = isIndexed && inner.equals("index") ? (int) number() : of;
          hasValue |= values.contains(inner);
        }
        if (hasValue) {
          listener().result(of);
        }
      }
    }

    @Override
    TokenCounts counted(TokenCounts usage) {
      return usage.ofInput();
    }
  }
}
