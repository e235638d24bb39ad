package io.github.gatlingllm.workload;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.function.Function;

/** Turns the entries of one published format into dialogs. */
interface DialogReader {

  /**
   * The dialog that these entries hold; one entry in most formats.
   *
   * @param key a number that no other dialog of the file has
   * @throws IllegalArgumentException saying what was expected, if they are of another form
   * @throws Unusable if they are well-formed, and nothing can be asked with them
   */
  Dialog dialog(List<JsonNode> entries, long key);

  /** As {@link #dialog}, for its shape only: long texts may be missing where lengths are known. */
  default Dialog outline(List<JsonNode> entries, long key) {
    return dialog(entries, key);
  }

  /** Takes an entry of the file in a first pass over it. */
  default void visit(JsonNode entry, long start, int length, DialogIndex index) {
    index.add(() -> outline(List.of(entry), start), start, length);
  }

  /** After the last entry was visited. */
  default void end(JsonEntries file, DialogIndex index) {}

  /** Whether the order of the file is the order in which its dialogs were. */
  default boolean isInOrder() {
    return false;
  }

  /** Reads files in which each entry is one dialog, and all that it needs. */
  static DialogReader of(Function<JsonNode, Dialog> format) {
    return (entries, key) -> format.apply(entries.get(0));
  }

  /** A text of an object. */
  static String text(JsonNode object, String key) {
    JsonNode value = object.path(key);
    if (!value.isTextual()) {
      throw new IllegalArgumentException("expected a text \"" + key + "\"");
    }
    return value.textValue();
  }

  /** A well-formed entry with which nothing can be asked. */
  final class Unusable extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /**
     * @param reason the same for all entries of the kind
     */
    Unusable(String reason) {
      super(reason, null, false, false);
    }
  }
}
