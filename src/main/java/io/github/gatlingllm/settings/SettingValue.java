package io.github.gatlingllm.settings;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.gatlingllm.client.Secrets;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.load.PlanText;
import io.github.gatlingllm.load.Seed;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.run.LevelHooks.Hook;
import io.github.gatlingllm.run.MetricsPage;
import io.github.gatlingllm.workload.CheckedPrompts;
import io.github.gatlingllm.workload.Dataset;
import io.github.gatlingllm.workload.LengthDistribution;
import io.github.gatlingllm.workload.PromptPrefix;
import io.github.gatlingllm.workload.Tokenizer;
import io.github.gatlingllm.workload.WorkloadScenario;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The values of settings that have several parts, and how they are read. */
public final class SettingValue {

  private static final ObjectMapper JSON = new ObjectMapper();

  private static final Pattern GROUPS = Pattern.compile("(\\d{1,6})x(\\d{1,7})");
  private static final Pattern ABANDONED = Pattern.compile("(\\d{1,3}(?:\\.\\d{1,9})?)%@(.+)");
  private static final Pattern WEIGHTED = Pattern.compile("(.+):(\\d{1,9}(?:\\.\\d{1,9})?)");

  private SettingValue() {}

  /** A value as {@code run.json} has it. */
  static String text(Object value) {
    if (value instanceof Duration duration) {
      return seconds(duration);
    }
    if (value instanceof List<?> list) {
      return list.stream().map(SettingValue::text).collect(Collectors.joining(","));
    }
    return value instanceof Double number
        ? NumberText.plain(number)
        : value instanceof Hook || value instanceof NamedUrl
            ? Secrets.redactUrl(value.toString())
            : value instanceof Tokenizer tokenizer ? tokenizer.name() : value.toString();
  }

  private static String seconds(Duration duration) {
    return NumberText.plain(duration.toNanos() / 1e9) + "s";
  }

  /** A URL with the name of a target, if it has one: {@code vLLM=http://a:8000/v1}. */
  public record NamedUrl(@Nullable String name, String url) {

    /** Between the URLs of one target. */
    public static final Pattern AND = Pattern.compile("\\s*\\+\\s*(?=[a-zA-Z]+://)");

    private static final Pattern FORM = Pattern.compile("([^:/?#=<>|]{1,60})=(.+)");

    public static NamedUrl parse(String text) {
      Matcher form = FORM.matcher(text);
      return form.matches()
          ? new NamedUrl(form.group(1).strip(), form.group(2).strip())
          : new NamedUrl(null, text);
    }

    static List<NamedUrl> each(List<NamedUrl> list) {
      Form.distinct(list.stream().map(NamedUrl::name).filter(Objects::nonNull).toList(), "name");
      return list;
    }

    static List<NamedUrl> metricsPages(List<NamedUrl> list) {
      var unused = MetricsPage.check(list.stream().map(NamedUrl::url).toList());
      return list;
    }
  }

  /**
   * The models of the targets.
   *
   * @param names one for all endpoints, or one per endpoint; {@code a|b} are two targets each
   * @param mix in place of names: models that the requests to each target are spread over
   */
  public record Models(List<String> names, List<WeightedModel> mix) {
    public static final Models NONE = new Models(List.of(), List.of());

    private static final Pattern WEIGHTED = Pattern.compile("(.+)=(\\d{1,9}(?:\\.\\d{1,9})?)");

    /** They are a mix if each ends in a weight, as names may have {@code =} too. */
    public static Models of(List<String> texts) {
      if (!texts.stream().allMatch(text -> WEIGHTED.matcher(text).matches())) {
        return new Models(texts, List.of());
      }
      List<WeightedModel> mix = texts.stream().map(Models::weighted).toList();
      Form.distinct(mix.stream().map(WeightedModel::name).toList(), "model");
      return new Models(List.of(), mix);
    }

    private static WeightedModel weighted(String text) {
      Matcher form = WEIGHTED.matcher(text);
      if (form.matches() && Double.parseDouble(form.group(2)) > 0 && text.indexOf('|') < 0) {
        return new WeightedModel(form.group(1).strip(), Double.parseDouble(form.group(2)));
      }
      throw new IllegalArgumentException(
          "expected <name>=<weight > 0> for each model of a mix, e.g. base=50,lora-a=30,lora-b=20");
    }
  }

