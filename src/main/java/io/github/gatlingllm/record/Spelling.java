package io.github.gatlingllm.record;

import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Which name is meant by a mistyped one. */
public final class Spelling {

  /** Longer than any name; comparing takes time in proportion to the length. */
  private static final int MAX_CHARS = 100;

  private static final int MIN_PART = 3;

  private Spelling() {}

  /** The name that is meant; null where none is near: a third of its characters differ. */
  public static @Nullable String meant(String wrong, Collection<String> names) {
    String nearest = names.isEmpty() ? "" : nearest(wrong, names, 1).get(0);
    int max = Math.max(1, plain(wrong).length() / 3);
    return apart(plain(wrong), plain(nearest)) <= max ? nearest : null;
  }

  /** The nearest names by edit distance, which is at most 1 if one contains the other. */
  public static List<String> nearest(String wrong, Collection<String> names, int max) {
    String plain = plain(wrong);
    return names.stream()
        .sorted(Comparator.comparingInt(name -> apart(plain, plain(name))))
        .limit(max)
        .toList();
  }

  private static String plain(String name) {
    String start = name.substring(0, Math.min(name.length(), MAX_CHARS));
    return start.replace("_", "").toLowerCase(Locale.ROOT);
  }

  private static int apart(String wrong, String name) {
    int distance = distance(wrong, name);
    boolean isPart =
        (wrong.length() >= MIN_PART && name.contains(wrong))
            || (name.length() > MIN_PART && wrong.contains(name));
    return isPart ? Math.min(1, distance) : distance;
  }

  /** The number of characters to insert, delete or replace, and of neighbours to swap. */
  private static int distance(String a, String b) {
    int[] before = new int[b.length() + 1];
    int[] row = new int[b.length() + 1];
    Arrays.setAll(row, i -> i);
    for (int i = 1; i <= a.length(); i++) {
      int[] next = new int[b.length() + 1];
      next[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int replaced = row[j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        next[j] = Math.min(replaced, 1 + Math.min(row[j], next[j - 1]));
        boolean isSwapped =
            i > 1
                && j > 1
                && a.charAt(i - 1) == b.charAt(j - 2)
                && a.charAt(i - 2) == b.charAt(j - 1);
        next[j] = isSwapped ? Math.min(next[j], 1 + before[j - 2]) : next[j];
      }
      before = row;
      row = next;
    }
    return row[b.length()];
  }
}
