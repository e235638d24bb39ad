package io.github.gatlingllm.workload;

import io.github.gatlingllm.load.Arrivals;
import io.github.gatlingllm.load.Seed;
import java.math.BigDecimal;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/** Lengths of prompts in tokens, 1 to {@value #MAX}; draws outside are repeated. */
public sealed interface LengthDistribution {

  int MAX = 1_000_000;

  String EXPECTED =
      "tokens from 1 to 1,000,000: a number, <mean>:<std>, <least>-<most>, lognormal:<mean>:<std>"
          + " or weighted:128=70,4096=30";

  int draw(SplittableRandom random, long index);

  default int least() {
    return 1;
  }

  static LengthDistribution parse(String text) {
    String number = "(\\d{1,7}(?:\\.\\d{1,6})?)";
    Matcher form =
        Pattern.compile("(lognormal:)?" + number + "(?:([:-])" + number + ")?")
            .matcher(text.strip());
    try {
      if (text.startsWith("weighted:")) {
        return Weighted.parse(text.substring("weighted:".length()));
      }
      if (form.matches()) {
        String first = form.group(2);
        String second = form.group(4);
        if (form.group(1) != null && ":".equals(form.group(3))) {
          return new Normal(Double.parseDouble(first), Double.parseDouble(second), true);
        } else if (form.group(1) == null) {
          return second == null
              ? exactly(Integer.parseInt(first))
              : form.group(3).equals(":")
                  ? new Normal(Double.parseDouble(first), Double.parseDouble(second), false)
                  : new Uniform(Integer.parseInt(first), Integer.parseInt(second));
        }
      }
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("expected " + EXPECTED, e);
    }
    throw new IllegalArgumentException("expected " + EXPECTED);
  }

  static LengthDistribution exactly(int tokens) {
    return new Uniform(tokens, tokens);
  }

  static LengthDistribution recorded(Arrivals.Replay trace) {
    return new Recorded(
        trace.name(),
        IntStream.range(0, trace.size())
            .mapToObj(trace::lengths)
            .filter(Objects::nonNull)
            .map(Arrivals.Lengths::input)
            .filter(Objects::nonNull)
            .toList());
  }

  /** Normal lengths, or lognormal ones; mean and std are of the lengths. */
  record Normal(double mean, double std, boolean ofLogarithms) implements LengthDistribution {
    public Normal {
      if (!(mean >= 1 && mean <= MAX && std >= 0 && std <= MAX)) {
        throw new IllegalArgumentException(
            "lengths of mean %s and std %s; expected a mean from 1 to 1,000,000 and a std from 0"
                .formatted(mean, std));
      }
    }

    @Override
    public int draw(SplittableRandom random, long index) {
      // Of ln X ~ N(mu, s²): E X = exp(mu + s²/2), Var X = (exp(s²) - 1) (E X)².
      double variance = Math.log1p(std * std / (mean * mean));
      double mu = Math.log(mean) - variance / 2;
      while (true) {
        double normal = random.nextGaussian();
        long tokens =
            Math.round(
                ofLogarithms ? Math.exp(mu + Math.sqrt(variance) * normal) : mean + std * normal);
        if (tokens >= 1 && tokens <= MAX) {
          return (int) tokens;
        }
      }
    }

    @Override
    public String toString() {
      return "%snormal lengths of mean %s and std %s tokens"
          .formatted(ofLogarithms ? "log" : "", number(mean), number(std));
    }
  }

  record Uniform(int least, int most) implements LengthDistribution {
    public Uniform {
      length(least);
      length(most);
      if (most < least) {
        throw new IllegalArgumentException(
            "lengths from " + least + " to " + most + "; expected the shortest first");
      }
    }

    @Override
    public int draw(SplittableRandom random, long index) {
      return random.nextInt(least, most + 1);
    }

    @Override
    public String toString() {
      return least == most
          ? "exactly " + least + (least == 1 ? " token" : " tokens")
          : "uniform lengths of " + least + " to " + most + " tokens";
    }
  }

  /** Lengths and their weights; the share of a length is its weight ÷ the sum of all weights. */
  record Weighted(NavigableMap<Integer, Double> weights) implements LengthDistribution {

    public Weighted {
      weights = Collections.unmodifiableNavigableMap(new TreeMap<>(weights));
      if (weights.isEmpty()) {
        throw new IllegalArgumentException("no length to choose from; expected at least one");
      }
      weights.keySet().forEach(LengthDistribution::length);
      weights.values().forEach(Seed::weight);
    }

    static Weighted parse(String text) {
      NavigableMap<Integer, Double> weights = new TreeMap<>();
      for (String part : text.split(",", -1)) {
        String[] both = part.split("=", 2);
        if (both.length < 2) {
          throw new IllegalArgumentException("expected <tokens>=<weight>");
        }
        weights.merge(Integer.valueOf(both[0].strip()), Double.valueOf(both[1]), Double::sum);
      }
      return new Weighted(weights);
    }

    @Override
    public int draw(SplittableRandom random, long index) {
      return Seed.weighted(List.copyOf(weights.entrySet()), Map.Entry::getValue, random).getKey();
    }

    @Override
    public int least() {
      return weights.firstKey();
    }

    @Override
    public String toString() {
      return "one of " + weights.size() + " lengths by weight";
    }
  }

  record Recorded(String name, List<Integer> lengths) implements LengthDistribution {
    public Recorded {
      lengths = lengths.stream().map(LengthDistribution::length).toList();
      if (lengths.isEmpty()) {
        throw new IllegalArgumentException(name + " has no prompt lengths; expected one or more");
      }
    }

    @Override
    public int draw(SplittableRandom random, long index) {
      return lengths.get((int) (index % lengths.size()));
    }

    @Override
    public int least() {
      return lengths.stream().mapToInt(tokens -> tokens).min().orElseThrow();
    }

    @Override
    public String toString() {
      return "the " + lengths.size() + " lengths of " + name;
    }
  }

  private static int length(int tokens) {
    if (tokens < 1 || tokens > MAX) {
      throw new IllegalArgumentException(
          String.format(
              Locale.ROOT, "prompts of %,d tokens; expected 1 to %,d tokens", tokens, MAX));
    }
    return tokens;
  }

  private static String number(double value) {
    return BigDecimal.valueOf(value).stripTrailingZeros().toPlainString();
  }
}
