package io.github.gatlingllm.stats;

import io.github.gatlingllm.random.SplitMix64;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.stats.CloseUps.Dependence;

/** How times of ok requests depend on lengths and on the place in the answer. */
final class DependenceTally {

  private final CloudTally ttftByPrompt = new CloudTally();
  private final CloudTally e2eByOutput = new CloudTally();
  private final CloudTally itlByPosition = new CloudTally();

  void add(RequestRecord record, TokenStream stream) {
    String id = record.identity().requestId();
    long hash = hash(id);
    RequestRecord.Timing t = record.timing();
    Integer prompt = record.tokens().prompt();
    Integer output = record.tokens().n();
    Long ttft = t.ttftNanos();
    Long e2e = t.latencyNanos();
    if (prompt != null && ttft != null) {
      ttftByPrompt.add(prompt, ttft / 1e3, 1, hash, id);
    }
    if (output != null && e2e != null) {
      e2eByOutput.add(output, e2e / 1e3, 1, hash, id);
    }
    for (int g = 0; g < stream.gaps(); g++) {
      int event = stream.endedBy(g);
      itlByPosition.add(
          event + 1, stream.tokenMicros(g), stream.gapTokens(g), mixed(hash + event), id);
    }
  }

  /** A hash of an id, the same on every machine; FNV-1a, then mixed. */
  static long hash(String id) {
    long hash = 0xcbf29ce484222325L;
    for (int i = 0; i < id.length(); i++) {
      hash = (hash ^ id.charAt(i)) * 0x100000001b3L;
    }
    return mixed(hash);
  }

  /** Spreads neighbours over all values ≥ 0. */
  private static long mixed(long value) {
    return SplitMix64.mix(value) >>> 1;
  }

  Dependence dependence() {
    return new Dependence(ttftByPrompt.cloud(), e2eByOutput.cloud(), itlByPosition.cloud());
  }
}
