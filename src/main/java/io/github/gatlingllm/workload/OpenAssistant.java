package io.github.gatlingllm.workload;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.gatlingllm.client.Message;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads message trees of OpenAssistant, nested or flat.
 *
 * <pre>{@code
 * {"message_tree_id": "t", "prompt": {"text": "…", "role": "prompter", "replies": [{…}, {…}]}}
 * {"message_id": "b", "parent_id": "a", "text": "…", "role": "assistant", "rank": 0}
 * }</pre>
 *
 * <p>A tree gives one dialog: the prompt, and after each message the reply with the lowest {@code
 * rank} (0 is the best), ranked replies before unranked, earlier ones first, down to a message
 * without reply. Deleted messages and messages rejected by reviewers are skipped.
 *
 * <p>Opening a flat file takes about 200 bytes of memory per message for the ids.
 */
final class OpenAssistant implements DialogReader {

  private static final Comparator<@Nullable Integer> RANKED_FIRST =
      Comparator.nullsLast(Comparator.naturalOrder());

  private final List<Row> rows = new ArrayList<>();
  private final Map<String, Integer> rowById = new HashMap<>();

  private record Row(
      long start,
      int length,
      String id,
      @Nullable String parent,
      @Nullable Integer rank,
      boolean rejected) {}

  @Override
  public Dialog dialog(List<JsonNode> entries, long key) {
    List<Message> messages = new ArrayList<>();
    if (entries.get(0).has("prompt")) {
      JsonNode message = entries.get(0).path("prompt");
      if (isRejected(message)) {
        throw new Unusable("the prompt was deleted or rejected");
      }
      for (JsonNode next = message; next != null; next = best(next.path("replies"))) {
        messages.add(message(next));
      }
    } else {
      entries.forEach(entry -> messages.add(message(entry)));
    }
    return Dialog.of(messages);
  }

  @Override
  public void visit(JsonNode entry, long start, int length, Dataset.Index index) {
    if (!entry.has("message_id") || entry.has("prompt")) {
      if (!entry.path("prompt").isObject()) {
        throw new IllegalArgumentException(
            "expected a message tree with a \"prompt\", or a message with a \"message_id\"");
      }
      DialogReader.super.visit(entry, start, length, index);
      return;
    }
    var unused = message(entry);
    String id = DialogReader.text(entry, "message_id");
    if (rowById.put(id, rows.size()) != null) {
      throw new IllegalArgumentException("message " + id + " is there twice; remove one");
    }
    rows.add(
        new Row(
            start,
            length,
            id,
            entry.path("parent_id").textValue(),
            rank(entry),
            isRejected(entry)));
  }

  @Override
  public void end(JsonEntries file, Dataset.Index index) {
    @Nullable Row[] best = new @Nullable Row[rows.size()];
    for (Row row : rows) {
      if (row.parent() == null) {
        continue;
      }
      Integer parent = rowById.get(row.parent());
      if (parent == null) {
        throw new IllegalArgumentException(
            "message " + row.id() + " answers " + row.parent() + ", which is not in the file");
      }
      Row other = best[parent];
      if (!row.rejected()
          && (other == null || RANKED_FIRST.compare(row.rank(), other.rank()) < 0)) {
        best[parent] = row;
      }
    }
    for (Row root : rows) {
      if (root.parent() == null) {
        List<Row> path = new ArrayList<>();
        for (Row row = root; row != null; row = best[rowById.getOrDefault(row.id(), 0)]) {
          path.add(row);
        }
        index.add(
            () -> outline(root, path, file),
            path.stream().mapToLong(Row::start).toArray(),
            path.stream().mapToInt(Row::length).toArray());
      }
    }
    rows.clear();
    rowById.clear();
  }

  private Dialog outline(Row root, List<Row> path, JsonEntries file) {
    if (root.rejected()) {
      throw new Unusable("the prompt was deleted or rejected");
    }
    return dialog(
        path.stream().map(row -> file.read(row.start(), row.length())).toList(), root.start());
  }

  private static @Nullable JsonNode best(JsonNode replies) {
    JsonNode best = null;
    for (JsonNode reply : replies) {
      if (!isRejected(reply)
          && (best == null || RANKED_FIRST.compare(rank(reply), rank(best)) < 0)) {
        best = reply;
      }
    }
    return best;
  }

  private static Message message(JsonNode message) {
    String role = DialogReader.text(message, "role");
    return Message.of(
        switch (role) {
          case "prompter" -> "user";
          case "assistant" -> "assistant";
          default ->
              throw new IllegalArgumentException(
                  "a message has the role '" + role + "'; expected prompter or assistant");
        },
        DialogReader.text(message, "text"));
  }

  private static @Nullable Integer rank(JsonNode message) {
    JsonNode rank = message.path("rank");
    return rank.isNumber() ? (Integer) rank.intValue() : null;
  }

  private static boolean isRejected(JsonNode message) {
    JsonNode review = message.path("review_result");
    return message.path("deleted").asBoolean(false)
        || (review.isBoolean() && !review.booleanValue());
  }
}
