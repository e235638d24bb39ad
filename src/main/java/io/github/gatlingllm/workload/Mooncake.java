package io.github.gatlingllm.workload;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.gatlingllm.client.Message;
import java.util.List;

/**
 * Reads requests of Mooncake's traces.
 *
 * <pre>{@code
 * {"timestamp": 3052, "input_length": 2287, "output_length": 316, "hash_ids": [0, 42, 43, 44, 45]}
 * }</pre>
 *
 * <p>The time stamp is in milliseconds. A hash id identifies a block of 512 tokens together with
 * all blocks before it. {@link BlockText} generates the texts, the same block for the same id. Ids
 * beyond {@code input_length} are ignored; without enough ids the rest of the text is unique to the
 * request.
 */
final class Mooncake implements DialogReader {

  private static final Message PLACEHOLDER = Message.user("?");

  private final BlockText texts;

  Mooncake(Tokenizer tokenizer) {
    texts = new BlockText(tokenizer);
  }

  @Override
  public Dialog dialog(List<JsonNode> entries, long key) {
    JsonNode entry = entries.get(0);
    int tokens = length(entry, "input_length");
    return of(entry, Message.user(texts.of(ids(entry), tokens, key)));
  }

  @Override
  public Dialog outline(List<JsonNode> entries, long key) {
    JsonNode entry = entries.get(0);
    long[] unused = ids(entry);
    if (length(entry, "input_length") == 0) {
      throw new Unusable("no input tokens");
    }
    if (length(entry, "output_length") == 0) {
      throw new Unusable("no output tokens");
    }
    return of(entry, PLACEHOLDER);
  }

  private Dialog of(JsonNode entry, Message message) {
    if (!entry.path("timestamp").isNumber()) {
      throw new IllegalArgumentException("expected \"timestamp\", a number of milliseconds");
    }
    return new Dialog(
        List.of(message), null, length(entry, "input_length"), length(entry, "output_length"));
  }

  private static int length(JsonNode entry, String key) {
    JsonNode value = entry.path(key);
    if (!value.isInt() || value.intValue() < 0) {
      throw new IllegalArgumentException("expected \"" + key + "\", a whole number of tokens");
    }
    return value.intValue();
  }

  private static long[] ids(JsonNode entry) {
    JsonNode ids = entry.path("hash_ids");
    if (!ids.isMissingNode() && !ids.isArray()) {
      throw new IllegalArgumentException("expected \"hash_ids\", a list of whole numbers");
    }
    long[] all = new long[ids.size()];
    for (int i = 0; i < all.length; i++) {
      if (!ids.path(i).isIntegralNumber()) {
        throw new IllegalArgumentException("expected \"hash_ids\", a list of whole numbers");
      }
      all[i] = ids.path(i).longValue();
    }
    return all;
  }

  @Override
  public boolean isInOrder() {
    return true;
  }
}