  /** One of the models that requests are spread over; its share is its weight ÷ the sum of all. */
  public record WeightedModel(String name, double weight) {
    private static final long SALT = 0x6d6f64656c73L; // "models"

    public WeightedModel {
      if (name.isBlank() || !(weight > 0) || Double.isInfinite(weight)) {
        throw new IllegalArgumentException(
            "model(\"%s\", %s): expected a name and a weight above 0".formatted(name, weight));
      }
    }

    /** The model of a conversation, or of a request outside one, with that number. */
    public static String drawn(List<WeightedModel> models, long seed, long number) {
      return Seed.weighted(models, WeightedModel::weight, Seed.at(seed, SALT, number)).name();
    }

    /** The warm-up requests that try each model at each URL. */
    public static int tries(List<WeightedModel> models, int urls) {
      return urls * Math.max(1, models.size());
    }

    /** The model of a warm-up request, of those that try each model at each URL. */
    public static String tried(List<WeightedModel> models, int urls, long request) {
      return models.get((int) (request / urls % models.size())).name();
    }

    public static String shares(List<WeightedModel> models) {
      double all = models.stream().mapToDouble(WeightedModel::weight).sum();
      return models.stream()
          .map(model -> model.name + " " + NumberText.load(100 * model.weight / all) + " %")
          .collect(Collectors.joining(", "));
    }
  }

  /**
   * Users who leave before their answer is complete: a share of the requests, above 0 and at most
   * 1, after a time since the planned start that is drawn evenly between two.
   */
  public record Abandonment(double share, Duration min, Duration max) {
    private static final long SALT = 0x6162616e646f6eL; // "abandon"

    public Abandonment {
      if (!(share > 0 && share <= 1)
          || min.isNegative()
          || max.isZero()
          || max.compareTo(min) < 0) {
        throw new IllegalArgumentException(
            "abandonAfter(%s, %s, %s): expected a share above 0, at most 1, and times above 0, the"
                    .formatted(share, min, max)
                + " shorter one first");
      }
    }

    /** When the user of a request leaves, in nanoseconds; null for one who stays. */
    public @Nullable Long afterNanos(long seed, long request) {
      SplittableRandom random = Seed.at(seed, SALT, request);
      boolean leaves = random.nextDouble() < share;
      double range = (double) (max.toNanos() - min.toNanos());
      return leaves ? (Long) (min.toNanos() + (long) (random.nextDouble() * range)) : null;
    }

    @Override
    public String toString() {
      String from = min.equals(max) ? "" : seconds(min) + "-";
      return NumberText.plain(share * 100) + "%@" + from + seconds(max);
    }
  }

  /** The plan of the requests whose answers are compared. */
  static @Nullable String answers(@Nullable CheckedPrompts checked) {
    if (checked == null) {
      return null;
    }
    int count = checked.prompts().isEmpty() ? CheckedPrompts.OF_LOAD : checked.prompts().size();
    return "%s requests more: twice before the load, beside each level, after it; 1 to 4 at a time"
        .formatted(count);
  }

  /** Users who leave: {@code 10%@2s-5s}. */
  static Abandonment abandonment(String text) {
    Matcher form = Form.require(ABANDONED.matcher(text), Matcher::matches);
    ThinkTime time = ThinkTime.parse(form.group(2));
    return new Abandonment(Double.parseDouble(form.group(1)) / 100, time.min(), time.max());
  }

  /** The part of a recorded session in which its replay begins, as shares of its time. */
  public record StartRange(double from, double to) {
    private static final Pattern FORM =
        Pattern.compile("(\\d{1,3}(?:\\.\\d{1,9})?)-(\\d{1,3}(?:\\.\\d{1,9})?)%");

    public StartRange {
      if (!(from >= 0 && from <= to && to <= 1)) {
        throw new IllegalArgumentException(
            "expected a range of the session such as 25-75%, the earlier end first");
      }
    }

    static StartRange parse(String text) {
      if (text.equals("random")) {
        return new StartRange(0, 1);
      }
      Matcher form = Form.require(FORM.matcher(text), Matcher::matches);
      return new StartRange(
          Double.parseDouble(form.group(1)) / 100, Double.parseDouble(form.group(2)) / 100);
    }

    /** The share for a number that is drawn from 0 to 1. */
    public double at(double drawn) {
      return from + drawn * (to - from);
    }

