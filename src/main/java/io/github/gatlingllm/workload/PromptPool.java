package io.github.gatlingllm.workload;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.gatlingllm.load.SplitMix64;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.IntSummaryStatistics;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

/** A pool of prompts from which each request draws one by seed and index. */
public record PromptPool(String origin, List<String> texts) implements Prompts.Source {

  /** Makes prompt draws independent of arrival times, which use the same seed. */
  private static final long SALT = 0x70726f6d70747331L; // "prompts1"

  private static final String WANTED = "expected a text, or an object with a \"prompt\" text";

  public PromptPool {
    texts = List.copyOf(texts);
    if (texts.isEmpty()) {
      throw new IllegalArgumentException(origin + " holds no prompt; expected at least one");
    }
  }

  /** 100 short prompts of mixed kind, in 12 languages, written for this project. */
  public static PromptPool builtIn() {
    try (InputStream in = PromptPool.class.getResourceAsStream("prompts.txt")) {
      if (in == null) {
        throw new IllegalStateException("prompts.txt is missing from the gatling-llm jar");
      }
      String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      return new PromptPool(
          "built-in", text.lines().filter(line -> !line.startsWith("#")).toList());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Reads a UTF-8 file, whose extension determines the format; a message of one line names file and
   * line of a mistake.
   *
   * <pre>
   * .json .jsonl .ndjson  strings, or objects with a "prompt": an array, or one value after the other
   * .csv                  RFC 4180: a column named prompt, or a single column without header
   * anything else         a prompt per line; empty lines are skipped
   * </pre>
   */
  public static PromptPool read(Path file) {
    String name = Objects.requireNonNullElse(file.getFileName(), file).toString();
    String lowerCase = name.toLowerCase(Locale.ROOT);
    List<String> prompts = new ArrayList<>();
    try {
      if (lowerCase.matches(".*\\.(json|jsonl|ndjson)")) {
        JsonEntries.visitAll(
            name, file, (entry, start, length) -> prompts.add(requireText(text(entry))));
      } else {
        String text = Files.readString(file).replaceFirst("^\ufeff", "");
        if (lowerCase.endsWith(".csv")) {
          addCells(prompts, name, CsvRow.parse(name, text));
        } else {
          text.lines().filter(line -> !line.isBlank()).forEach(prompts::add);
        }
      }
    } catch (NoSuchFileException | FileNotFoundException e) {
      throw new IllegalArgumentException("no such file; expected a path to a readable file", e);
    } catch (CharacterCodingException e) {
      throw new IllegalArgumentException(name + " is not UTF-8 text; save it as UTF-8", e);
    } catch (IOException e) {
      throw new IllegalArgumentException(name + " cannot be read; expected a readable file", e);
    }
    return new PromptPool(name, prompts);
  }

  private static String text(JsonNode entry) {
    JsonNode prompt = entry.isObject() ? entry.path("prompt") : entry;
    if (!prompt.isTextual()) {
      throw new IllegalArgumentException(WANTED);
    }
    return prompt.textValue();
  }

  private static String requireText(String prompt) {
    if (prompt.isBlank()) {
      throw new IllegalArgumentException("the prompt is empty; " + WANTED);
    }
    return prompt;
  }

  private static void addCells(List<String> prompts, String name, List<CsvRow> rows) {
    List<String> first = rows.isEmpty() ? List.of() : rows.get(0).cells();
    int column =
        first.stream()
            .map(cell -> cell.strip().toLowerCase(Locale.ROOT))
            .toList()
            .indexOf("prompt");
    for (CsvRow row : column < 0 ? rows : rows.subList(1, rows.size())) {
      try {
        if (column < 0 && first.size() > 1) {
          throw new IllegalArgumentException("expected a column named prompt, or a single column");
        }
        if (row.cells().size() != first.size()) {
          throw new IllegalArgumentException(
              "has " + row.cells().size() + " columns, the first row has " + first.size());
        }
        prompts.add(requireText(row.cells().get(Math.max(column, 0))));
      } catch (IllegalArgumentException e) {
        throw new IllegalArgumentException(name + ":" + row.line() + ": " + e.getMessage(), e);
      }
    }
  }

  public static PromptPool of(String prompt) {
    return new PromptPool("fixed text", List.of(prompt));
  }

  /** The prompt of one request: uniform over the pool, with replacement. */
  @Override
  public String pick(long seed, long index) {
    return texts.get(SplitMix64.at(seed, SALT, index).nextInt(texts.size()));
  }

  @Override
  public boolean fixed() {
    return texts.size() == 1;
  }

  public IntSummaryStatistics chars() {
    return texts.stream().mapToInt(String::length).summaryStatistics();
  }

  /** A row of a CSV file by RFC 4180: commas, double quotes, line breaks inside quotes. */
  private record CsvRow(int line, List<String> cells) {

    static List<CsvRow> parse(String fileName, String text) {
      List<CsvRow> rows = new ArrayList<>();
      List<String> cells = new ArrayList<>();
      StringBuilder cell = new StringBuilder();
      boolean quoted = false;
      int line = 1;
      int rowLine = 1;
      for (int i = 0; i < text.length(); i++) {
        char c = text.charAt(i);
        if (quoted) {
          if (c != '"') {
            cell.append(c);
          } else if (i + 1 < text.length() && text.charAt(i + 1) == '"') {
            cell.append(c);
            i++;
          } else {
            quoted = false;
          }
        } else if (c == '"') {
          quoted = true;
        } else if (c == ',') {
          cells.add(cell.toString());
          cell.setLength(0);
        } else if (c == '\n') {
          add(rows, rowLine, cells, cell);
          rowLine = line + 1;
        } else if (c != '\r') {
          cell.append(c);
        }
        if (c == '\n') {
          line++;
        }
      }
      if (quoted) {
        throw new IllegalArgumentException(
            fileName + ":" + rowLine + ": a double quote is not closed; expected RFC 4180 CSV");
      }
      add(rows, rowLine, cells, cell);
      return rows;
    }

    private static void add(List<CsvRow> rows, int line, List<String> cells, StringBuilder cell) {
      if (!cells.isEmpty() || cell.length() > 0) {
        cells.add(cell.toString());
        rows.add(new CsvRow(line, List.copyOf(cells)));
      }
      cells.clear();
      cell.setLength(0);
    }
  }
}
