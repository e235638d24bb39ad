package io.github.gatlingllm.docs;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.simulations.CheckedSettings;
import io.github.gatlingllm.testing.JavaCommand;
import io.github.gatlingllm.testing.MavenProject;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** README and pages in {@code docs} are correct: programs compile, settings exist, links work. */
class PagesTest {
  private static final Path README = Path.of("README.md");

  static final String IMPORTS =
"""
      import static io.gatling.javaapi.core.CoreDsl.*;
      import static io.gatling.javaapi.http.HttpDsl.*;
      import static io.github.gatlingllm.javaapi.LlmDsl.*;
      import static java.time.Duration.*;

      import io.gatling.javaapi.core.*;
      import io.github.gatlingllm.engine.EmbeddedEngine;
      import io.github.gatlingllm.javaapi.*;
      import io.github.gatlingllm.record.RequestStatus;
      import java.util.List;

""";

  @TempDir Path classes;

  @Test
  void completeProgramsCompile() throws IOException {
    List<String> programs = snippets("java").filter(java -> java.contains("class ")).toList();

    assertThat(programs).isNotEmpty();
    for (String program : programs) {
      Matcher name = Pattern.compile("class (\\w+)").matcher(program);
      assertThat(name.find()).isTrue();
      assertThat(errors(classes, name.group(1), program)).isEmpty();
    }
  }

  @Test
  void dslSnippetsCompile() throws IOException {
    List<String> pieces = snippets("java").filter(java -> !java.contains("class ")).toList();
    assertThat(pieces).hasSizeGreaterThan(8);

    assertThat(errors(classes, "Pieces", inOneClass(pieces))).isEmpty();
  }

  @Test
  void mistakesAreDetected() throws IOException {
    List<String> mistaken = List.of("LlmProtocolBuilder engine = llm.basUrl(\"http://a/v1\");");

    assertThat(errors(classes, "Pieces", inOneClass(mistaken)))
        .hasSize(1)
        .first()
        .asString()
        .contains("basUrl");
  }

  @Test
  void coordinatesMatchThePom() throws IOException {
    String dependency = snippets("xml").findFirst().orElseThrow();

    for (String element : List.of("groupId", "artifactId", "version")) {
      assertThat(dependency).contains("<" + element + ">" + MavenProject.property(element) + "</");
    }
  }

  @Test
  void execPluginSnippetMatchesThePom() throws IOException {
    String pom = Files.readString(Path.of("pom.xml")).replaceAll("\\s+", "");
    String plugin =
        snippets("xml")
            .filter(xml -> xml.contains("<plugin>"))
            .findFirst()
            .orElseThrow()
            .replaceAll("\\s+", "");
    int execution = plugin.indexOf("<execution>");

    assertThat(plugin).contains("<id>report</id>");
    assertThat(pom)
        .contains(plugin.substring(0, execution))
        .contains(plugin.substring(execution, plugin.indexOf("</executions>")));
  }

  @Test
  void settingsOnTheCommandLineExist() throws IOException {
    List<String> commands =
        snippets("bash").flatMap(String::lines).filter(line -> line.contains("-Dllm.")).toList();
    assertThat(commands).isNotEmpty();

    for (String command : commands) {
      Map<String, String> properties = new HashMap<>();
      Matcher setting = Pattern.compile("-Dllm\\.(\\S+?)=('[^']*'|\\S+)").matcher(command);
      while (setting.find()) {
        properties.put(setting.group(1), setting.group(2).replace("'", ""));
      }
      assertThat(CheckedSettings.warnings(properties, Map.of(), classes)).as(command).isEmpty();
    }
  }

  @Test
  void troubleshootingCoversEveryFailureStatus() throws IOException {
    String page = Files.readString(Path.of("docs/troubleshooting.md"));

    for (RequestStatus status : RequestStatus.values()) {
      assertThat(page.contains("\n`" + status.key() + "` | "))
          .as(status.key())
          .isEqualTo(status != RequestStatus.COMPLETE);
    }
  }

