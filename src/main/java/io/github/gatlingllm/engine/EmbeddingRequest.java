package io.github.gatlingllm.engine;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.gatlingllm.engine.CompletionRequest.Parameters;
import io.github.gatlingllm.load.Seed;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** A parsed request for embeddings. The same text gets the same vector of length 1. */
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

  Json response(String model, int promptTokens) {
    List<Json> data = new ArrayList<>();
    for (Prompt prompt : prompts) {
      String form = "{'object':'embedding','index':%s,'embedding':%s}";
      data.add(Json.of(form, data.size(), vector(prompt.hash())));
    }
    return Json.of(
        """
        {'object':'list','data':%s,'model':%s,
        'usage':{'prompt_tokens':%s,'total_tokens':%s}}\
        """,
        data, model, promptTokens, promptTokens);
  }

  private static float[] vector(long seed) {
    double[] drawn =
        IntStream.range(0, DIMENSIONS)
            .mapToDouble(i -> Seed.mix(seed + i * Seed.GOLDEN_GAMMA))
            .toArray();
    double length = Math.sqrt(Arrays.stream(drawn).map(each -> each * each).sum());
    float[] vector = new float[DIMENSIONS];
    for (int i = 0; i < DIMENSIONS; i++) {
      vector[i] = (float) (drawn[i] / length);
    }
    return vector;
  }
}