    @Override
    public String toString() {
      return NumberText.plain(100 * from) + "-" + NumberText.plain(100 * to) + "%";
    }
  }

  private static final Form<WorkloadScenario> SCENARIO = Form.choice(WorkloadScenario.class);

  private static final Form<Map<WorkloadScenario, Double>> NAMES =
      Form.list("A1, A2, B1, B2, C, D", name -> Map.entry(SCENARIO.parser().apply(name), 1.0))
          .map(SettingValue::distinct);

  /**
   * Known scenarios one after the other, with a weight of 1; none where sessions are replayed by
   * the rules of AgentX.
   */
  static final Form<Map<WorkloadScenario, Double>> SCENARIOS =
      new Form<>(
          NAMES.shape() + ", " + AgentX.NAME,
          text -> text.equalsIgnoreCase(AgentX.NAME) ? Map.of() : NAMES.parser().apply(text));

  /** Known scenarios and their weights. */
  static final Form<Map<WorkloadScenario, Double>> MIX =
      Form.list("<scenario>:<weight > 0>", SettingValue::weighted).map(SettingValue::distinct);

  private static Map.Entry<WorkloadScenario, Double> weighted(String text) {
    Matcher form = Form.require(WEIGHTED.matcher(text), Matcher::matches);
    double weight = Double.parseDouble(form.group(2));
    return Map.entry(
        SCENARIO.parser().apply(form.group(1)), Form.require(weight, above -> above > 0));
  }

  private static Map<WorkloadScenario, Double> distinct(
      List<Map.Entry<WorkloadScenario, Double>> list) {
    Form.distinct(list.stream().map(Map.Entry::getKey).toList(), "scenario");
    Map<WorkloadScenario, Double> all = new LinkedHashMap<>();
    list.forEach(each -> all.put(each.getKey(), each.getValue()));
    return all;
  }

  /** The time that users wait between an answer and their next request, drawn uniformly. */
  public record ThinkTime(Duration min, Duration max) {

    public static final ThinkTime NONE = new ThinkTime(Duration.ZERO, Duration.ZERO);

    static ThinkTime parse(String text) {
      String[] ends = text.split("-", 2);
      Duration min = Form.durationOf(ends[0].strip());
      Duration max = Form.durationOf(ends[ends.length - 1].strip());
      if (max.compareTo(min) < 0) {
        throw new IllegalArgumentException("expected the shorter time first");
      }
      return new ThinkTime(min, max);
    }

    @Override
    public String toString() {
      return PlanText.time(min) + (min.equals(max) ? "" : " to " + PlanText.time(max));
    }

    public boolean isNone() {
      return max.isZero();
    }
  }

  /** A length of prompts or outputs, and its text as typed, which names pairs. */
  public record Length(String text, LengthDistribution tokens) {

    /** Default lengths of built-in prompts: questions with some context. */
    public static final int BUILT_IN_MIN = 64;

    public static final int BUILT_IN_MAX = 448;

    /** A comma, but none between the weights of {@code weighted:128=70,4096=30}. */
    private static final Pattern COMMA = Pattern.compile("\\s*,(?!\\s*\\d+\\s*=)\\s*");

    public static List<Length> each(String list) {
      return Form.distinct(
          Stream.of(COMMA.split(list, -1))
              .map(text -> new Length(text, LengthDistribution.parse(text)))
              .toList(),
          "length");
    }

    public static String texts(List<Length> lengths) {
      return lengths.stream().map(Length::text).collect(Collectors.joining(","));
    }

    @Override
    public String toString() {
      return tokens.toString();
    }
  }

  /**
   * The objectives of the setting {@code slo}: {@code ttft<200ms,C:ttft<1s,vLLM:e2e<5s}, or those
   * of tiers: {@code gold:ttft<200ms,tpot<30ms;silver:ttft<500ms}.
   *
   * @param all with tiers, those of the first
   * @param named by request name or target; none with tiers
   * @param tiers SLOs that all judge the same requests, by name
   */
  public record Slos(Slo all, Map<String, Slo> named, Map<String, Slo> tiers) {

    public static final Slos NONE = new Slos(Slo.NONE, Map.of());

    private static final String EXPECTED_TIERS =
        "; expected <tier>:<limits> between semicolons, e.g. gold:ttft<200ms;silver:ttft<1s";

    public Slos(Slo all, Map<String, Slo> named) {
      this(all, named, Map.of());
    }

