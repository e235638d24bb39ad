package io.github.gatlingllm;

import static java.util.stream.Collectors.toCollection;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The allowed imports between packages: the table of the architecture, compared with the sources.
 */
class PackageArrowsTest {

  private static final int MOST_FILES = 40;

  private static final Path SOURCES = Path.of("src/main/java/io/github/gatlingllm");

  private static final Map<String, Set<String>> MAY_KNOW =
      Map.ofEntries(
          Map.entry(
              "javaapi",
              Set.of(
                  "metric",
                  "action",
                  "injector",
                  "load",
                  "random",
                  "workload",
                  "record",
                  "telemetry",
                  "wire")),
          Map.entry(
              "action",
              Set.of(
                  "client",
                  "clock",
                  "engine",
                  "injector",
                  "load",
                  "metric",
                  "processes",
                  "run",
                  "record",
                  "setting",
                  "stats",
                  "telemetry",
                  "wire",
                  "workload")),
          Map.entry("clock", Set.of("record", "setting")),
          Map.entry("client", Set.of("wire", "record")),
          Map.entry("wire", Set.of()),
          Map.entry("load", Set.of("metric", "record")),
          Map.entry("workload", Set.of("injector", "random", "setting", "wire")),
          Map.entry("injector", Set.of("record", "setting")),
          Map.entry("record", Set.of()),
          Map.entry("random", Set.of()),
          Map.entry("setting", Set.of()),
          Map.entry(
              "run",
              Set.of(
                  "live",
                  "load",
                  "metric",
                  "processes",
                  "record",
                  "report",
                  "selftest",
                  "stats",
                  "store",
                  "telemetry")),
          Map.entry("processes", Set.of("live", "metric", "record", "report", "setting", "store")),
          Map.entry("live", Set.of("record", "report", "setting", "stats")),
          Map.entry("selftest", Set.of("engine", "record", "setting")),
          Map.entry("telemetry", Set.of("record", "wire")),
          Map.entry("metric", Set.of("record")),
          Map.entry("merge", Set.of("metric", "record", "stats")),
          Map.entry("check", Set.of("enginestats", "metric", "record")),
          Map.entry("enginestats", Set.of("metric", "record")),
          Map.entry("stats", Set.of("check", "enginestats", "metric", "random", "record")),
          Map.entry("compare", Set.of("metric", "record", "stats")),
          Map.entry(
              "report",
              Set.of(
                  "check",
                  "compare",
                  "enginestats",
                  "merge",
                  "metric",
                  "stats",
                  "store",
                  "record")),
          Map.entry("store", Set.of("record", "setting")),
          Map.entry("engine", Set.of("random", "wire")),
          Map.entry("cli", Set.of("engine", "record", "report", "simulations")),
          Map.entry(
              "simulations",
              Set.of(
                  "javaapi",
                  "action",
                  "clock",
                  "load",
                  "workload",
                  "engine",
                  "injector",
                  "live",
                  "metric",
                  "processes",
                  "record",
                  "selftest",
                  "setting",
                  "stats",
                  "store",
                  "telemetry",
                  "wire")));

  /**
   * Files outside {@code action} that may use Gatling's core: parts of the DSL, and the class that
   * finds a run's directory.
   */
  private static final Set<String> SEAMS =
      Set.of(
          "javaapi/LlmProtocolBuilder.java",
          "javaapi/LlmRequestBuilder.java",
          "javaapi/LoadProfile.java",
          "run/RunDirectory.java");

  private static final Pattern OURS = Pattern.compile("io\\.github\\.gatlingllm\\.([a-z]+)\\b");
  private static final Pattern SCALA =
      Pattern.compile("(?<![\\w.\"])(scala|io\\.gatling\\.(core|commons))\\.\\w");
  private static final Pattern COMMENT = Pattern.compile("(?s)/\\*.*?\\*/|//[^\n]*");

  static Stream<String> packages() throws IOException {
    try (Stream<Path> folders = Files.list(SOURCES)) {
      return folders.map(folder -> folder.getFileName().toString()).sorted().toList().stream();
    }
  }

  @ParameterizedTest
  @MethodSource("packages")
  void packageImportsOnlyWhatTheTableAllows(String name) throws IOException {
    Set<String> known = new TreeSet<>();
    for (Path source : sources(SOURCES.resolve(name))) {
      OURS.matcher(code(source)).results().map(match -> match.group(1)).forEach(known::add);
    }
    known.remove(name);

    assertThat(MAY_KNOW).as("a package needs its row").containsKey(name);
    assertThat(known).isSubsetOf(MAY_KNOW.get(name));
  }

  @ParameterizedTest
  @MethodSource("packages")
  void packageHasAtMost40Files(String name) throws IOException {
    assertThat(sources(SOURCES.resolve(name))).hasSizeLessThanOrEqualTo(MOST_FILES);
  }

  @Test
  void scalaIsImportedOnlyInItsPackages() throws IOException {
    Set<String> knowScala =
        sources(SOURCES).stream()
            .filter(source -> SCALA.matcher(code(source)).find())
            .map(source -> SOURCES.relativize(source).toString())
            .filter(source -> !source.startsWith("action/"))
            .collect(toCollection(TreeSet::new));

    assertThat(knowScala).isEqualTo(new TreeSet<>(SEAMS));
  }

  @Test
  void tableHasNoCycle() {
    Set<String> left = new TreeSet<>(MAY_KNOW.keySet());
    boolean found = true;
    while (found) {
      found = left.removeIf(name -> MAY_KNOW.get(name).stream().noneMatch(left::contains));
    }

    assertThat(left).as("packages on a circle of arrows").isEmpty();
  }

  @Test
  void importsAndQualifiedNamesAreFound() {
    assertThat(OURS.matcher("import static io.github.gatlingllm.report.Chart.*;").find()).isTrue();
    assertThat(OURS.matcher("new io.github.gatlingllm.report.Chart()").find()).isTrue();
    assertThat(SCALA.matcher("import scala.Option;").find()).isTrue();
    assertThat(SCALA.matcher("(io.gatling.core.Predef) x").find()).isTrue();
    assertThat(SCALA.matcher("io.gatling.javaapi.core.Session").find()).isFalse();
    assertThat(SCALA.matcher("name.startsWith(\"io.gatling.core.stats\")").find()).isFalse();
  }

  private static Set<Path> sources(Path folder) throws IOException {
    try (Stream<Path> all = Files.walk(folder)) {
      return all.filter(path -> path.toString().endsWith(".java"))
          .collect(toCollection(TreeSet::new));
    }
  }

  private static String code(Path source) {
    try {
      return COMMENT.matcher(Files.readString(source)).replaceAll("");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
