package io.github.gatlingllm.workload;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Reads a pool of prompts from a UTF-8 file, whose extension determines the format.
 *
 * <pre>
 * .json           array of strings, or of objects with a "prompt"
 * .jsonl .ndjson  a string, or an object with a "prompt", per line
 * .csv            RFC 4180: a column named prompt, or a single column without header
 * anything else   a prompt per line
 * </pre>
 *
 * <p>Empty lines are skipped.
 */
final class PromptFile {

  private static final ObjectMapper JSON = new ObjectMapper();

  private static final String WANTED = "expected a text, or an object with a \"prompt\" text";

  private final String name;
  private final List<String> prompts = new ArrayList<>();

  private PromptFile(String name) {
    this.name = name;
  }

  /** The prompts of a file; throws with file name and line number in one line. */
  static PromptPool read(Path file) {
    Path fileName = file.getFileName();
    PromptFile reader = new PromptFile(fileName == null ? file.toString() : fileName.toString());
    String text = reader.textOf(file);
    reader.parse(text.startsWith("\ufeff") ? text.substring(1) : text);
    return new PromptPool(reader.name, reader.prompts);
  }

  private String textOf(Path file) {
    try {
      return Files.readString(file);
    } catch (NoSuchFileException e) {
      throw new IllegalArgumentException("no such file; expected a path to a readable file", e);
    } catch (CharacterCodingException e) {
      throw new IllegalArgumentException(name + " is not UTF-8 text; save it as UTF-8", e);
    } catch (IOException e) {
      throw new IllegalArgumentException(name + " cannot be read; expected a readable file", e);
    }
  }

  private void parse(String text) {
    String lowerCase = name.toLowerCase(Locale.ROOT);
    if (lowerCase.endsWith(".json")) {
      parseJson(text);
    } else if (lowerCase.endsWith(".jsonl") || lowerCase.endsWith(".ndjson")) {
      parseJsonLines(text);
    } else if (lowerCase.endsWith(".csv")) {
      parseCsv(text);
    } else {
      text.lines().filter(line -> !line.isBlank()).forEach(prompts::add);
    }
  }

  private void parseJson(String text) {
    try (JsonParser parser = JSON.createParser(text)) {
      if (parser.nextToken() != JsonToken.START_ARRAY) {
        throw bad(1, "expected a JSON array of prompts");
      }
      while (parser.nextToken() != JsonToken.END_ARRAY) {
        int line = parser.currentTokenLocation().getLineNr();
        addNode(line, JSON.readTree(parser));
      }
    } catch (JsonProcessingException e) {
      throw bad(e.getLocation() == null ? 1 : e.getLocation().getLineNr(), "not valid JSON", e);
    } catch (IOException e) {
      throw new IllegalArgumentException(name + " cannot be read", e);
    }
  }

  private void parseJsonLines(String text) {
    int number = 0;
    for (String line : text.split("\r?\n", -1)) {
      number++;
      if (!line.isBlank()) {
        try {
          addNode(number, JSON.readTree(line));
        } catch (JsonProcessingException e) {
          throw bad(number, "not valid JSON", e);
        }
      }
    }
  }

  private void addNode(int line, JsonNode node) {
    JsonNode prompt = node.isObject() ? node.path("prompt") : node;
    if (!prompt.isTextual()) {
      throw bad(line, WANTED);
    }
    addPrompt(line, prompt.textValue());
  }

  private void parseCsv(String text) {
    List<CsvRow> rows = CsvRow.parse(name, text);
    if (rows.isEmpty()) {
      return;
    }
    List<String> first = rows.get(0).cells();
    int column =
        first.stream()
            .map(cell -> cell.strip().toLowerCase(Locale.ROOT))
            .toList()
            .indexOf("prompt");
    if (column < 0 && first.size() > 1) {
      throw bad(rows.get(0).line(), "expected a column named prompt, or a single column");
    }
    for (CsvRow row : column < 0 ? rows : rows.subList(1, rows.size())) {
      if (row.cells().size() != first.size()) {
        throw bad(
            row.line(),
            "has " + row.cells().size() + " columns, the first row has " + first.size());
      }
      addPrompt(row.line(), row.cells().get(Math.max(column, 0)));
    }
  }

  private void addPrompt(int line, String prompt) {
    if (prompt.isBlank()) {
      throw bad(line, "the prompt is empty; " + WANTED);
    }
    prompts.add(prompt);
  }

  private IllegalArgumentException bad(int line, String what) {
    return new IllegalArgumentException(name + ":" + line + ": " + what);
  }

  private IllegalArgumentException bad(int line, String what, Exception cause) {
    return new IllegalArgumentException(name + ":" + line + ": " + what, cause);
  }

  /** A row of a CSV file by RFC 4180: commas, double quotes, line breaks inside quotes. */
  private record CsvRow(int line, List<String> cells) {

    /** All rows of a file; empty lines are skipped. */
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
