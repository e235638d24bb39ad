package io.github.gatlingllm.workload;

import io.github.gatlingllm.load.SplitMix64;
import java.math.BigDecimal;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.function.DoubleSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

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

  /** Parses the forms of {@link #EXPECTED}. */
  static LengthDistribution parse(String text) {
    String number = "(\\d{1,7}(?:\\.\\d{1,6})?)";
    Matcher form =
        Pattern.compile("(lognormal:)?" + number + "(?:([:-])" + number + ")?")
            .matcher(text.strip());
    try {
      if (text.startsWith("weighted:")) {
        return new Weighted(
            Arrays.stream(text.substring("weighted:".length()).split(",", -1))
                .map(WeightedLength::parse)
                .toList());
      }
      if (form.matches()) {
        String first = form.group(2);
        String second = form.group(4);
        if (form.group(1) != null && ":".equals(form.group(3))) {
          return new Lognormal(Double.parseDouble(first), Double.parseDouble(second));
        } else if (form.group(1) == null) {
          return second == null
              ? new Fixed(Integer.parseInt(first))
              : form.group(3).equals(":")
                  ? new Normal(Double.parseDouble(first), Double.parseDouble(second))
                  : new Uniform(Integer.parseInt(first), Integer.parseInt(second));
        }
      }
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("expected " + EXPECTED, e);
    }
    throw new IllegalArgumentException("expected " + EXPECTED);
  }

  record Fixed(int tokens) implements LengthDistribution {
    public Fixed {
      length(tokens);
    }

    @Override
    public int draw(SplittableRandom random, long index) {
      return tokens;
    }

    @Override
    public int least() {
      return tokens;
    }

    @Override
    public String toString() {
      return "exactly " + tokens + (tokens == 1 ? " token" : " tokens");
    }
  }

  record Normal(double mean, double std) implements LengthDistribution {
    public Normal {
      require(mean, std);
    }

    @Override
    public int draw(SplittableRandom random, long index) {
      return drawnUntilInRange(() -> mean + std * random.nextGaussian());
    }

    @Override
    public String toString() {
      return "normal lengths of mean " + number(mean) + " and std " + number(std) + " tokens";
    }
  }

  /** Many short and few long prompts; mean and std are of the lengths, not their logarithms. */
  record Lognormal(double mean, double std) implements LengthDistribution {
    public Lognormal {
      require(mean, std);
    }

    @Override
    public int draw(SplittableRandom random, long index) {
      // Of ln X ~ N(mu, s²): E X = exp(mu + s²/2), Var X = (exp(s²) - 1) (E X)².
      double variance = Math.log1p(std * std / (mean * mean));
      double mu = Math.log(mean) - variance / 2;
      return drawnUntilInRange(() -> Math.exp(mu + Math.sqrt(variance) * random.nextGaussian()));
    }

    @Override
    public String toString() {
      return "lognormal lengths of mean " + number(mean) + " and std " + number(std) + " tokens";
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
      return "uniform lengths of " + least + " to " + most + " tokens";
    }
  }

  /** A length; its share of the prompts is its weight ÷ the sum of all weights. */
  record WeightedLength(int tokens, double weight) {
    public WeightedLength {
      length(tokens);
      SplitMix64.weight(weight);
    }

    private static WeightedLength parse(String text) {
      String[] parts = text.split("=", 2);
      if (parts.length < 2) {
        throw new IllegalArgumentException("expected <tokens>=<weight>");
      }
      return new WeightedLength(Integer.parseInt(parts[0].strip()), Double.parseDouble(parts[1]));
    }
  }

  record Weighted(List<WeightedLength> choices) implements LengthDistribution {

    public Weighted {
      choices = List.copyOf(choices);
      if (choices.isEmpty()) {
        throw new IllegalArgumentException("no length to choose from; expected at least one");
      }
    }

    @Override
    public int draw(SplittableRandom random, long index) {
      return SplitMix64.weighted(choices, WeightedLength::weight, random).tokens();
    }

    @Override
    public int least() {
      return choices.stream().mapToInt(WeightedLength::tokens).min().orElseThrow();
    }

    @Override
    public String toString() {
      return "one of " + choices.size() + " lengths by weight";
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

  private static int drawnUntilInRange(DoubleSupplier draw) {
    while (true) {
      long tokens = Math.round(draw.getAsDouble());
      if (tokens >= 1 && tokens <= MAX) {
        return (int) tokens;
      }
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

  private static void require(double mean, double std) {
    if (!(mean >= 1 && mean <= MAX && std >= 0 && std <= MAX)) {
      throw new IllegalArgumentException(
          "lengths of mean %s and std %s; expected a mean from 1 to 1,000,000 and a std from 0"
              .formatted(mean, std));
    }
  }

  private static String number(double value) {
    return BigDecimal.valueOf(value).stripTrailingZeros().toPlainString();
  }
}
