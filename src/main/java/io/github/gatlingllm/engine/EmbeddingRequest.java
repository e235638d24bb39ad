package io.github.gatlingllm.engine;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.gatlingllm.engine.CompletionRequest.Parameters;
import io.github.gatlingllm.load.SplitMix64;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A parsed request for embeddings. The same text gets the same vector, which has length 1 and no
 * meaning.
 */
record EmbeddingRequest(
    @Nullable String model, List<Prompt> prompts, int dimensions, boolean base64) {
  private static final int DIMENSIONS = 256;
  private static final int MAX_DIMENSIONS = 4_096;
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
    int dimensions = parameters.integerOr("dimensions", DIMENSIONS, 1);
    if (dimensions > MAX_DIMENSIONS) {
      throw Refusal.badRequest(
          "dimensions", "dimensions is " + dimensions + "; expected 1 to " + MAX_DIMENSIONS);
    }
    String format = parameters.text("encoding_format");
    boolean base64 = "base64".equals(format);
    if (!base64 && format != null && !format.equals("float")) {
      throw Refusal.badRequest(
          "encoding_format", "encoding_format is wrong; expected float or base64");
    }
    return new EmbeddingRequest(parameters.text("model"), prompts, dimensions, base64);
  }

  Json response(String model, int promptTokens) {
    List<Json> data = new ArrayList<>();
    for (Prompt prompt : prompts) {
      Object vector = json(vector(prompt.hash()));
      String form = "{'object':'embedding','index':%s,'embedding':%s}";
      data.add(Json.of(form, data.size(), vector));
    }
    return Json.of(
        """
        {'object':'list','data':%s,'model':%s,
        'usage':{'prompt_tokens':%s,'total_tokens':%s}}\
        """,
        data, model, promptTokens, promptTokens);
  }

  private float[] vector(long seed) {
    double[] drawn =
        IntStream.range(0, dimensions)
            .mapToDouble(i -> SplitMix64.mix(seed + i * SplitMix64.GOLDEN_GAMMA))
            .toArray();
    double length = Math.sqrt(Arrays.stream(drawn).map(each -> each * each).sum());
    float[] vector = new float[dimensions];
    for (int i = 0; i < dimensions; i++) {
      vector[i] = (float) (drawn[i] / length);
    }
    return vector;
  }

  private Object json(float[] vector) {
    if (!base64) {
      return vector;
    }
    ByteBuffer bytes =
        ByteBuffer.allocate(vector.length * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    bytes.asFloatBuffer().put(vector);
    return Base64.getEncoder().encodeToString(bytes.array());
  }
}
