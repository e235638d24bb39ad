package io.github.gatlingllm.action;

import io.github.gatlingllm.load.Seed;
import io.netty.util.collection.LongObjectHashMap;
import io.netty.util.collection.LongObjectMap;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;

/**
 * How much of a prompt a prefix cache without limit would have: the longest beginning that an
 * earlier prompt of the run had too, in steps of {@value #STEP} bytes of UTF-8, after {@value #FAR}
 * bytes of a text of {@value #LONG_STEP}.
 *
 * <p>A beginning is remembered by the hash of all texts up to its end. One that is not sent again
 * is forgotten after others of 16 million tokens or more with a heap of 2 GiB. Takes the event loop
 * 1 µs, and 5 µs more for each 1,000 tokens that no nonce begins. Thread-safe.
 */
final class SentPrompts {

  private static final int STEP = 64;
  private static final int LONG_STEP = 256;
  private static final int FAR = 1 << 14;
  private static final int MAX = 1 << 22;

  /** Two maps of up to 48 bytes per step are a twentieth of the heap. */
  private static final int HEAP_BYTES_PER_STEP = 2_048;

  /** Of a part, whose map takes the event loop a fraction of a millisecond when it grows. */
  private static final int STEPS_OF_PART = 1 << 13;

  private final Remembered[] parts;

  SentPrompts() {
    this((int) Math.min(MAX, Runtime.getRuntime().maxMemory() / HEAP_BYTES_PER_STEP));
  }

  SentPrompts(int max) {
    parts = new Remembered[Math.max(1, max / STEPS_OF_PART)];
    Arrays.setAll(parts, part -> new Remembered(max / parts.length));
  }

  /**
   * Adds a prompt; returns the share of it that was sent before within the scope, 0 to 1.
   *
   * @param nonce begins a text if no other prompt has what follows it; empty for none
   */
  double add(String scope, List<String> texts, String nonce) {
    Beginnings all = new Beginnings(scope, texts, nonce);
    int sent = 0;
    synchronized (this) {
      for (int i = 0; i < all.size; i++) {
        boolean isFirst = sent == (i == 0 ? 0 : all.ends[i - 1]);
        int part = (int) Long.remainderUnsigned(all.hashes[i], parts.length);
        sent = parts[part].seen(all.hashes[i]) && isFirst ? all.ends[i] : sent;
      }
    }
    return sent == 0 ? 0 : (double) sent / all.length;
  }

  /** Some of the beginnings, by their hash. */
  private static final class Remembered {
    private final int max;
    private LongObjectMap<Boolean> recent = new LongObjectHashMap<>();
    private LongObjectMap<Boolean> older = new LongObjectHashMap<>();

    Remembered(int max) {
      this.max = max;
    }

    /** Whether it was there; it is afterwards. */
    private boolean seen(long hash) {
      if (recent.containsKey(hash)) {
        return true;
      }
      if (recent.size() >= max) {
        older = recent;
        recent = new LongObjectHashMap<>();
      }
      recent.put(hash, Boolean.TRUE);
      return older.containsKey(hash);
    }
  }

  /** The beginnings of some texts, each by its length and the hash of all up to its end. */
  private static final class Beginnings {
    private final CRC32 crc32 = new CRC32();
    private final CRC32C crc32c = new CRC32C();
    private long[] hashes = {};
    private int[] ends = {};
    private int size;
    private int length;
    private long hash;

    Beginnings(String scope, List<String> texts, String nonce) {
      hash = scope.hashCode();
      boolean isUnique = false;
      for (String text : texts) {
        isUnique |= !nonce.isEmpty() && text.startsWith(nonce);
        if (isUnique && size == 0) {
          return; // nothing was sent before, whatever the length
        }
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        if (!isUnique) {
          add(bytes);
        }
        length += bytes.length;
      }
    }

    private void add(byte[] text) {
      int to;
      for (int from = 0; from < text.length; from = to) {
        to = Math.min(from + (from < FAR ? STEP : LONG_STEP), text.length);
        crc32.reset();
        crc32.update(text, from, to - from);
        crc32c.reset();
        crc32c.update(text, from, to - from);
        hash = Seed.mix(hash ^ (crc32.getValue() << 32 | crc32c.getValue()));
        end(length + to);
      }
      hash = Seed.mix(hash + text.length); // texts do not run into each other
    }

    private void end(int at) {
      if (size == hashes.length) {
        hashes = Arrays.copyOf(hashes, Math.max(STEP, 2 * size));
        ends = Arrays.copyOf(ends, hashes.length);
      }
      hashes[size] = hash;
      ends[size++] = at;
    }
  }
}
