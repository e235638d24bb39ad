package io.github.gatlingllm.engine;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.gatlingllm.client.Api;
import io.github.gatlingllm.engine.CompletionRequest.Parameters;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A parsed request whose answer has a result for each input. The same input gets the same one. */
record InputsRequest(Api api, @Nullable String model, List<Prompt> prompts) {
  private static final int DIMENSIONS = 256;
  private static final int MAX_INPUTS = 2_048; // as with OpenAI

  static InputsRequest parse(Api api, byte[] body, ObjectMapper mapper) throws Refusal {
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
    return new InputsRequest(api, parameters.text("model"), prompts);
  }

  /** A vector without meaning, as JSON. */
  String vector(int input) {
    return new SplittableRandom(prompts.get(input).hash())
        .doubles(DIMENSIONS, -1, 1)
        .mapToObj(Double::toString)
        .collect(Collectors.joining(",", "[", "]"));
  }
}
