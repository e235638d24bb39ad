package io.github.gatlingllm.run;

import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.ServerSample;
import io.github.gatlingllm.record.ServerSample.EngineMetric;
import io.github.gatlingllm.record.ServerSample.Histogram;
import io.github.gatlingllm.record.ServerSample.SampleKind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Extracts values from the pages of an endpoint, by the servers' own names of the metrics, the
 * table {@code sources.txt}; detects resets by the page before.
 */
final class PageReader {

  /** Values from here on are not measurements: DCGM reports a blank value like this. */
  private static final double LARGEST = 9e18;

  /** Labels of a host and of a GPU; where the host is not known, its number is ambiguous. */
  private static final List<String> HOST = List.of("Hostname", "hostname");

  private static final List<String> NUMBER = List.of("gpu", "gpu_id", "UUID", "gpu_uuid");
  private static final List<String> SERIAL = List.of("UUID", "gpu_uuid", "gpu", "gpu_id");

  /** The label of a MIG instance, which has dedicated memory. */
  private static final String PART = "GPU_I_ID";

  private static final String NODE_CPU = "node_cpu_seconds_total";

  private static final String NODE = "node";

  /** The servers' own names of the metrics: {@code sources.txt}. */
  private static final List<NamedMetric> TABLE = table();

  private static final Set<String> READ_NAMES =
      Stream.concat(Stream.of(NODE_CPU), TABLE.stream().flatMap(NamedMetric::names))
          .collect(Collectors.toUnmodifiableSet());

  private Map<EngineMetric, Double> before = Map.of();
  private double cpuBefore = Double.NaN;
  private double idleBefore;
  private @Nullable String unusable;

  /** What is found on a page while it is read. */
  private record Found(
      Set<String> sources,
      Map<EngineMetric, String> names,
      Map<EngineMetric, Double> values,
      Map<EngineMetric, Histogram> histograms,
      Map<String, Map<EngineMetric, Double>> gpus) {}

  private record Series(String name, Map<String, String> labels, double value) {

    /** False for SGLang's series per priority and rank, which repeat the total or a part. */
    boolean isEntireServer() {
      return !name.startsWith("sglang")
          || (labels.getOrDefault("priority", "").isEmpty()
              && labels.getOrDefault("tp_rank", "0").equals("0")
              && labels.getOrDefault("pp_rank", "0").equals("0"));
    }
  }

  private record Term(String name, String label, String value) {

    static Term parse(String text) {
      String[] parts = text.split("[{=}]", -1);
      return parts.length == 1 ? new Term(text, "", "") : new Term(parts[0], parts[1], parts[2]);
    }
  }

  private record TermChoice(List<Term> terms, boolean isCount) {

    static TermChoice parse(String text) {
      boolean isCount = text.startsWith("# ");
      String names = isCount ? text.substring(2) : text;
      return new TermChoice(
          Arrays.stream(names.split(" \\+ ", -1)).map(Term::parse).toList(), isCount);
    }
  }

  private record NamedMetric(
      String source, EngineMetric metric, List<TermChoice> choices, double factor) {

    static NamedMetric parse(String source, String row) {
      String[] parts = row.split(":\\s+| \\* ", -1);
      return new NamedMetric(
          source,
          EngineMetric.valueOf(parts[0].strip().toUpperCase(Locale.ROOT)),
          Arrays.stream(parts[1].split("\\s+\\| ", -1)).map(TermChoice::parse).toList(),
          parts.length > 2 ? Double.parseDouble(parts[2]) : 1);
    }

    private Stream<String> names() {
      List<String> series =
          metric.kind() == ServerSample.SampleKind.HISTOGRAM
              ? List.of("_bucket", "_sum", "_count")
              : List.of("");
      return choices.stream()
          .flatMap(choice -> choice.terms.stream())
          .flatMap(term -> series.stream().map(suffix -> plain(term.name) + suffix));
    }
  }

  private static List<NamedMetric> table() {
    String text = RunFiles.resource(PageReader.class, "sources.txt");
    List<NamedMetric> entries = new ArrayList<>();
    String source = "";
    for (String row : text.replaceAll("\\n +\\|", " |").split("\n", -1)) {
      if (row.startsWith("  ")) {
        entries.add(NamedMetric.parse(source, row));
      } else if (!row.startsWith("#")) {
        source = row;
      }
    }
    return List.copyOf(entries);
  }

