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
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The prompts of a run by the index of their request; the same for the same seed.
 *
 * <p>Prompts of given lengths are created in {@link #tokens}, before the load and on all
 * processors: tokenizing would disturb the measurement. They repeat in the same order. Thread-safe.
 */
public final class Prompts {

  /** Default number of distinct prompts of given lengths. */
  public static final int MAX_MADE = 1_000;

  private static final long LENGTH_SALT = 0x6c656e677468736fL; // "lengthso"
  private static final long TEXT_SALT = 0x70616464696e6773L; // "paddings"

  private final Source source;
  private final long seed;
  private final PromptPrefix.Texts prefix;
  private final List<Prompt> made;
  private final @Nullable LengthDistribution lengths;

  private Prompts(
      Source source,
      long seed,
      PromptPrefix.Texts prefix,
      @Nullable LengthDistribution lengths,
      List<Prompt> made) {
    this.source = source;
    this.seed = seed;
    this.prefix = prefix;
    this.lengths = lengths;
    this.made = made;
  }

  public record Prompt(String text, @Nullable Integer tokens, @Nullable Integer wanted) {

    public boolean exact() {
      return wanted == null || wanted.equals(tokens);
    }
  }

  public record Miss(int index, int wanted, int tokens) {
    @Override
    public String toString() {
      return "#" + index + " has " + tokens + " of " + wanted + " tokens";
    }
  }

  public static Prompts of(Source source, long seed) {
    return new Prompts(source, seed, request -> "", null, List.of());
  }

  /** The same with a prefix: lengths include it, and {@link #whole} begins with it. */
  public Prompts prefix(PromptPrefix.Texts texts) {
    if (lengths != null) {
      throw new IllegalStateException("prompts got their lengths before their prefix");
    }
    return new Prompts(source, seed, texts, null, List.of());
  }

  /** The same, each cut or extended to a length of that distribution. */
  public Prompts tokens(LengthDistribution lengths, Tokenizer tokenizer, int count) {
    ExactLength exact = new ExactLength(tokenizer);
    List<Prompt> prompts =
        IntStream.range(0, count)
            .parallel()
            .mapToObj(index -> make(exact, lengths, index))
            .toList();
    return new Prompts(source, seed, prefix, lengths, prompts);
  }

  private Prompt make(ExactLength exact, LengthDistribution lengths, int index) {
    int wanted = lengths.draw(SplitMix64.at(seed, LENGTH_SALT, index), index);
    // A fixed text is always extended in the same way.
    SplittableRandom random = SplitMix64.at(seed, TEXT_SALT, source.fixed() ? 0 : index);
    ExactLength.Fitted fitted =
        exact.of(prefix.of(index), source.pick(seed, index), "", wanted, random);
    return new Prompt(fitted.text(), fitted.tokens(), wanted);
  }

  public Source source() {
    return source;
  }

  public @Nullable LengthDistribution lengths() {
    return lengths;
  }

  /** The created prompts in the order of requests; empty without a distribution of lengths. */
  public List<Prompt> made() {
    return made;
  }

  /** The prompt of a request, without prefix. */
  public Prompt pick(long index) {
    return made.isEmpty()
        ? new Prompt(source.pick(seed, index), null, null)
        : made.get((int) (index % made.size()));
  }

  public String whole(long index) {
    return prefix.of(index) + pick(index).text();
  }

  public List<Miss> misses() {
    List<Miss> misses = new ArrayList<>();
    for (int i = 0; i < made.size(); i++) {
      Prompt prompt = made.get(i);
      if (!prompt.exact() && prompt.wanted() != null && prompt.tokens() != null) {
        misses.add(new Miss(i, prompt.wanted(), prompt.tokens()));
      }
    }
    return misses;
  }

  /** A source of prompt texts. Immutable and thread-safe. */
  public interface Source {

    /** Synthetic English, {@code sentences} (≥ 1) per prompt. */
    static Source synthetic(int sentences) {
      return new SyntheticText(sentences);
    }

    /** Its origin for people: {@code built-in} or a file name. */
    String origin();

    /** The text of one prompt by the run's seed and its index in the run, from 0. */
    String pick(long seed, long index);

    default boolean fixed() {
      return false;
    }
  }

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
     * Reads a UTF-8 file, whose extension determines the format; a message of one line names file
     * and line of a mistake.
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
            throw new IllegalArgumentException(
                "expected a column named prompt, or a single column");
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
}