    private static Slos ofTiers(Map<String, Slo> tiers) {
      return new Slos(tiers.values().iterator().next(), Map.of(), tiers);
    }

    private static Slos tiers(String text) {
      Slos all = NONE;
      for (String part : text.split(";", -1)) {
        int colon = part.indexOf(':');
        String name = part.substring(0, Math.max(0, colon)).strip();
        String limits = part.substring(colon + 1).strip();
        if (colon < 0) {
          String what = limits.isEmpty() ? "a tier is empty" : "'" + limits + "' has no tier";
          throw new IllegalArgumentException(what + EXPECTED_TIERS);
        }
        if (limits.isEmpty()) {
          throw new IllegalArgumentException("tier '" + name + "' has no limit" + EXPECTED_TIERS);
        }
        all = all.andTier(name, Slo.parse(limits));
      }
      return all;
    }

    /** The same with one more tier, in place of an SLO that judges all. */
    public Slos andTier(String name, Slo slo) {
      if (!name.matches("[A-Za-z][A-Za-z0-9_.-]{0,39}")) {
        throw new IllegalArgumentException(
            "'%s' is not a name of a tier; expected a letter, then letters, digits, _ . or -"
                .formatted(name.length() > 40 ? name.substring(0, 40) + "…" : name));
      }
      Map<String, Slo> more = new LinkedHashMap<>(tiers);
      if (more.put(name, slo) != null) {
        throw new IllegalArgumentException("tier '" + name + "' is named twice; name each once");
      }
      return ofTiers(more);
    }

    /** The same with that tier first, which headlines and searches use; null for no other. */
    public Slos first(@Nullable String tier) {
      if (tier == null) {
        return this;
      }
      if (!tiers.containsKey(tier)) {
        throw new IllegalArgumentException(
            tiers.isEmpty()
                ? "slo has no tiers" + EXPECTED_TIERS
                : "no tier is called '%s'; expected one of %s"
                    .formatted(tier, String.join(", ", tiers.keySet())));
      }
      Map<String, Slo> reordered = new LinkedHashMap<>();
      reordered.put(tier, tiers.get(tier));
      reordered.putAll(tiers);
      return ofTiers(reordered);
    }

    /** Parses objectives; a name ends at the last colon before the limit, tiers at a semicolon. */
    static Slos parse(String text) {
      if (text.indexOf(';') >= 0) {
        return tiers(text);
      }
      Map<String, List<String>> parts = new LinkedHashMap<>();
      for (String part : text.split(",", -1)) {
        int colon = part.substring(0, Math.max(0, part.indexOf('<'))).lastIndexOf(':');
        String name = colon < 0 ? "" : part.substring(0, colon).strip();
        parts.computeIfAbsent(name, n -> new ArrayList<>()).add(part.substring(colon + 1));
      }
      Map<String, Slo> slos = new LinkedHashMap<>();
      parts.forEach((name, limits) -> slos.put(name, Slo.parse(String.join(",", limits))));
      Slo all = slos.remove("");
      return new Slos(all == null ? Slo.NONE : all, slos);
    }

    public Slos each(UnaryOperator<Slo> change) {
      return new Slos(change.apply(all), each(named, change), each(tiers, change));
    }

    private static Map<String, Slo> each(Map<String, Slo> slos, UnaryOperator<Slo> change) {
      Map<String, Slo> changed = new LinkedHashMap<>(slos);
      changed.replaceAll((name, slo) -> change.apply(slo));
      return changed;
    }

    /** The objectives of a target's requests, except requests with their own. */
    public Slo of(String target) {
      return named.getOrDefault(target, all);
    }

    public boolean isEmpty() {
      return all.isEmpty() && named.isEmpty();
    }

    @Override
    public String toString() {
      if (!tiers.isEmpty()) {
        return tiers.entrySet().stream()
            .map(tier -> tier.getKey() + ":" + tier.getValue())
            .collect(Collectors.joining(";"));
      }
      Stream<String> own =
          named.entrySet().stream()
              .flatMap(
                  each -> each.getValue().objectives().stream().map(o -> each.getKey() + ":" + o));
      Stream<String> ofAll = all.isEmpty() ? Stream.empty() : Stream.of(all.toString());
      return Stream.concat(ofAll, own).collect(Collectors.joining(","));
    }
  }

