package io.github.gatlingllm.workload;

import io.github.gatlingllm.load.Arrivals;
import io.github.gatlingllm.load.Seed;
import io.github.gatlingllm.load.Trace;
import java.math.BigDecimal;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.LongConsumer;
import java.util.function.LongFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Lengths of prompts or outputs in tokens, 1 to {@value #MAX}; draws outside are repeated. Those of
 * the same {@link #text} are equal.
 */
public final class LengthDistribution {

  public static final int MAX = 1_000_000;

  public static final String EXPECTED =
      "tokens from 1 to 1,000,000: a number, <mean>:<std>, <min>-<max>, lognormal:<mean>:<std>"
          + " or weighted:128=70,4096=30";

  private static final String NUMBER = "(\\d{1,7}(?:\\.\\d{1,6})?)";
  private static final Pattern FORM =
      Pattern.compile("(lognormal:)?" + NUMBER + "(?:([:-])" + NUMBER + ")?");

  private static final Map<String, Set<String>> OF_FEEDERS = new TreeMap<>();
  private static final Set<Integer> TEMPLATES = new LinkedHashSet<>();

  private final String text;
  private final String words;
  private final double mean;
  private final int min;
  private final int room;
  private final Drawing drawing;

  /**
   * @param room a prefix of up to that many tokens leaves a part of each prompt
   */
  private LengthDistribution(
      String text, String words, double mean, int min, int room, Drawing drawing) {
    this.text = text;
    this.words = words;
    this.mean = mean;
    this.min = min;
    this.room = room;
    this.drawing = drawing;
  }

  /** Draws a length, which may be out of range. */
  private interface Drawing {
    long draw(SplittableRandom random, long index);
  }

  public int draw(SplittableRandom random, long index) {
    while (true) {
      long tokens = drawing.draw(random, index);
      if (tokens >= 1 && tokens <= MAX) {
        return (int) tokens;
      }
    }
  }

  /** The mean of what is drawn, as far as no draw is repeated. */
  public double mean() {
    return mean;
  }

  /** As a setting has it, e.g. {@code 64-512}: {@link #parse} reads it. */
  public String text() {
    return text;
  }

  public int min() {
    return min;
  }

  /** Whether a prefix of that many tokens leaves a part of each prompt, or of all but the rare. */
  public boolean isRoomAfter(int tokens) {
    return tokens <= room;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof LengthDistribution lengths && text.equals(lengths.text);
  }

  @Override
  public int hashCode() {
    return text.hashCode();
  }

  /** In words, e.g. {@code uniform lengths of 64 to 512 tokens}. */
  @Override
  public String toString() {
    return words;
  }

  /**
   * What one request draws by: an attribute of its session while its texts are resolved. A request
   * before the load uses up nothing: it has the first prompt, and the mean length.
   */
  public static final class Draw implements LongConsumer {

    public static final String KEY = "gatling.llm.lengthDraw";

    private static final long SALT = 0x6f75747075746c65L; // "outputle"

    /** Numbers of different plans and orders of draws differ in higher bits. */
    private static final long INDEX = (1L << 40) - 1;

    private final long seed;
    private final boolean isOfWarmUp;
    private final int sample;
    private long number;

    /**
     * @param number null before the load; 0 where it is not known yet
     */
    public Draw(long seed, @Nullable Long number) {
      this(seed, number, 0);
    }

    /**
     * @param sample the index of the prompt of a request before the load
     */
    public Draw(long seed, @Nullable Long number, int sample) {
      this.seed = seed;
      this.sample = sample;
      isOfWarmUp = number == null;
      this.number = number == null ? 0 : number;
    }

    /** The number of what was drawn last in the order of calls, in the end its own; 0 for none. */
    public long number() {
      return number;
    }

    @Override
    public void accept(long drawn) {
      number = drawn;
    }

    /** The index of the prompt among those of its order; null before the load. */
    public @Nullable Long index() {
      return isOfWarmUp ? null : (Long) (number & INDEX);
    }

    public int sample() {
      return sample;
    }

    /** The length of an output; the mean one without an index, as for a warm-up request. */
    public int of(LengthDistribution lengths) {
      Long index = index();
      return index == null
          ? (int) Math.max(1, Math.round(lengths.mean()))
          : lengths.draw(Seed.at(seed, SALT, index), index);
    }
  }

  /** A feeder of this process draws that length, as the setting of the name has it. */
  public static synchronized void note(String setting, String text) {
    OF_FEEDERS.computeIfAbsent(setting, name -> new LinkedHashSet<>()).add(text);
  }

  /** Prompts of a feeder leave room for that number of tokens of a chat template. */
  public static synchronized void noteTemplate(int tokens) {
    TEMPLATES.add(tokens);
  }

  /** What feeders have noted since the last call, by the name of the setting. */
  public static synchronized Map<String, String> takeNotes() {
    Map<String, String> taken = new TreeMap<>();
    OF_FEEDERS.forEach((setting, texts) -> taken.put(setting, String.join("; ", texts)));
    OF_FEEDERS.clear();
    return taken;
  }

  public static synchronized Set<Integer> takeTemplates() {
    Set<Integer> taken = Set.copyOf(TEMPLATES);
    TEMPLATES.clear();
    return taken;
  }

  public static LengthDistribution parse(String text) {
    Matcher form = FORM.matcher(text.strip());
    try {
      if (text.startsWith("weighted:")) {
        return weighted(weights(text.substring("weighted:".length())));
      }
      if (form.matches()) {
        String first = form.group(2);
        String second = form.group(4);
        boolean hasStd = ":".equals(form.group(3));
        if (form.group(1) != null && hasStd) {
          return lognormal(Double.parseDouble(first), Double.parseDouble(second));
        } else if (form.group(1) == null) {
          return second == null
              ? exactly(Integer.parseInt(first))
              : hasStd
                  ? normal(Double.parseDouble(first), Double.parseDouble(second))
                  : uniform(Integer.parseInt(first), Integer.parseInt(second));
        }
      }
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("expected " + EXPECTED, e);
    }
    throw new IllegalArgumentException("expected " + EXPECTED);
  }

  private static Map<Integer, Double> weights(String text) {
    Map<Integer, Double> weights = new TreeMap<>();
    for (String part : text.split(",", -1)) {
      String[] both = part.split("=", 2);
      if (both.length < 2) {
        throw new IllegalArgumentException("expected <tokens>=<weight>");
      }
      weights.merge(Integer.valueOf(both[0].strip()), Double.valueOf(both[1]), Double::sum);
    }
    return weights;
  }

  public static LengthDistribution exactly(int tokens) {
    return uniform(tokens, tokens);
  }

  public static LengthDistribution uniform(int min, int max) {
    var unused = requireLength(min) + requireLength(max);
    if (max < min) {
      throw new IllegalArgumentException(
          "lengths from " + min + " to " + max + "; expected the shortest first");
    }
    return new LengthDistribution(
        min == max ? Integer.toString(min) : min + "-" + max,
        min == max
            ? "exactly " + min + (min == 1 ? " token" : " tokens")
            : "uniform lengths of " + min + " to " + max + " tokens",
        (min + max) / 2.0,
        min,
        min - 1,
        (random, index) -> random.nextInt(min, max + 1));
  }

  public static LengthDistribution normal(double mean, double std) {
    requireMoments(mean, std);
    return new LengthDistribution(
        number(mean) + ":" + number(std),
        "normal lengths of mean " + number(mean) + " and std " + number(std) + " tokens",
        mean,
        1,
        MAX,
        (random, index) -> Math.round(mean + std * random.nextGaussian()));
  }

  /** Lognormal lengths; mean and std are of the lengths. */
  public static LengthDistribution lognormal(double mean, double std) {
    requireMoments(mean, std);
    // Of ln X ~ N(mu, s²): E X = exp(mu + s²/2), Var X = (exp(s²) - 1) (E X)².
    double variance = Math.log1p(std * std / (mean * mean));
    double mu = Math.log(mean) - variance / 2;
    return new LengthDistribution(
        "lognormal:" + number(mean) + ":" + number(std),
        "lognormal lengths of mean " + number(mean) + " and std " + number(std) + " tokens",
        mean,
        1,
        0,
        (random, index) -> Math.round(Math.exp(mu + Math.sqrt(variance) * random.nextGaussian())));
  }

  private static void requireMoments(double mean, double std) {
    if (!(mean >= 1 && mean <= MAX && std >= 0 && std <= MAX)) {
      throw new IllegalArgumentException(
          "lengths of mean %s and std %s; expected a mean from 1 to 1,000,000 and a std from 0"
              .formatted(mean, std));
    }
  }

  private record MixPart(LengthDistribution lengths, double weight) {
    private MixPart {
      var unused = Seed.weight(weight);
    }
  }

  /** One of these lengths, by weight. */
  public static LengthDistribution weighted(Map<Integer, Double> weights) {
    return mixed(
        new TreeMap<>(weights)
            .entrySet().stream()
                .map(each -> new MixPart(exactly(each.getKey()), each.getValue()))
                .toList(),
        null);
  }

  /**
   * One of several lengths, or of several distributions, by weight; the share of each is its weight
   * ÷ the sum of all weights.
   *
   * @param choice what one is chosen by at an index; null for what its length is drawn by
   */
  private static LengthDistribution mixed(
      List<MixPart> parts, @Nullable LongFunction<SplittableRandom> choice) {
    if (parts.isEmpty()) {
      throw new IllegalArgumentException("no length to choose from; expected at least one");
    }
    double all = parts.stream().mapToDouble(MixPart::weight).sum();
    return new LengthDistribution(
        parts.stream()
            .map(part -> part.lengths.text + "=" + number(part.weight))
            .collect(Collectors.joining(",", "weighted:", "")),
        parts.stream()
            .map(
                part ->
                    part.lengths
                        + " ("
                        + number(Math.round(1_000 * (part.weight / all)) / 10.0)
                        + " %)")
            .collect(Collectors.joining(", ")),
        parts.stream().mapToDouble(part -> part.lengths.mean * (part.weight / all)).sum(),
        parts.stream().mapToInt(part -> part.lengths.min).min().orElseThrow(),
        parts.stream().mapToInt(part -> part.lengths.room).min().orElseThrow(),
        (random, index) ->
            Seed.weighted(parts, MixPart::weight, choice == null ? random : choice.apply(index))
                .lengths
                .draw(random, index));
  }

  /** The lengths of a trace, in its order again and again. */
  public static LengthDistribution recorded(Trace trace) {
    int[] lengths =
        IntStream.range(0, trace.size())
            .mapToObj(trace::lengths)
            .filter(Objects::nonNull)
            .map(Arrivals.Lengths::input)
            .filter(Objects::nonNull)
            .mapToInt(LengthDistribution::requireLength)
            .toArray();
    if (lengths.length == 0) {
      throw new IllegalArgumentException(
          trace.name() + " has no prompt lengths; expected one or more");
    }
    int min = IntStream.of(lengths).min().orElseThrow();
    return new LengthDistribution(
        trace.name(),
        "the " + lengths.length + " lengths of " + trace.name(),
        IntStream.of(lengths).average().orElseThrow(),
        min,
        min - 1,
        new InOrder(lengths));
  }

  /** Whether users have these lengths by their numbers, and not by draws. */
  public boolean isRecorded() {
    return drawing instanceof InOrder;
  }

  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record InOrder(int[] lengths) implements Drawing {
    @Override
    public long draw(SplittableRandom random, long index) {
      return lengths[(int) (index % lengths.length)];
    }
  }

  /**
   * Lengths of prompts and of outputs that belong together, drawn by weight: both sides draw the
   * same pair at an index.
   */
  public static final class Pairs {

    public static final Pairs NONE = new Pairs(List.of());

    private static final Pattern FORM = Pattern.compile("([^,:;]+),([^,:;]+)(?::([^,:;]+))?");
    private static final long SALT = 0x70616972736f666cL; // "pairsofl"

    private final List<RecordedPair> pairs;

    private Pairs(List<RecordedPair> pairs) {
      this.pairs = pairs;
    }

    /** These and one with that weight, a finite number above 0. */
    public Pairs and(LengthDistribution input, LengthDistribution output, double weight) {
      RecordedPair pair = new RecordedPair(input, output, weight);
      return new Pairs(Stream.concat(pairs.stream(), Stream.of(pair)).toList());
    }

    /** The same with another weight of the last one. */
    public Pairs weighted(double weight) {
      int last = pairs.size() - 1;
      RecordedPair pair = pairs.get(last);
      return new Pairs(pairs.subList(0, last)).and(pair.input, pair.output, weight);
    }

    public int size() {
      return pairs.size();
    }

    /** The names of requests, one for each pair. */
    public List<String> names() {
      return pairs.stream().map(RecordedPair::name).toList();
    }

    public List<LengthDistribution> outputs() {
      return pairs.stream().map(RecordedPair::output).toList();
    }

    /**
     * Parses {@code 256|32,128|16:60;4096,512:40}; weights are given for all pairs, or for none.
     */
    public static Pairs parse(String text) {
      List<Matcher> parts = Stream.of(text.split(";", -1)).map(FORM::matcher).toList();
      if (!parts.stream().allMatch(Matcher::matches)
          || parts.stream().map(part -> part.group(3) == null).distinct().count() > 1) {
        throw new IllegalArgumentException(
            "expected <input>,<output>:<weight>;…, e.g. 256|32,128|16:60;4096,512:40");
      }
      return new Pairs(parts.stream().map(Pairs::pair).toList());
    }

    /** Each side has a form of {@link LengthDistribution#parse}, with | in place of a colon. */
    private static RecordedPair pair(Matcher form) {
      return new RecordedPair(
          LengthDistribution.parse(form.group(1).replace('|', ':')),
          LengthDistribution.parse(form.group(2).replace('|', ':')),
          Seed.weight(form.group(3) == null ? 1 : Double.parseDouble(form.group(3))));
    }

    /** The name of the pair that both sides draw at an index. */
    public String name(long seed, int made, long index) {
      return Seed.weighted(pairs, RecordedPair::weight, Seed.at(seed, SALT, index % made)).name();
    }

    /** As a setting has it: {@link #parse} reads it. */
    public String text() {
      return pairs.stream()
          .map(
              pair ->
                  Stream.of(pair.input, pair.output)
                          .map(side -> side.text().replace(':', '|'))
                          .collect(Collectors.joining(","))
                      + (pairs.size() == 1 ? "" : ":" + number(pair.weight)))
          .collect(Collectors.joining(";"));
    }

    /** The lengths of prompts, of which that many are made, and then repeat. */
    public LengthDistribution inputs(long seed, int made) {
      return side(RecordedPair::input, seed, made);
    }

    /** The lengths of the outputs of the same prompts. */
    public LengthDistribution outputs(long seed, int made) {
      return side(RecordedPair::output, seed, made);
    }

    private LengthDistribution side(
        Function<RecordedPair, LengthDistribution> lengths, long seed, int made) {
      return pairs.size() == 1
          ? lengths.apply(pairs.get(0))
          : mixed(
              pairs.stream().map(pair -> new MixPart(lengths.apply(pair), pair.weight)).toList(),
              index -> Seed.at(seed, SALT, index % made));
    }
  }

  private record RecordedPair(LengthDistribution input, LengthDistribution output, double weight) {

    /** The name of its requests, e.g. {@code 256:32/128:16}. */
    private String name() {
      return input.text() + "/" + output.text();
    }
  }

  private static int requireLength(int tokens) {
    if (tokens < 1 || tokens > MAX) {
      throw new IllegalArgumentException(
          String.format(
              Locale.ROOT, "a length of %,d tokens; expected 1 to %,d tokens", tokens, MAX));
    }
    return tokens;
  }

  private static String number(double value) {
    return BigDecimal.valueOf(value).stripTrailingZeros().toPlainString();
  }
}
