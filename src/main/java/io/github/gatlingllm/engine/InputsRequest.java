package io.github.gatlingllm.engine;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.gatlingllm.client.Api;
import io.github.gatlingllm.engine.CompletionRequest.Parameters;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A parsed request whose answer has a result for each input: a vector for each text, or the
 * relevance of each document to a query. The same input gets the same result.
 *
 * @param form of its answer: that of embeddings, of rerank, or of Hugging Face's TEI
 * @param texts of the documents that the answer repeats; empty for none
 * @param results as many as the answer has, those with the highest scores
 */
record InputsRequest(
    String form, @Nullable String model, List<Prompt> prompts, List<String> texts, int results) {
  private static final int DIMENSIONS = 256;
  private static final int MAX_INPUTS = 2_048; // as with OpenAI

  static InputsRequest parse(Api api, byte[] body, ObjectMapper mapper) throws Refusal {
    ObjectNode json = CompletionRequest.object(body, mapper);
    Parameters parameters = new Parameters(json);
    String query = api.is(Api.Trait.QUERY) ? parameters.text("query") : null;
    if (query == null && api.is(Api.Trait.QUERY)) {
      throw Refusal.badRequest("query", "query is missing; expected a text");
    }
    String name = query == null ? "input" : json.has("texts") ? "texts" : "documents";
    JsonNode input = parameters.value(name);
    List<Prompt> prompts = new ArrayList<>();
    List<String> texts = new ArrayList<>();
    if (query == null && !(input.isArray() && !input.path(0).isNumber())) {
      prompts.add(Prompt.ofText(input));
    } else {
      for (JsonNode each : input) {
        JsonNode text = each.isObject() ? each.path("text") : each;
        prompts.add(query == null ? Prompt.ofText(text) : Prompt.ofPair(query, text));
        texts.add(text.asText());
      }
    }
    if (prompts.isEmpty() || prompts.size() > MAX_INPUTS) {
      throw Refusal.badRequest(
          name, name + " has " + prompts.size() + " texts; expected 1 to " + MAX_INPUTS);
    }
    boolean isRepeated = parameters.flag("return_documents") || parameters.flag("return_text");
    return new InputsRequest(
        name.equals("texts") ? "tei" : api.key(),
        parameters.text("model"),
        prompts,
        isRepeated ? texts : List.of(),
        Math.min(prompts.size(), parameters.integerOr("top_n", prompts.size(), 1)));
  }

  /** The inputs in the order of their results. */
  List<Integer> order() {
    IntStream all = IntStream.range(0, prompts.size());
    return (form.equals("embeddings")
            ? all.boxed()
            : all.boxed().sorted(Comparator.comparingDouble(this::score).reversed()))
        .limit(results)
        .toList();
  }

  /** Without meaning, above 0 and below 1. */
  double score(int input) {
    return new SplittableRandom(prompts.get(input).hash()).nextDouble();
  }

  /** The JSON of a score, or of a vector without meaning. */
  String value(int input) {
    return !form.equals("embeddings")
        ? Double.toString(score(input))
        : new SplittableRandom(prompts.get(input).hash())
            .doubles(DIMENSIONS, -1, 1)
            .mapToObj(Double::toString)
            .collect(Collectors.joining(",", "[", "]"));
  }
}
