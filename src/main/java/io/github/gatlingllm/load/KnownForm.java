package io.github.gatlingllm.load;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;

/**
 * Forms of data files that are known by how they look, so that a file that is given to the wrong
 * reader, or that has none, is refused by its name.
 *
 * @param readers settings that read it; empty if none does
 */
record KnownForm(String name, String readers, Predicate<JsonNode> looks) {

  /** The first that an entry of JSON looks like. */
  private static final List<KnownForm> ENTRIES =
      List.of(
          of(
              "a Weka trace",
              "sessions=<file>",
              e -> e.path("requests").findValue("hash_ids") != null),
          of("a round of TraceLab", "sessions=<file>", e -> e.has("input_tokens_total")),
          of("a conversation of AIPerf (multi_turn)", "", e -> e.path("turns").isArray()),
          of("a page of a dataset's viewer", "", e -> e.path("rows").isArray()),
          of("a trace of Jaeger", "", e -> e.findValue("traceID") != null),
          of("a span of OpenTelemetry", "sessions=<file>", e -> e.findValue("spans") != null),
          of("a message tree", "dataset=oasst:<file>", e -> e.path("prompt").isObject()),
          of(
              "a chat of OpenAI",
              "dataset=openai:<file> or sessions=<file>",
              e -> e.findValue("messages") != null),
          of(
              "a dialog of ShareGPT",
              "dataset=sharegpt:<file>",
              e -> e.has("conversations") || e.has("conversation")),
          of("a text of LongBench", "dataset=longbench:<file>", e -> e.has("context")),
          of(
              "a request of Mooncake's trace",
              "dataset=mooncake:<file>, sessions=<file> or arrival=trace:<file>",
              e -> e.has("input_length") || e.has("text_input")),
          of(
              "a request of an agent's session",
              "sessions=<file>",
              e -> e.has("session_id") && e.has("input_tokens")),
          of("a prompt", "prompts=<file> or answers=<file>", e -> e.path("prompt").isTextual()),
          of("a recorded arrival", "arrival=trace:<file>", e -> e.has("timestamp")));

  /** How files begin that are not UTF-8 text, or text of another kind. */
  private static final Map<String, String> STARTS =
      Map.ofEntries(
          Map.entry("PAR1", "Parquet"),
          Map.entry("ARROW1", "Arrow"),
          Map.entry("Obj\1", "Avro"),
          Map.entry("PK\3\4", "a zip archive"),
          Map.entry("\u001f\u008b", "compressed by gzip; name it .gz"),
          Map.entry("(\u00b5/\u00fd", "compressed by zstd"),
          Map.entry("BZh", "compressed by bzip2"),
          Map.entry("\u00fd7zXZ", "compressed by xz"),
          Map.entry("SQLite format 3", "an SQLite database"),
          Map.entry("\u00ff\u00fe", "UTF-16 text"),
          Map.entry("\u00fe\u00ff", "UTF-16 text"),
          Map.entry("<!doctype html", "a web page"),
          Map.entry("<html", "a web page"),
          Map.entry("version https://git-lfs", "a pointer of Git LFS"));

  private static final int LONGEST_START = 23;

  private static KnownForm of(String name, String readers, Predicate<JsonNode> looks) {
    return new KnownForm(name, readers, looks);
  }

  /** What is wrong with an entry for a reader: its form, where that is only another one's. */
  static String mistake(JsonNode entry, String reader, String otherwise) {
    List<KnownForm> forms = ENTRIES.stream().filter(form -> form.looks.test(entry)).toList();
    return forms.isEmpty() || forms.stream().anyMatch(form -> form.readers.contains(reader))
        ? otherwise
        : forms.get(0).mistake(reader);
  }

  private String mistake(String reader) {
    return "is "
        + name
        + (readers.isEmpty()
            ? ", which is not read here; convert it to a form in docs/workloads.md"
            : ", which " + reader + " does not read; use " + readers);
  }

  /** Refuses a file that is not text by what it is. */
  static void requireText(String name, Path path) throws IOException {
    byte[] first;
    try (InputStream in = Files.newInputStream(path)) {
      first = in.readNBytes(LONGEST_START);
    }
    String start = new String(first, StandardCharsets.ISO_8859_1).toLowerCase(Locale.ROOT);
    for (Map.Entry<String, String> each : STARTS.entrySet()) {
      if (start.startsWith(each.getKey().toLowerCase(Locale.ROOT))) {
        throw new IllegalArgumentException(
            name + " is " + each.getValue() + "; expected UTF-8 text: JSON, JSON lines or CSV");
      }
    }
  }
}
