package io.github.gatlingllm.engine;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.gatlingllm.engine.CompletionRequest.Parameters;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** A parsed request for embeddings. The same text gets the same vector. */
record EmbeddingRequest(@Nullable String model, List<Prompt> prompts) {
  private static final int DIMENSIONS = 256;
  private static final int MAX_INPUTS = 2_048; // as with OpenAI

  static EmbeddingRequest parse(byte[] body, ObjectMapper mapper) throws Refusal {
    Parameters parameters = new Parameters(CompletionRequest.object(body, mapper));
    JsonNode input = parameters.value("input");
    List<Prompt> prompts = new ArrayList<>();
    if (input.isArray() && !input.path(0).isNumber()) {
      for (JsonNode text : input) {
        prompts.add(Prompt.ofText(text));
      }
    } else {
      prompts.add(Prompt.ofText(input));
    }
    if (prompts.isEmpty() || prompts.size() > MAX_INPUTS) {
      throw Refusal.badRequest(
          "input", "input has " + prompts.size() + " texts; expected 1 to " + MAX_INPUTS);
    }
    return new EmbeddingRequest(parameters.text("model"), prompts);
  }

  ArrayNode data() {
    ArrayNode data = JsonNodeFactory.instance.arrayNode();
    for (Prompt prompt : prompts) {
      ObjectNode one = data.addObject().put("object", "embedding").put("index", data.size() - 1);
      ArrayNode vector = one.putArray("embedding");
      new SplittableRandom(prompt.hash()).doubles(DIMENSIONS, -1, 1).forEach(vector::add);
    }
    return data;
  }
}
