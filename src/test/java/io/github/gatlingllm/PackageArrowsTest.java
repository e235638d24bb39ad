package io.github.gatlingllm;

import static java.util.stream.Collectors.toCollection;
import static java.util.stream.Collectors.toMap;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The imports between packages: the table of the architecture, compared with the sources. */
class PackageArrowsTest {

  private static final int MAX_FILES = 42;

  /** Types that another file can name: to be lowered. */
  private static final int MAX_TYPES = 604;

  private static final Path SOURCES = Path.of("src/main/java/io/github/gatlingllm");

  private static final Map<String, Set<String>> IMPORTS =
      """
      javaapi: action client figures.metric load record run settings workload
      action: client engine figures.level figures.metric load record run settings workload
      client: figures.metric record
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
      simulations.cli: engine load record report simulations storage workload
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
  private static final Pattern COMMENT_OR_TEXT =
      Pattern.compile(
          "(?s)/\\*.*?\\*/|//[^\\n]*|\"{3}.*?(?<!\\\\)\"{3}"
              + "|\"(?:\\\\.|[^\"\\\\\\n])*\"|'(?:\\\\.|[^'\\\\\\n])+'");
  private static final Pattern SCOPE =
      Pattern.compile("[{};]|(?<![\\w.@])(?:class|interface|record|enum)\\s+([A-Z]\\w*)");
  private static final Pattern COMMENT = Pattern.compile("(?s)/\\*.*?\\*/|//[^\n]*");

  private static Set<String> words(String text) {
    return text.isBlank() ? Set.of() : Set.copyOf(List.of(text.strip().split("\\s+")));
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
  void typesAreFewAndShallowWithOneMeaningEach() throws IOException {
    List<DeclaredType> types = new ArrayList<>();
    for (Path source : sources(SOURCES)) {
      types.addAll(typesThatOthersCanName(Files.readString(source)));
    }
    Set<String> names = new TreeSet<>();
    Set<String> homonyms = new TreeSet<>();
    types.stream().map(DeclaredType::name).filter(name -> !names.add(name)).forEach(homonyms::add);

    assertThat(types).hasSizeLessThanOrEqualTo(MAX_TYPES);
    assertThat(types).filteredOn(type -> type.depth() > 1).isEmpty();
    assertThat(homonyms).isEmpty();
  }

  @Test
  void nestedTypesAreFoundUnlessPrivateOrLocal() {
    String source =
        """
        public final class A { // class InComment {
          record B(int x) { enum C { D } }
          private interface E {}
          void f() { record G() {} String s = "class H {"; char c = '{'; }
        }
        """;

    assertThat(typesThatOthersCanName(source))
        .containsExactly(
            new DeclaredType("A", 0), new DeclaredType("B", 1), new DeclaredType("C", 2));
  }

  private record DeclaredType(String name, int depth) {}

  /** Top-level types, and nested ones that are not private. */
  private static List<DeclaredType> typesThatOthersCanName(String source) {
    String code = COMMENT_OR_TEXT.matcher(source).replaceAll("");
    List<DeclaredType> found = new ArrayList<>();
    Deque<Integer> bodies = new ArrayDeque<>();
    int braces = 0;
    int previous = 0;
    for (Matcher token = SCOPE.matcher(code); token.find(); ) {
      String name = token.group(1);
      if (name == null) {
        braces += token.group().equals("{") ? 1 : token.group().equals("}") ? -1 : 0;
        while (!bodies.isEmpty() && token.group().equals("}") && bodies.peek() > braces) {
          bodies.pop();
        }
        previous = token.end();
        continue;
      }
      boolean isLocal = !bodies.isEmpty() && braces != bodies.peek();
      if (!isLocal && !words(code.substring(previous, token.start())).contains("private")) {
        found.add(new DeclaredType(name, bodies.size()));
      }
      bodies.push(braces + 1);
    }
    return found;
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
