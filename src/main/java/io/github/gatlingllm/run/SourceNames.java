package io.github.gatlingllm.run;

import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.ServerSample;
import io.github.gatlingllm.record.ServerSample.EngineMetric;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The servers' own names of the metrics of {@link EngineMetric}: the table {@code sources.txt}. */
final class SourceNames {

  static final String NODE_CPU = "node_cpu_seconds_total";

  static final String NODE = "node";

  static final List<NamedMetric> ALL = table();

  private static final Set<String> WANTED =
      Stream.concat(Stream.of(NODE_CPU), ALL.stream().flatMap(NamedMetric::names))
          .collect(Collectors.toUnmodifiableSet());

  private SourceNames() {}

  record Term(String name, String label, String value) {

    static Term parse(String text) {
      String[] parts = text.split("[{=}]", -1);
      return parts.length == 1 ? new Term(text, "", "") : new Term(parts[0], parts[1], parts[2]);
    }
  }

  record TermChoice(List<Term> terms, boolean isCount) {

    static TermChoice parse(String text) {
      boolean isCount = text.startsWith("# ");
      String names = isCount ? text.substring(2) : text;
      return new TermChoice(
          Arrays.stream(names.split(" \\+ ", -1)).map(Term::parse).toList(), isCount);
    }
  }

  record NamedMetric(String source, EngineMetric metric, List<TermChoice> choices, double factor) {

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
    String text = RunFiles.resource(SourceNames.class, "sources.txt");
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
  static String plain(String name) {
    return name.replace(':', '_');
  }

  static boolean isWanted(String name) {
    return WANTED.contains(plain(name));
  }
}
