package io.github.gatlingllm.client;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.List;

/** OpenAI embeddings: texts in, one vector for each out; never streamed. */
final class EmbeddingsApi extends Api {

  EmbeddingsApi() {
    super("embeddings", "/embeddings", "input");
  }

  @Override
  public boolean generates() {
    return false;
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
  String inputRemedy() {
    return "an input";
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
  String resultName() {
    return "an embedding for each input";
  }

  @Override
  ChunkParser parser(ChunkListener listener) {
    return new CompletionParser(listener) {
      @Override
      void results(String field) throws IOException {
        int vector = 0;
        for (boolean more = firstElement(); more; more = nextElement()) {
          for (String inner = firstField(); inner != null; inner = nextField()) {
            if (inner.equals("embedding")) {
              listener().result(vector++);
            }
          }
        }
      }
    };
  }
}
