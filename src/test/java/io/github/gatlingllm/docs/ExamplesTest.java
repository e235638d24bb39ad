package io.github.gatlingllm.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.gatlingllm.testing.JavaCommand;
import io.github.gatlingllm.testing.MavenProject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The projects in {@code examples} use our versions, and Kotlin and Scala compile. */
class ExamplesTest {

  private static final Path EXAMPLES = Path.of("examples");

  /** Where the profile {@code languages} of the build puts the compilers. */
  private static final Path COMPILERS = Path.of("target", "compilers");

  @TempDir Path classes;

  @ParameterizedTest
  @ValueSource(strings = {"java", "kotlin", "scala"})
  void mavenProjectsUseOurVersions(String language) throws IOException {
    String pom = Files.readString(EXAMPLES.resolve(language).resolve("pom.xml"));

    for (String property : List.of("gatling.version", "gatling-maven-plugin.version")) {
      assertThat(pom).contains(element(property, MavenProject.property(property)));
    }
    assertThat(pom).contains(element("gatling-llm.version", MavenProject.property("version")));
    if (pom.contains("<" + language + ".version>")) {
      assertThat(pom)
          .as("what it is compiled by below")
          .contains(element(language + ".version", MavenProject.property(language + ".version")));
    }
  }

  @Test
  void gradleProjectUsesOurVersionsAndMatchesThePage() throws IOException {
    String build = Files.readString(EXAMPLES.resolve("gradle/build.gradle.kts"));

    assertThat(build)
        .contains("gatlingVersion = \"" + MavenProject.property("gatling.version") + "\"")
        .contains("io.github.gatlingllm:gatling-llm:" + MavenProject.property("version"));
    assertThat(Files.readString(Path.of("docs/getting-started.md")))
        .contains("```kotlin\n" + build + "```");
    assertThat(EXAMPLES.resolve("gradle/src/gatling/java/FirstSimulation.java"))
        .hasSameTextualContentAs(EXAMPLES.resolve("java/src/test/java/FirstSimulation.java"));
  }

  @ParameterizedTest
  @CsvSource({
    "kotlin/FirstSimulation.kt, org.jetbrains.kotlin.cli.jvm.K2JVMCompiler, -jvm-target 17"
        + " -no-stdlib",
    "scala/FirstSimulation.scala, scala.tools.nsc.Main, -nowarn"
  })
  void programCompiles(String program, String compiler, String options) throws Exception {
    String language = program.substring(0, program.indexOf('/'));
    Path jars = COMPILERS.resolve(language);
    assumeTrue(Files.isDirectory(jars), "no compiler; mvn verify -Planguages brings it");
    List<String> command = new ArrayList<>(List.of(JavaCommand.JAVA, "-cp", jars + "/*", compiler));
    command.addAll(List.of(options.split(" ", -1)));
    try (Stream<Path> all = Files.list(jars)) {
      String library = all.map(Path::toString).collect(Collectors.joining(":"));
      command.addAll(List.of("-cp", JavaCommand.classPath() + ":" + library));
    }
    Path source = EXAMPLES.resolve(language).resolve("src/test").resolve(program);
    command.addAll(List.of("-d", classes.toString(), source.toString()));

    var unused = JavaCommand.output(new ProcessBuilder(command));
    assertThat(classes.resolve("FirstSimulation.class")).exists();
  }

  private static String element(String name, String value) {
    return "<" + name + ">" + value + "</" + name + ">";
  }
}
