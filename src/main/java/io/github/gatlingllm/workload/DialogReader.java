package io.github.gatlingllm.workload;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.function.Function;

/** Converts the entries of one published format to dialogs. */
interface DialogReader {

  /** The dialog of these entries; one entry in most formats. */
  Dialog dialog(List<JsonNode> entries, long key);

  /** Like {@link #dialog}, for statistics only: long texts of known length may be missing. */
  default Dialog outline(List<JsonNode> entries, long key) {
    return dialog(entries, key);
  }

  /** Visits an entry in the first pass over the file. */
  default void visit(JsonNode entry, long start, int length, DialogIndex index) {
    index.add(() -> outline(List.of(entry), start), start, length);
  }

  /** Called after the last entry. */
  default void end(JsonEntries file, DialogIndex index) {}

  /** Whether the file is in order of time. */
  default boolean isInOrder() {
    return false;
  }

  /** A reader of files in which each entry is a complete dialog. */
  static DialogReader of(Function<JsonNode, Dialog> format) {
    return (entries, key) -> format.apply(entries.get(0));
  }

  /** A string property of an object. */
  static String text(JsonNode object, String key) {
    JsonNode value = object.path(key);
    if (!value.isTextual()) {
      throw new IllegalArgumentException("expected a text \"" + key + "\"");
    }
    return value.textValue();
  }

  /** A well-formed entry without a question to ask. */
  final class Unusable extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Unusable(String reason) {
      super(reason, null, false, false);
    }
  }
}
