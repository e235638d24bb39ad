package io.github.gatlingllm.client;

import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.gatlingllm.client.UsageFields.Count;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** OpenAI embeddings: texts in, one vector for each out; never streamed. */
final class EmbeddingsApi extends Api {

  private static final Set<String> VECTORS = Set.of("embedding");

  EmbeddingsApi() {
    super("embeddings", "/embeddings", "input", null, Trait.RESULTS);
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

  @Override
  ChunkParser parser(ChunkListener listener) {
    return new ResultParser(listener, VECTORS, false);
  }

  /** Reads the results of inputs: objects with one of some fields, in a list. */
  static final class ResultParser extends CompletionParser {

    private final Set<String> values;
    private final boolean isIndexed;

    /**
     * @param values fields, one of which a result has
     * @param isIndexed whether it states which input it is of; else they are in the order of inputs
     */
    ResultParser(ChunkListener listener, Set<String> values, boolean isIndexed) {
      super(listener);
      this.values = values;
      this.isIndexed = isIndexed;
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

    /** All that is counted is input, of which some servers only send the total. */
    @Override
    UsageFields counted(UsageFields usage) {
      if (usage.get(Count.PROMPT) < 0) {
        usage.set(Count.PROMPT, usage.get(Count.TOTAL));
      }
      return usage;
    }
  }
}