  /** The images of every request: generated ones, or those of a file or folder. */
  public record ShownImages(int perRequest, int width, int height, @Nullable String file) {

    /**
     * Maximum number of different images; several are needed because servers cache processed
     * images.
     */
    private static final int MAX_VARIANTS = 32;

    /** Maximum memory of all generated images, at about 4 bytes per pixel. */
    private static final long MAX_BYTES = 64L << 20;

    private static final Pattern MADE_UP = Pattern.compile("(\\d{1,3})x(\\d{1,5})x(\\d{1,5})");

    static ShownImages parse(String text) {
      Matcher form = MADE_UP.matcher(text);
      ShownImages images =
          form.matches()
              ? new ShownImages(
                  Integer.parseInt(form.group(1)),
                  Integer.parseInt(form.group(2)),
                  Integer.parseInt(form.group(3)),
                  null)
              : new ShownImages(1, 0, 0, text);
      if (images.perRequest < 1) {
        throw new IllegalArgumentException("expected 1 image or more");
      }
      if (images.file == null
          && (images.width < 1
              || images.height < 1
              || images.perRequest * 4L * images.width * images.height > MAX_BYTES)) {
        throw new IllegalArgumentException(
            "expected 1 to " + MAX_BYTES / 4 + " pixels in all images of a request");
      }
      return images;
    }

    /** The number of different images; several are needed because servers cache them. */
    public int variants() {
      long each = perRequest * 4L * width * height;
      return (int) Math.max(1, Math.min(MAX_VARIANTS, MAX_BYTES / each));
    }

    @Override
    public String toString() {
      return file == null
          ? "%s of %s × %s pixels per request, generated; %s, which then repeat"
              .formatted(
                  NumberText.counted(perRequest, "image"),
                  width,
                  height,
                  NumberText.counted(variants(), "different one"))
          : "1 per request, of " + file + " in turn";
    }
  }

  /** A file of recorded dialogs, which is opened with the tokenizer that some formats need. */
  static Function<Tokenizer, Dataset> dataset(String text) {
    String[] parts = Form.require(text.split(":", 2), both -> both.length == 2);
    Dataset.Format format = Form.choice(Dataset.Format.class).parser().apply(parts[0]);
    String file = Form.require(parts[1], name -> !name.isEmpty());
    return tokenizer -> Dataset.open(format, file, tokenizer);
  }

  /** Body fields that the measurement relies on, and the settings that set them. */
  private static final Map<String, String> OWN_FIELDS =
      Map.of(
          "model", "model",
          "stream", "stream",
          "messages", "prompt",
          "prompt", "prompt",
          "max_tokens", "maxTokens");

  /** A JSON object, which must not be modified. */
  public static ObjectNode object(String text) {
    try {
      return Form.require(JSON.readValue(text, ObjectNode.class), Objects::nonNull);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(null, e);
    }
  }

  /** Parses extra fields of requests. The result must not be modified. */
  static ObjectNode body(String text) {
    ObjectNode body = object(text);
    OWN_FIELDS.forEach(
        (field, setting) -> {
          if (body.has(field)) {
            throw new IllegalArgumentException("expected no \"" + field + "\"; use llm." + setting);
          }
        });
    return body;
  }

  static PromptPrefix.Shared sharedPrefix(String text) {
    Matcher form = Form.require(GROUPS.matcher(text), Matcher::matches);
    return new PromptPrefix.Shared(
        Integer.parseInt(form.group(1)), Integer.parseInt(form.group(2)), 0);
  }

  /** Common lengths of prompts and outputs by the name, in lower case, of what decides in them. */
  private static final Map<String, String> PRESETS =
      Map.of("prefillheavy", "8192,1024", "balanced", "1024,1024", "decodeheavy", "1024,8192");

  /**
   * Pairs of lengths, or those for summaries and retrieval, for chat, for reasoning and writing.
   */
  static LengthDistribution.Pairs lengths(String text) {
    return LengthDistribution.Pairs.parse(
        PRESETS.getOrDefault(text.toLowerCase(Locale.ROOT), text));
  }

  /** Reads every name once, so that targets with the same file share its tokenizer. */
  static List<Tokenizer> tokenizers(List<String> names) {
    Map<String, Tokenizer> byName = new HashMap<>();
    return names.stream().map(name -> byName.computeIfAbsent(name, Tokenizer::parse)).toList();
  }
}
