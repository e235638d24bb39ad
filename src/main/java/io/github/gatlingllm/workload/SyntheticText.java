package io.github.gatlingllm.workload;

import io.github.gatlingllm.load.Seed;
import io.github.gatlingllm.workload.Prompts.PromptPool;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Synthetic English by a seed: extends prompts, and is a source of prompts. */
record SyntheticText() implements Prompts.PromptSource {

  private static final int SENTENCES = 4;
  private static final int SAMPLE_CHARS = 200;
  private static final long SALT = 0x73796e7468657469L; // "syntheti"

  private static final Map<String, List<String>> PARTS =
      PromptPool.resource("sentences.txt")
          .map(line -> line.split(" = ", 2))
          .collect(Collectors.toMap(row -> row[0], row -> List.of(row[1].split(","))));

  @Override
  public String origin() {
    return "synthetic text";
  }

  @Override
  public String pick(long seed, long index) {
    SplittableRandom random = Seed.at(seed, SALT, index);
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < SENTENCES; i++) {
      text.append(i == 0 ? "" : " ").append(sentence(random));
    }
    return text.toString();
  }

  /** The text, extended by sentences to at least that number of characters. */
  static String continued(String text, int chars, SplittableRandom random) {
    StringBuilder longer = new StringBuilder(text);
    while (longer.length() < chars) {
      longer.append(longer.isEmpty() ? "" : " ").append(sentence(random));
    }
    return longer.toString();
  }

  /** All that sentences are made of, as it stands in them. */
  static Stream<String> vocabulary() {
    return PARTS.values().stream()
        .flatMap(List::stream)
        .flatMap(
            part ->
                Stream.of(
                    " " + part + ".",
                    " " + part + ",",
                    " " + part + " so",
                    " " + Character.toUpperCase(part.charAt(0)) + part.substring(1) + " so"));
  }

  /** Texts of different lengths, each of a nonce and sentences, as prompts are. */
  static List<String> samples(int count) {
    SplittableRandom random = Seed.at(SALT, SALT, count);
    return IntStream.rangeClosed(1, count)
        .mapToObj(
            i ->
                random.nextLong(100_000_000_000_000_000L, 1_000_000_000_000_000_000L)
                    + ExactLength.BREAK
                    + continued("", SAMPLE_CHARS * i, random))
        .toList();
  }

  private static String sentence(SplittableRandom random) {
    String main = one("who", random) + " " + one("does", random) + " " + one("what", random);
    String more =
        switch (random.nextInt(4)) {
          case 0 -> main + " " + one("when", random);
          case 1 -> main + ", " + one("why", random);
          case 2 -> one("opening", random) + ", " + main + " " + one("when", random);
          default -> one("opening", random) + ", " + main + ", " + one("why", random);
        };
    return Character.toUpperCase(more.charAt(0)) + more.substring(1) + ".";
  }

  private static String one(String part, SplittableRandom random) {
    List<String> words = Objects.requireNonNull(PARTS.get(part));
    return words.get(random.nextInt(words.size()));
  }
}