  /** The name with underscores for colons, as some collectors write it. */
  private static String plain(String name) {
    return name.replace(':', '_');
  }

  private static boolean isRead(String name) {
    return READ_NAMES.contains(plain(name));
  }

  /** Whether a page had a metric that is read whose value was not a measurement, such as NaN. */
  boolean isUnusable() {
    return unusable != null;
  }

  /** That sample with the values of its page; throws with one line if it has none. */
  ServerSample read(String page, ServerSample sample) {
    Map<String, List<Series>> byName = new HashMap<>();
    PrometheusText.read(
        page,
        PageReader::isRead,
        series -> {
          if (series.value >= 0 && series.value < LARGEST && series.isEntireServer()) {
            byName.computeIfAbsent(plain(series.name), any -> new ArrayList<>()).add(series);
          } else if (series.isEntireServer()) {
            unusable = series.name;
          }
        });
    Found found =
        new Found(
            new LinkedHashSet<>(),
            new EnumMap<>(EngineMetric.class),
            new EnumMap<>(EngineMetric.class),
            new EnumMap<>(EngineMetric.class),
            new LinkedHashMap<>());
    for (NamedMetric entry : TABLE) {
      if (!found.names().containsKey(entry.metric())) {
        take(entry, byName, found);
      }
    }
    nodeCpu(byName, found);
    if (found.sources().isEmpty()) {
      throw new IllegalArgumentException(
          unusable == null
              ? "no metric of an engine, GPU or host"
              : "its metrics have no value, e.g. " + unusable);
    }
    Map<EngineMetric, Double> now = counters(found);
    boolean reset =
        before.entrySet().stream()
            .anyMatch(then -> now.getOrDefault(then.getKey(), then.getValue()) < then.getValue());
    before = now;
    return sample.of(
        String.join("+", found.sources()),
        reset,
        found.names(),
        found.values(),
        found.histograms(),
        found.gpus());
  }

  private static Map<EngineMetric, Double> counters(Found found) {
    Map<EngineMetric, Double> counters = new EnumMap<>(EngineMetric.class);
    found
        .values()
        .forEach(
            (metric, value) -> {
              if (metric.kind() == SampleKind.COUNTER) {
                counters.put(metric, value);
              }
            });
    found.histograms().forEach((metric, all) -> counters.put(metric, (double) all.count()));
    return counters;
  }

  private static void take(NamedMetric entry, Map<String, List<Series>> byName, Found found) {
    EngineMetric metric = entry.metric();
    for (TermChoice choice : entry.choices()) {
      String name =
          metric.kind() == SampleKind.HISTOGRAM
              ? histogram(entry, choice.terms().get(0), byName, found)
              : value(entry, choice, byName, found);
      if (name != null) {
        found.sources().add(entry.source());
        found.names().put(metric, name);
        return;
      }
    }
  }

  /** The server's name of the metric; null if the page does not contain it. */
  private static @Nullable String value(
      NamedMetric entry, TermChoice choice, Map<String, List<Series>> byName, Found found) {
    double sum = 0;
    Map<String, Double> byGpu = new LinkedHashMap<>();
    List<String> names = new ArrayList<>();
    for (Term term : choice.terms()) {
      List<Series> series =
          byName.getOrDefault(plain(term.name()), List.of()).stream()
              .filter(
                  each ->
                      term.label().isEmpty()
                          || term.value().equals(each.labels().get(term.label())))
              .toList();
      if (series.isEmpty()) {
        return null;
      }
      Map<String, Double> parts = byGpuPart(entry.metric(), series);
      Collection<Double> values =
          isOfGpus(entry.metric()) ? parts.values() : series.stream().map(Series::value).toList();
      sum += choice.isCount() ? values.size() : entry.metric().ofAll(values.stream());
      parts.forEach((part, own) -> byGpu.merge(part.split("\n", 2)[0], own, Double::sum));
      String label = term.label().isEmpty() ? "" : "{" + term.label() + "=" + term.value() + "}";
      names.add(series.get(0).name() + label);
    }
    found.values().put(entry.metric(), sum * entry.factor());
    if (entry.metric().isOfEachGpu()) {
      byGpu.forEach(
          (gpu, own) ->
              found
                  .gpus()
                  .computeIfAbsent(gpu, any -> new EnumMap<>(EngineMetric.class))
                  .put(entry.metric(), own * entry.factor()));
    }
    return String.join(" + ", names);
  }

