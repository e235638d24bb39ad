package io.github.gatlingllm.figures.metric;

import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** Suggests existing names for a misspelled one. */
public final class Spelling {

  private Spelling() {}

  /** The nearest names by edit distance; it is at most 1 if one contains the misspelled name. */
  public static List<String> nearest(String wrong, Collection<String> names, int most) {
    String plain = plain(wrong);
    return names.stream()
        .sorted(Comparator.comparingInt(name -> apart(plain, plain(name))))
        .limit(most)
        .toList();
  }

  private static String plain(String name) {
    return name.replace("_", "").toLowerCase(Locale.ROOT);
  }

  private static int apart(String wrong, String name) {
    int distance = distance(wrong, name);
    return wrong.length() > 3 && name.contains(wrong) ? Math.min(1, distance) : distance;
  }

  /** Levenshtein distance: least number of inserted, deleted and replaced characters. */
  private static int distance(String a, String b) {
    int[] row = new int[b.length() + 1];
    Arrays.setAll(row, i -> i);
    for (int i = 1; i <= a.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int replaced = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(replaced, 1 + Math.min(row[j], row[j - 1]));
      }
    }
    return row[b.length()];
  }
}
