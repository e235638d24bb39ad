package io.github.gatlingllm;

import static java.util.stream.Collectors.toCollection;
import static java.util.stream.Collectors.toMap;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The imports between packages: the table of the architecture, compared with the sources. */
class PackageArrowsTest {

  private static final int MAX_FILES = 42;

  private static final int MAX_LINES = 450;

  private static final int MAX_PUBLIC_TYPES = 82;

  /** The catalogues of {@code docs/design.md}: tables, however long. */
  private static final Set<String> CATALOGUES =
      words(
          "CheckCatalogue LlmProtocolBuilder Metric RecordField ServerSample Setting"
              + " SettingEffectsIT");

  private static final Path SOURCES = Path.of("src/main/java/io/github/gatlingllm");

  private static final Map<String, Set<String>> IMPORTS =
      """
      javaapi: action client figures.metric load record run settings workload
      action: client engine figures.level figures.metric load record run settings workload
      client: record
      engine: client load record
      figures.check: figures.level figures.metric record
      figures.compare: figures.check figures.level figures.metric record
      figures.level: figures.metric record
      figures.metric: record
      load: figures.metric record
      record:
      report: figures.check figures.compare figures.level figures.metric record storage
      run: client engine figures.level figures.metric load record report storage
      settings: client figures.metric load record run storage workload
      simulations: action client engine figures.metric javaapi load record run settings workload
      simulations.cli: engine load record report simulations storage
      storage: record
      workload: client load record
      """
          .lines()
          .map(row -> row.split(":", 2))
          .collect(toMap(row -> row[0], row -> words(row[1])));

  /** Files outside {@code action} that may use Gatling's core. */
  private static final Set<String> SEAMS =
      Set.of("javaapi/LlmRequestBuilder.java", "javaapi/LoadProfile.java", "run/RunDirectory.java");

  /** The top level: what a stranger reads first. */
  private static final Set<String> ROOMS =
      words(
          "javaapi simulations settings action client load workload run record figures report"
              + " storage engine");

  private static final Pattern OURS =
      Pattern.compile("io\\.github\\.gatlingllm\\.([a-z]+(?:\\.[a-z]+)*)\\b");
  private static final Pattern SCALA =
      Pattern.compile("(?<![\\w.\"])(scala|io\\.gatling\\.(core|commons))\\.\\w");
  private static final Pattern PUBLIC_TYPE =
      Pattern.compile("(?m)^public [\\w\\- ]*\\b(class|interface|record|enum) ");
  private static final Pattern COMMENT = Pattern.compile("(?s)/\\*.*?\\*/|//[^\n]*");

  private static Set<String> words(String text) {
    return text.isBlank() ? Set.of() : Set.of(text.strip().split(" "));
  }

  static Stream<String> packages() throws IOException {
    return sources(SOURCES).stream()
        .map(source -> SOURCES.relativize(source.getParent()).toString().replace('/', '.'))
        .distinct();
  }

  private static Path folder(String name) {
    return SOURCES.resolve(name.replace('.', '/'));
  }

  private static Set<Path> sourcesOf(String name) throws IOException {
    Set<Path> sources = sources(folder(name));
    sources.removeIf(source -> !source.getParent().equals(folder(name)));
    return sources;
  }

  @ParameterizedTest
  @MethodSource("packages")
  void packageImportsWhatTheTableHas(String name) throws IOException {
    Set<String> known = new TreeSet<>();
    for (Path source : sourcesOf(name)) {
      OURS.matcher(code(source)).results().map(match -> match.group(1)).forEach(known::add);
    }
    known.remove(name);

    assertThat(IMPORTS).as("a package needs its row").containsKey(name);
    assertThat(known).isEqualTo(IMPORTS.get(name));
  }

  @ParameterizedTest
  @MethodSource("packages")
  void packageIsSmall(String name) throws IOException {
    assertThat(sourcesOf(name)).hasSizeLessThanOrEqualTo(MAX_FILES);
  }

  @Test
  void filesAreShort() throws IOException {
    for (Path source : sources(Path.of("src"))) {
      String name = source.getFileName().toString().replace(".java", "");
      if (!CATALOGUES.contains(name)) {
        assertThat(Files.readAllLines(source)).as(name).hasSizeLessThanOrEqualTo(MAX_LINES);
      }
    }
  }

  @Test
  void fewTypesArePublicBeyondTheDsl() throws IOException {
    assertThat(sources(SOURCES))
        .filteredOn(source -> !source.startsWith(SOURCES.resolve("javaapi")))
        .filteredOn(source -> PUBLIC_TYPE.matcher(code(source)).find())
        .hasSizeLessThanOrEqualTo(MAX_PUBLIC_TYPES);
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
  void topLevelIsTheRooms() throws IOException {
    assertThat(packages().map(PackageArrowsTest::room)).allMatch(ROOMS::contains);
  }

  @Test
  void packagesHaveNoCycle() {
    assertThat(onCycle(IMPORTS)).as("packages on a circle of arrows").isEmpty();
  }

  @Test
  void roomsHaveNoCycle() {
    Map<String, Set<String>> rooms = new TreeMap<>();
    IMPORTS.forEach(
        (name, imports) -> {
          Set<String> others = rooms.computeIfAbsent(room(name), any -> new TreeSet<>());
          imports.stream().map(PackageArrowsTest::room).forEach(others::add);
          others.remove(room(name));
        });

    assertThat(onCycle(rooms)).as("rooms on a circle of arrows").isEmpty();
  }

  private static String room(String name) {
    return name.split("\\.", 2)[0];
  }

  private static Set<String> onCycle(Map<String, Set<String>> arrows) {
    Set<String> remaining = new TreeSet<>(arrows.keySet());
    boolean found = true;
    while (found) {
      found = remaining.removeIf(name -> arrows.get(name).stream().noneMatch(remaining::contains));
    }
    return remaining;
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
