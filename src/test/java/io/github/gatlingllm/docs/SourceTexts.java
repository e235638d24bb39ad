package io.github.gatlingllm.docs;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Texts for people in a source file: string literals with three words or more. Parts joined by
 * {@code +} are one text, with {@code …} for values.
 */
public final class SourceTexts {

  private static final Pattern WORD = Pattern.compile("[A-Za-z]{2,}");
  private static final String ENDS = ",;?:)]}";

  private final List<String> tokens = new ArrayList<>(); // a literal begins with its quote
  private final Set<String> texts = new LinkedHashSet<>();

  private SourceTexts(String source) {
    tokenize(source);
  }

  /** Texts in order, without duplicates. */
  public static List<String> of(String source) {
    SourceTexts file = new SourceTexts(source);
    file.collect(0, file.tokens.size());
    return List.copyOf(file.texts);
  }

  private void tokenize(String source) {
    int at = 0;
    while (at < source.length()) {
      int from = at;
      char c = source.charAt(at);
      if (source.startsWith("//", at)) {
        at = endOf(source, "\n", at);
      } else if (source.startsWith("/*", at)) {
        at = endOf(source, "*/", at + 2);
      } else if (source.startsWith("\"\"\"", at)) {
        at = endOf(source, "\"\"\"", at + 3);
        tokens.add("\"" + source.substring(from + 3, at - 3).strip().replaceAll("\\s+", " "));
      } else if (c == '"' || c == '\'') {
        do {
          at += source.charAt(at) == '\\' ? 2 : 1;
        } while (source.charAt(at) != c);
        at++;
        tokens.add(
            c == '"'
                ? source.substring(from, at - 1).replace("\\n", " ").replace("\\\"", "\"")
                : "'");
      } else if (Character.isJavaIdentifierPart(c)) {
        while (at < source.length() && Character.isJavaIdentifierPart(source.charAt(at))) {
          at++;
        }
        tokens.add(source.substring(from, at));
      } else {
        at++;
        if (!Character.isWhitespace(c)) {
          tokens.add(String.valueOf(c));
        }
      }
    }
  }

  private static int endOf(String source, String mark, int from) {
    int at = source.indexOf(mark, from);
    return at < 0 ? source.length() : at + mark.length();
  }

  private boolean isLiteral(int at) {
    return tokens.get(at).startsWith("\"");
  }

  private void collect(int from, int until) {
    for (int at = from; at < until; at++) {
      if (isLiteral(at)) {
        at = collectText(at, at > from && tokens.get(at - 1).equals("+"), until);
      }
    }
  }

  /** Reads a text that begins with this literal; returns its last token. */
  private int collectText(int from, boolean hasValueBefore, int until) {
    StringBuilder text = new StringBuilder(hasValueBefore ? "…" : "");
    text.append(tokens.get(from).substring(1));
    int at = from + 1;
    while (at < until && tokens.get(at).equals("+")) {
      int end = operandEnd(at + 1, until);
      if (end == at + 2 && isLiteral(at + 1)) {
        text.append(tokens.get(at + 1).substring(1));
      } else {
        text.append('…');
        collect(at + 1, end);
      }
      at = end;
    }
    String found = text.toString().strip().replaceAll("\\s+", " ");
    if (found.contains(" ") && WORD.matcher(found).results().count() >= 3) {
      texts.add(found);
    }
    return at - 1;
  }

  private int operandEnd(int from, int until) {
    int depth = 0;
    for (int at = from; at < until; at++) {
      String token = tokens.get(at);
      if (depth == 0 && (token.equals("+") || ENDS.contains(token))) {
        return at;
      }
      depth += "([{".contains(token) ? 1 : ")]}".contains(token) ? -1 : 0;
    }
    return until;
  }
}
