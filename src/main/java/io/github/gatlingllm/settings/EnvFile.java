package io.github.gatlingllm.settings;

import io.github.gatlingllm.client.Secrets;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The {@code NAME=value} lines of a file such as {@code .env}; the last line of a name wins. */
record EnvFile(Map<String, String> values, List<String> warnings) {

  /** A name, and its value in double quotes, in single quotes, or as it is up to a comment. */
  private static final Pattern LINE =
      Pattern.compile(
          "(?:export\\s+)?([A-Za-z_][A-Za-z0-9_]*)\\s*=\\s*+"
              + "(?:\"((?:[^\"\\\\]|\\\\.)*+)\"|'([^']*)'|((?![\"'#]).*?)(?:$|(?=\\s#))|)"
              + "\\s*(?:#.*)?");

  private static final Pattern ESCAPE = Pattern.compile("\\\\(.)");

  private static final int MAX_BYTES = 1_000_000;
  private static final int MAX_WARNINGS = 20;

  /** Reads a file, which need not exist; its name is {@code shown} in messages. */
  static EnvFile read(Path file, String shown) {
    return Files.notExists(file)
        ? new EnvFile(Map.of(), List.of())
        : parse(text(file.toString(), shown), shown);
  }

  /** The text of a file that a user wrote. */
  static String text(String path, String shown) {
    try {
      Path file = Path.of(path);
      if (!Files.isRegularFile(file) || Files.size(file) > MAX_BYTES) {
        throw new IOException("missing, a folder, a device or a pipe, or too long");
      }
      return Files.readString(file);
    } catch (CharacterCodingException e) {
      throw new IllegalArgumentException(
          Secrets.oneLine(shown) + " is not UTF-8 text; save it as UTF-8");
    } catch (IOException | InvalidPathException e) {
      throw new IllegalArgumentException(
          Secrets.oneLine(shown)
              + " cannot be read; expected a readable file of settings, at most 1 MB");
    }
  }

  static EnvFile parse(String text, String shown) {
    Map<String, String> values = new LinkedHashMap<>();
    List<String> warnings = new ArrayList<>();
    int number = 0;
    for (String raw : text.replace("\ufeff", "").split("\r?\n", -1)) {
      number++;
      String line = raw.strip();
      if (line.isEmpty() || line.startsWith("#")) {
        continue;
      }
      Matcher form = LINE.matcher(line);
      if (form.matches()) {
        values.put(form.group(1), value(form));
      } else {
        int at = number;
        warn(
            warnings, () -> shown + ":" + at + ": not understood and skipped; expected NAME=value");
      }
    }
    return new EnvFile(values, warnings);
  }

  /** Adds a warning, unless there are many: a long file would hide the plan. */
  static void warn(List<String> warnings, Supplier<String> line) {
    if (warnings.size() < MAX_WARNINGS) {
      warnings.add(line.get());
    } else if (warnings.size() == MAX_WARNINGS) {
      warnings.add("more LLM_ names or lines of the file have no effect");
    }
  }

  private static String value(Matcher line) {
    if (line.group(2) != null) {
      return ESCAPE.matcher(line.group(2)).replaceAll(EnvFile::unescaped);
    }
    String quoted = line.group(3);
    return quoted != null ? quoted : Objects.requireNonNullElse(line.group(4), "").strip();
  }

  private static String unescaped(MatchResult escape) {
    String c = escape.group(1);
    return Matcher.quoteReplacement(c.equals("n") ? "\n" : c.equals("t") ? "\t" : c);
  }
}
