package io.github.gatlingllm.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.gatlingllm.testing.JavaCommand;
import io.github.gatlingllm.testing.MavenProject;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
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
  void gradleProjectUsesOurVersionsAndMatchesTheReadme() throws IOException {
    String build = Files.readString(EXAMPLES.resolve("gradle/build.gradle.kts"));

    assertThat(build)
        .contains("gatlingVersion = \"" + MavenProject.property("gatling.version") + "\"")
        .contains("io.github.gatlingllm:gatling-llm:" + MavenProject.property("version"));
    assertThat(Files.readString(Path.of("README.md"))).contains("```kotlin\n" + build + "```");
    assertThat(EXAMPLES.resolve("gradle/src/gatling/java/FirstSimulation.java"))
        .hasSameTextualContentAs(EXAMPLES.resolve("java/src/test/java/FirstSimulation.java"));
  }

  @Test
  void kotlinCompiles() throws Exception {
    List<Path> jars = compiler("kotlin");
    try (URLClassLoader loader = loader(jars)) {
      Class<?> type = loader.loadClass("org.jetbrains.kotlin.cli.jvm.K2JVMCompiler");
      ByteArrayOutputStream said = new ByteArrayOutputStream();
      Object code =
          type.getMethod("exec", PrintStream.class, String[].class)
              .invoke(
                  type.getConstructor().newInstance(),
                  new PrintStream(said, true, StandardCharsets.UTF_8),
                  new String[] {
                    "-no-stdlib",
                    "-no-reflect",
                    "-jvm-target",
                    "17",
                    "-cp",
                    JavaCommand.classPath() + ":" + path(jars),
                    "-d",
                    classes.toString(),
                    EXAMPLES.resolve("kotlin/src/test/kotlin/FirstSimulation.kt").toString()
                  });
      assertThat(code).as(said.toString(StandardCharsets.UTF_8)).hasToString("OK");
    }
    assertThat(classes.resolve("FirstSimulation.class")).exists();
  }

  @Test
  void scalaCompiles() throws Exception {
    List<Path> jars = compiler("scala");
    try (URLClassLoader loader = loader(jars)) {
      Object done =
          loader
              .loadClass("scala.tools.nsc.Main")
              .getMethod("process", String[].class)
              .invoke(
                  null,
                  (Object)
                      new String[] {
                        "-cp",
                        JavaCommand.classPath(),
                        "-d",
                        classes.toString(),
                        EXAMPLES.resolve("scala/src/test/scala/FirstSimulation.scala").toString()
                      });
      assertThat(done).as("without errors; they are above").isEqualTo(true);
    }
    assertThat(classes.resolve("FirstSimulation.class")).exists();
  }

  private static List<Path> compiler(String language) throws IOException {
    Path folder = COMPILERS.resolve(language);
    assumeTrue(Files.isDirectory(folder), "no compiler; mvn verify -Planguages brings it");
    try (Stream<Path> all = Files.list(folder)) {
      return all.sorted().toList();
    }
  }

  /** Without this JVM's class path, which has another Scala library. */
  private static URLClassLoader loader(List<Path> jars) throws MalformedURLException {
    List<URL> urls = new ArrayList<>();
    for (Path jar : jars) {
      urls.add(jar.toUri().toURL());
    }
    return new URLClassLoader(urls.toArray(URL[]::new), ClassLoader.getPlatformClassLoader());
  }

  private static String path(List<Path> jars) {
    return String.join(":", jars.stream().map(Path::toString).toList());
  }

  private static String element(String name, String value) {
    return "<" + name + ">" + value + "</" + name + ">";
  }
}