  @Test
  void linkedFilesAndHeadingsExist() throws IOException {
    List<Path> targets = new ArrayList<>();
    int headings = 0;
    for (Path page : pages()) {
      Matcher link =
          Pattern.compile("]\\((?!http)([^)#]*)#?([^)]*)\\)").matcher(Files.readString(page));
      while (link.find()) {
        Path target = page.resolveSibling(link.group(1)).normalize();
        targets.add(link.group(1).isEmpty() ? page : target);
        if (!link.group(2).isEmpty()) {
          assertThat(headings(targets.get(targets.size() - 1)))
              .as("%s in %s", link.group(), page)
              .contains(link.group(2));
          headings++;
        }
      }
    }

    assertThat(headings).isGreaterThan(5);
    assertThat(targets)
        .contains(Path.of("docs/report.png"), Path.of("docs/metrics.md"))
        .allSatisfy(target -> assertThat(target).exists());
  }

  /** Anchors as GitHub makes them. */
  private static List<String> headings(Path page) throws IOException {
    return Files.readString(page)
        .lines()
        .filter(line -> line.startsWith("#"))
        .map(line -> line.replaceFirst("#+ ", "").toLowerCase(Locale.ROOT))
        .map(heading -> heading.replaceAll("[^\\p{L}\\p{N} _-]", "").replace(' ', '-'))
        .toList();
  }

  /** Code blocks of the README, then of the other pages. */
  private static Stream<String> snippets(String language) throws IOException {
    List<String> snippets = new ArrayList<>();
    for (Path page : pages()) {
      Pattern.compile("```" + language + "\n(.*?)```", Pattern.DOTALL)
          .matcher(Files.readString(page))
          .results()
          .map(found -> found.group(1))
          .forEach(snippets::add);
    }
    return snippets.stream();
  }

  private static List<Path> pages() throws IOException {
    try (Stream<Path> files = Files.list(Path.of("docs"))) {
      return Stream.concat(
              Stream.of(README), files.filter(file -> file.toString().endsWith(".md")).sorted())
          .toList();
    }
  }

  private static String inOneClass(List<String> members) {
    return IMPORTS + "class Pieces {\n" + String.join("\n", members) + "}\n";
  }

  static List<String> errors(Path classes, String name, String program) {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();
    JavaFileObject source =
        new SimpleJavaFileObject(
            URI.create("string:///" + name + ".java"), JavaFileObject.Kind.SOURCE) {
          @Override
          public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return program;
          }
        };
    compiler
        .getTask(
            null,
            compiler.getStandardFileManager(found, null, UTF_8),
            found,
            List.of("-d", classes.toString(), "-cp", JavaCommand.classPath(), "-proc:none"),
            null,
            List.of(source))
        .call();
    return found.getDiagnostics().stream()
        .filter(diagnostic -> diagnostic.getKind() == Diagnostic.Kind.ERROR)
        .map(diagnostic -> diagnostic.getMessage(null))
        .toList();
  }

  private static final Path PAGE = Path.of("docs/design.md");
  private static final Path SOURCES = Path.of("src/main/java/io/github/gatlingllm");
  private static final Pattern CLASS = Pattern.compile("`((?:[a-z]+\\.)+[A-Z]\\w+)`");

  @Test
  void namedClassesExist() throws IOException {
    List<Path> named =
        CLASS
            .matcher(Files.readString(PAGE))
            .results()
            .map(match -> SOURCES.resolve(match.group(1).replace('.', '/') + ".java"))
            .toList();

    assertThat(named).hasSizeGreaterThan(40).allSatisfy(source -> assertThat(source).exists());
  }

  @Test
  void pageHasAtMost200Lines() throws IOException {
    assertThat(Files.readAllLines(PAGE)).hasSizeLessThanOrEqualTo(200);
  }

  @Test
  void linesHaveAtMost120Characters() throws IOException {
    for (Path page : pages()) {
      assertThat(Files.readAllLines(page))
          .as("%s", page)
          .allMatch(line -> line.codePointCount(0, line.length()) <= ReferencePage.WIDTH);
    }
  }

  @Test
  void pageHasAllKeysOfARun() throws IOException {
    FilesPage.mustName(RunInfo.class);
  }

  @Test
  void missingKeyIsDetected() {
    assertThatThrownBy(
            () -> FilesPage.mustName(new ObjectMapper().readTree("{\"run\":[{\"runn\":1}]}")))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("runn");
  }
}
