package io.github.gatlingllm.record;

import java.util.Locale;
import java.util.regex.Pattern;

/** Text of servers and files as it can be printed: it controls no terminal and no CI runner. */
public final class PrintableText {

  /** Commands to the runners of GitHub, Azure and TeamCity, wherever a wrapped line may begin. */
  private static final Pattern COMMAND =
      Pattern.compile(
          "::(?=(?:error|warning|notice|debug|group|endgroup|echo|set-output|set-env|save-state"
              + "|add-(?:mask|path|matcher)|remove-matcher|stop-commands)\\b)"
              + "|##(?=(?:vso|teamcity)?\\[)",
          Pattern.CASE_INSENSITIVE);

  private PrintableText() {}

  /** The text with control characters escaped, and commands to a CI runner divided. */
  public static String of(String text) {
    if (text.chars().allMatch(c -> c >= ' ' && c <= '~' && c != ':' && c != '#')) {
      return text; // visible ASCII in which no command can begin, as usual
    }
    StringBuilder shown = new StringBuilder(text.length());
    text.codePoints()
        .forEach(
            c -> {
              if (isHidden(c)) {
                shown.append(String.format(Locale.ROOT, "\\u%04x", c));
              } else {
                shown.appendCodePoint(c);
              }
            });
    return COMMAND
        .matcher(shown)
        .replaceAll(found -> found.group().charAt(0) + " " + found.group().charAt(1));
  }

  public static void print(String line) {
    System.out.println(of(line));
  }

  public static void printError(String line) {
    System.err.println(of(line));
  }

  private static boolean isHidden(int c) {
    return switch (Character.getType(c)) {
      case Character.CONTROL -> c != '\n' && c != '\t';
      // Invisible, and may change the text direction; U+200D joins several emoji into one.
      case Character.FORMAT -> c > 0xff && c != 0x200D;
      case Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR, Character.SURROGATE -> true;
      default -> false;
    };
  }
}
