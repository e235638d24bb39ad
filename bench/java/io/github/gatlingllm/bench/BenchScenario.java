package io.github.gatlingllm.bench;

import java.util.Locale;

/** A load of the {@link BenchServer} for every client. */
enum BenchScenario {
  PACED_64("64 streams, 100 tokens, TTFT 100 ms, ITL 20 ms, ± 30 %", 64, 5, 100, 100, 20, 0.3, 0),
  PACED_256(
      "256 streams, 100 tokens, TTFT 100 ms, ITL 20 ms, ± 30 %", 256, 4, 100, 100, 20, 0.3, 0),
  STEP_1024(
      "1,024 streams in step, 300 tokens, TTFT 100 ms, ITL 20 ms", 1024, 2, 300, 100, 20, 0, 0),
  SUSTAINED_2048("2,048 streams of 50 tokens per second, 500 tokens", 2048, 1, 500, 100, 20, 0, 0),
  SHORT("64 streams, 2 tokens, TTFT 20 ms, ITL 10 ms", 64, 300, 2, 20, 10, 0, 0),
  UNIQUE("as short, with 64 tokens of prompt, each with a nonce", 64, 300, 2, 20, 10, 0, 64),
  LONG_PROMPTS(
      "as short, with 2,000 tokens of prompt, each with a nonce", 64, 300, 2, 20, 10, 0, 2_000),
  SATURATED("64 streams, 2 tokens at once, default prompts", 64, 2_000, 2, 0, 0, 0, 256),
  FLOOD("64 streams, 2,000 tokens as fast as the client reads them", 64, 100, 2_000, 0, 0, 0, 0);

  private static final String WORDS =
      "Tell me a story about a river, its mill and the people who live there.";

  /** Tokens of {@link #WORDS}. */
  private static final int WORDS_TOKENS = 17;

  final String title;
  final int streams;

  /** Consecutive requests of each stream. */
  final int turns;

  final int tokens;
  private final int ttftMillis;
  private final int itlMillis;
  private final double spread;

  /** Of unique prompts; 0 for one short prompt that is always the same. */
  final int promptTokens;

  BenchScenario(
      String title,
      int streams,
      int turns,
      int tokens,
      int ttftMillis,
      int itlMillis,
      double spread,
      int promptTokens) {
    this.title = title;
    this.streams = streams;
    this.turns = turns;
    this.tokens = tokens;
    this.ttftMillis = ttftMillis;
    this.itlMillis = itlMillis;
    this.spread = spread;
    this.promptTokens = promptTokens;
  }

  /** Name on the command line and in the page. */
  String label() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** Requests of a round. Slow clients get a tenth if only cost is measured. */
  int requests(boolean isPeer) {
    return streams * (isPeer && costOnly() ? Math.max(1, turns / 10) : turns);
  }

  /** Whether only the CPU time of a client is measured. */
  boolean costOnly() {
    return this == FLOOD || tokens == SHORT.tokens;
  }

  /** The prompt of clients that send one text: as long as ours. */
  String prompt() {
    return WORDS.repeat(1 + promptTokens / WORDS_TOKENS);
  }

  /** Command for the server. */
  String begin() {
    return String.join(
        " ",
        "begin",
        String.valueOf(1_000 * ttftMillis),
        String.valueOf(1_000 * itlMillis),
        String.valueOf(spread));
  }
}