  private static boolean isOfGpus(EngineMetric metric) {
    return metric.name().startsWith("GPU");
  }

  /** One value per GPU, where an exporter repeats it per MIG instance or pod; memory per part. */
  private static Map<String, Double> byGpuPart(EngineMetric metric, List<Series> series) {
    boolean isOfParts = metric.name().startsWith("GPU_MEMORY");
    Map<String, Double> all = new LinkedHashMap<>();
    for (Series each : isOfGpus(metric) ? series : List.<Series>of()) {
      String part = isOfParts ? "\n" + each.labels().getOrDefault(PART, "") : "";
      all.merge(gpu(each.labels()) + part, each.value(), Math::max);
    }
    return all;
  }

  /** The name of a GPU: {@code node-1 GPU 0}. */
  private static String gpu(Map<String, String> labels) {
    String host = label(HOST, labels);
    return (host + " GPU " + label(host.isEmpty() ? SERIAL : NUMBER, labels)).strip();
  }

  private static String label(List<String> names, Map<String, String> labels) {
    return names.stream()
        .map(name -> labels.getOrDefault(name, ""))
        .filter(value -> !value.isEmpty())
        .findFirst()
        .orElse("");
  }

  private static @Nullable String histogram(
      NamedMetric entry, Term term, Map<String, List<Series>> byName, Found found) {
    String name = plain(term.name());
    List<Series> counts = byName.getOrDefault(name + "_count", List.of());
    List<Series> sums = byName.getOrDefault(name + "_sum", List.of());
    if (counts.isEmpty() || sums.isEmpty()) {
      return null;
    }
    long count = counts.stream().mapToLong(each -> Math.round(each.value())).sum();
    double sum = sums.stream().mapToDouble(Series::value).sum() * entry.factor();
    SortedMap<Double, Long> buckets = buckets(byName.getOrDefault(name + "_bucket", List.of()));
    List<Long> upTo = List.copyOf(buckets.values());
    boolean isAscending = upTo.stream().sorted().toList().equals(upTo);
    found
        .histograms()
        .put(
            entry.metric(),
            isAscending && !upTo.isEmpty()
                ? new Histogram(
                    Math.max(count, upTo.get(upTo.size() - 1)),
                    sum,
                    buckets.keySet().stream().map(bound -> bound * entry.factor()).toList(),
                    upTo)
                : new Histogram(count, sum, List.of(), List.of()));
    String own = counts.get(0).name();
    return own.substring(0, own.length() - "_count".length());
  }

  /** Counts by upper bound, summed over all series; empty if their bounds differ. */
  private static SortedMap<Double, Long> buckets(List<Series> series) {
    Map<Map<String, String>, Set<Double>> bounds = new HashMap<>();
    SortedMap<Double, Long> counts = new TreeMap<>();
    for (Series each : series) {
      Map<String, String> others = new HashMap<>(each.labels());
      Double bound = bound(Objects.requireNonNullElse(others.remove("le"), ""));
      if (bound != null) {
        bounds.computeIfAbsent(others, any -> new LinkedHashSet<>()).add(bound);
        counts.merge(bound, Math.round(each.value()), Long::sum);
      }
    }
    if (bounds.values().stream().anyMatch(some -> some.size() < counts.size())) {
      counts.clear();
    }
    return counts;
  }

  /** Null for {@code +Inf} and for text that is not a number. */
  private static @Nullable Double bound(String le) {
    try {
      double bound = Double.parseDouble(le.endsWith("Inf") ? "Infinity" : le);
      return Math.abs(bound) < LARGEST ? (Double) bound : null;
    } catch (NumberFormatException e) {
      return null;
    }
  }

