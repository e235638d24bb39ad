package io.github.gatlingllm.simulations;

import io.github.gatlingllm.action.InvalidSimulation;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The {@code NAME=value} lines of a {@code .env} file. Lines may begin with {@code export}, have
 * comments, and quote the value with single or double quotes. The last line of a name wins.
 */
record EnvFile(Map<String, String> values, List<String> warnings) {

  private static final Pattern LINE =
      Pattern.compile("(?:export\\s+)?([A-Za-z_][A-Za-z0-9_]*)\\s*=\\s*(.*)");
  private static final Pattern DOUBLE_QUOTED = Pattern.compile("\"((?:[^\"\\\\]|\\\\.)*)\"(.*)");
  private static final Pattern SINGLE_QUOTED = Pattern.compile("'([^']*)'(.*)");
  private static final Pattern ESCAPE = Pattern.compile("\\\\(.)");
  private static final Pattern COMMENT_OR_NOTHING = Pattern.compile("\\s*(#.*)?");
  private static final Pattern TRAILING_COMMENT = Pattern.compile("(^|\\s+)#.*$");

  static EnvFile read(Path file) {
    if (Files.notExists(file)) {
      return new EnvFile(Map.of(), List.of());
    }
    try {
      return parse(Files.readString(file));
    } catch (CharacterCodingException e) {
      throw InvalidSimulation.because(".env is not UTF-8 text; save it as UTF-8");
    } catch (IOException e) {
      throw InvalidSimulation.because(
          ".env cannot be read; expected a readable file of NAME=value lines");
    }
  }

  static EnvFile parse(String text) {
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
      if (!form.matches() || !put(values, form.group(1), form.group(2))) {
        warnings.add(".env:" + number + ": not understood and skipped; expected NAME=value");
      }
    }
    return new EnvFile(values, warnings);
  }

  private static boolean put(Map<String, String> values, String name, String written) {
    if (written.startsWith("\"") || written.startsWith("'")) {
      boolean escapes = written.startsWith("\"");
      Matcher quoted = (escapes ? DOUBLE_QUOTED : SINGLE_QUOTED).matcher(written);
      if (!quoted.matches() || !COMMENT_OR_NOTHING.matcher(quoted.group(2)).matches()) {
        return false;
      }
      String inner = quoted.group(1);
      values.put(name, escapes ? ESCAPE.matcher(inner).replaceAll(EnvFile::unescaped) : inner);
    } else {
      values.put(name, TRAILING_COMMENT.matcher(written).replaceAll("").strip());
    }
    return true;
  }

  private static String unescaped(MatchResult escape) {
    String c = escape.group(1);
    return Matcher.quoteReplacement(c.equals("n") ? "\n" : c.equals("t") ? "\t" : c);
  }
}
