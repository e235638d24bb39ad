package io.github.gatlingllm.stats;

import io.github.gatlingllm.metric.ValueRecorder;
import org.jspecify.annotations.Nullable;

/**
 * The tokens of prompts, or of answers, of one target as its server and as our tokenizer count
 * them, over the successful requests that both counted. The server's count has what its chat
 * template and special tokens add, ours is of the bare texts.
 */
final class CountComparison {

  /** Of one request each: server − ours, where that is 0 or more, and ours − server elsewhere. */
  private final ValueRecorder more = new ValueRecorder(ValueRecorder.WHOLE);

  private final ValueRecorder fewer = new ValueRecorder(ValueRecorder.WHOLE);
  private final ValueRecorder lengths = new ValueRecorder(ValueRecorder.WHOLE);
  private long server;
  private long ours;

  /** Adds a request; one that is not counted by both is ignored. */
  void add(@Nullable Integer theirs, @Nullable Integer local) {
    if (theirs == null || local == null) {
      return;
    }
    server += theirs;
    ours += local;
    lengths.add(local);
    int overhead = theirs - local;
    (overhead >= 0 ? more : fewer).add(Math.abs(overhead));
  }

  /** How many requests both counted. */
  long count() {
    return lengths.moments().count();
  }

  /** Σ server ÷ Σ ours − 1; null without tokens. */
  @Nullable Double difference() {
    return ours == 0 ? null : (Double) ((double) server / ours - 1);
  }

  /** The median over requests of server − ours, by nearest rank; null without requests. */
  @Nullable Double medianOverhead() {
    long negative = fewer.moments().count();
    long count = negative + more.moments().count();
    if (count == 0) {
      return null;
    }
    long rank = (count + 1) / 2;
    if (rank <= negative) {
      // The smallest of all is the one that is most below zero.
      Double below = fewer.percentile(100.0 * (negative - rank + 1) / negative);
      return below == null ? null : (Double) (-below);
    }
    return more.percentile(100.0 * (rank - negative) / (count - negative));
  }

  /** Whether both counted the same in every request. */
  boolean areEqual() {
    return fewer.isEmpty() && !more.isEmpty() && more.moments().max() == 0;
  }

  /**
   * Whether the server adds the same number of tokens to texts of different lengths: then both
   * divide texts alike, and the rest is a template or special tokens.
   */
  boolean isTemplateOnly() {
    return fewer.isEmpty()
        && !more.isEmpty()
        && more.moments().min() == more.moments().max()
        && lengths.moments().min() != lengths.moments().max();
  }
}