  private void nodeCpu(Map<String, List<Series>> byName, Found found) {
    double all = 0;
    double idle = 0;
    for (Series each : byName.getOrDefault(NODE_CPU, List.of())) {
      String mode = each.labels().getOrDefault("mode", "");
      all += each.value();
      idle += mode.equals("idle") || mode.equals("iowait") ? each.value() : 0;
    }
    if (all == 0) {
      return;
    }
    found.sources().add(NODE);
    if (all > cpuBefore) {
      double use = 1 - (idle - idleBefore) / (all - cpuBefore);
      found.values().put(EngineMetric.NODE_CPU_USE, Math.max(0, Math.min(1, use)));
      found.names().put(EngineMetric.NODE_CPU_USE, NODE_CPU);
    }
    cpuBefore = all;
    idleBefore = idle;
  }

  /**
   * Reads Prometheus' text format 0.0.4 and OpenMetrics 1.0, sample by sample:
   *
   * <pre>
   *   # TYPE vllm:num_requests_running gauge       comments, types and units are skipped
   *   vllm:num_requests_running{engine="0"} 3.0    name, labels, value
   *   x_bucket{le="0.5"} 7 1700000000 # {id="a"} 0.4   a time and an exemplar are skipped
   *   # EOF
   * </pre>
   *
   * Names are validated on every line, labels and values only of names that are read. No maintained
   * library on Maven Central reads this format: Prometheus' own library only writes it.
   */
  private static final class PrometheusText {

    private static final String QUOTED = "\"((?:[^\"\\\\]|\\\\.)*+)\"";
    private static final Pattern NAME = Pattern.compile("\\s*+(?:#|$|([a-zA-Z_:][\\w:]*+))");
    private static final Pattern REST =
        Pattern.compile("\\s*+(?:\\{((?:[^\"}]|" + QUOTED + ")*+)\\})?+\\s*+(\\S*+).*+");
    private static final Pattern LABEL =
        Pattern.compile("\\s*+([a-zA-Z_]\\w*+)\\s*+=\\s*+" + QUOTED + "\\s*+(?:,\\s*+|$)");
    private static final Pattern ESCAPED = Pattern.compile("\\\\(.)");
    private static final Pattern DECIMAL = Pattern.compile("[+-]?[.eE0-9][-+.eE0-9]*");

    private PrometheusText() {}

    static void read(String page, Predicate<String> isRead, Consumer<Series> sink) {
      int number = 0;
      for (String line : (Iterable<String>) page.lines()::iterator) {
        number++;
        Matcher start = NAME.matcher(line);
        boolean isSample = start.lookingAt();
        try {
          require(isSample, "a name");
          String name = start.group(1);
          if (name != null && isRead.test(name)) {
            Matcher rest = REST.matcher(line).region(start.end(), line.length());
            require(rest.matches(), "labels and a value");
            sink.accept(new Series(name, labels(rest.group(1)), value(rest.group(3))));
          }
        } catch (IllegalArgumentException e) {
          throw new IllegalArgumentException(
              "not a metrics page: expected %s in line %s".formatted(e.getMessage(), number), e);
        }
      }
    }

    private static void require(boolean isMet, String expected) {
      if (!isMet) {
        throw new IllegalArgumentException(expected);
      }
    }

    private static Map<String, String> labels(@Nullable String text) {
      Map<String, String> labels = new LinkedHashMap<>();
      Matcher label = LABEL.matcher(text == null ? "" : text.strip());
      while (label.regionStart() < label.regionEnd()) {
        require(label.lookingAt(), "a label");
        labels.put(
            label.group(1),
            ESCAPED
                .matcher(label.group(2))
                .replaceAll(
                    escaped ->
                        escaped.group(1).equals("n")
                            ? "\n"
                            : Matcher.quoteReplacement(escaped.group(1))));
        label.region(label.end(), label.regionEnd());
      }
      return labels;
    }

    private static double value(String number) {
      return switch (number) {
        case "NaN" -> Double.NaN;
        case "+Inf", "Inf" -> Double.POSITIVE_INFINITY;
        case "-Inf" -> Double.NEGATIVE_INFINITY;
        default -> {
          try {
            // Double.parseDouble also accepts what is not a number here, such as "1f".
            yield Double.parseDouble(DECIMAL.matcher(number).matches() ? number : "");
          } catch (NumberFormatException e) {
            throw new IllegalArgumentException("a number", e);
          }
        }
      };
    }
  }
}
