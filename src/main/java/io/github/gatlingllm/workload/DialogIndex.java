package io.github.gatlingllm.workload;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.LongSummaryStatistics;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Positions of the dialogs of a file, and statistics of them. Takes 16 bytes per dialog of one
 * entry, and 12 for every further entry.
 */
final class DialogIndex {

  private long[] starts = new long[256];
  private int[] lengths = new int[256];
  private int[] ends = new int[256];
  private int entries;
  private int dialogs;

  private long seen;
  private final Map<String, Integer> leftOut = new LinkedHashMap<>();
  private int beginWithAnswer;
  private final LongSummaryStatistics turns = new LongSummaryStatistics();
  private final LongSummaryStatistics chars = new LongSummaryStatistics();
  private final LongSummaryStatistics inputTokens = new LongSummaryStatistics();
  private final LongSummaryStatistics outputTokens = new LongSummaryStatistics();

  /** Adds a dialog of one entry, or counts the reason why it is unusable. */
  void add(Supplier<Dialog> dialog, long start, int length) {
    add(dialog, new long[] {start}, new int[] {length});
  }

  /** Adds a dialog of several entries, or counts the reason why it is unusable. */
  void add(Supplier<Dialog> dialog, long[] from, int[] bytes) {
    seen++;
    try {
      survey(dialog.get());
    } catch (DialogReader.Unusable e) {
      leftOut.merge(String.valueOf(e.getMessage()), 1, Integer::sum);
      return;
    }
    for (int i = 0; i < from.length; i++) {
      if (entries == starts.length) {
        starts = Arrays.copyOf(starts, 2 * entries);
        lengths = Arrays.copyOf(lengths, 2 * entries);
      }
      starts[entries] = from[i];
      lengths[entries++] = bytes[i];
    }
    if (dialogs == ends.length) {
      ends = Arrays.copyOf(ends, 2 * dialogs);
    }
    ends[dialogs++] = entries;
  }

  private void survey(Dialog dialog) {
    List<Dialog.Turn> all = dialog.turns();
    if (all.isEmpty()) {
      throw new DialogReader.Unusable("no user message");
    }
    if (dialog.text().isBlank() && dialog.asked().stream().allMatch(m -> m.parts() == null)) {
      throw new DialogReader.Unusable("no text");
    }
    turns.accept(all.size());
    if (dialog.inputTokens() == null) {
      chars.accept(dialog.text().length());
    } else {
      inputTokens.accept(dialog.inputTokens());
    }
    if (dialog.outputTokens() != null) {
      outputTokens.accept(dialog.outputTokens());
    }
    if (dialog.beginsWithAnswer()) {
      beginWithAnswer++;
    }
  }

  int size() {
    return dialogs;
  }

  /** First entry of a dialog. */
  int first(int dialog) {
    return dialog == 0 ? 0 : ends[dialog - 1];
  }

  /** One past the last entry of a dialog. */
  int end(int dialog) {
    return ends[dialog];
  }

  long start(int entry) {
    return starts[entry];
  }

  int length(int entry) {
    return lengths[entry];
  }

  /** One line for people: number and lengths of dialogs, and what was left out and why. */
  String summary() {
    StringBuilder line = new StringBuilder();
    line.append(dialogs).append(dialogs == 1 ? " dialog" : " dialogs");
    range(line, ", ", turns, "turn");
    range(line, "; prompts of ", chars, "character");
    range(line, "; prompts of ", inputTokens, "token");
    range(line, "; answers of ", outputTokens, "token");
    if (beginWithAnswer > 0) {
      line.append("; ").append(beginWithAnswer).append(" begin with an answer, which is not sent");
    }
    leftOut.forEach(
        (reason, count) -> line.append("; left out %s of %s: %s".formatted(count, seen, reason)));
    return line.toString();
  }

  private static void range(
      StringBuilder line, String before, LongSummaryStatistics lengths, String unit) {
    if (lengths.getCount() == 0) {
      return;
    }
    line.append(before).append(lengths.getMin());
    if (lengths.getMax() > lengths.getMin()) {
      line.append(" to ").append(lengths.getMax());
    }
    line.append(' ').append(unit).append(lengths.getMax() == 1 ? "" : "s");
    if (lengths.getMax() > lengths.getMin()) {
      String form = lengths.getAverage() < 10 ? " (mean %.1f)" : " (mean %.0f)";
      line.append(String.format(Locale.ROOT, form, lengths.getAverage()));
    }
  }
}
