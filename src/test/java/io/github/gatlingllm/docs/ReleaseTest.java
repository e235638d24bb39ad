package io.github.gatlingllm.docs;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import io.github.gatlingllm.testing.JavaCommand;
import io.github.gatlingllm.testing.MavenProject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A release has the version of the POM, which every other place repeats. */
class ReleaseTest {

  private static final Path WORKFLOW = Path.of(".github/workflows/release.yml");

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "CHANGELOG.md | ## [VERSION]",
        "README.md | <version>VERSION</version>",
        "docs/getting-started.md | io.github.gatlingllm:gatling-llm:VERSION",
        "deploy/kubernetes/base/kustomization.yaml | newTag: VERSION"
      })
  void placesThatRepeatTheVersion(Path file, String text) throws IOException {
    assertThat(file).content().contains(text.replace("VERSION", MavenProject.property("version")));
  }

  @Test
  void jbangStartsTheJarOfTheNewestRelease() throws IOException {
    JsonNode catalog = new ObjectMapper().readTree(Path.of("jbang-catalog.json").toFile());
    JsonNode alias = catalog.at("/aliases/gatling-llm");

    assertThat(alias.path("script-ref").asText())
        .isEqualTo(MavenProject.property("url") + "/releases/latest/download/gatling-llm.jar");
    assertThat(alias.path("java").asText())
        .isEqualTo(MavenProject.property("maven.compiler.release") + "+");
    assertThat(Files.readString(WORKFLOW)).contains("cp target/gatling-llm.jar release\n");
  }

  @Test
  void workflowBuildsEveryPlatformAndItsShellIsValid() throws Exception {
    JsonNode jobs = new ObjectMapper(new YAMLFactory()).readTree(WORKFLOW.toFile()).path("jobs");
    List<String> platforms =
        Pattern.compile("(?m)^    \"([a-z]+-[a-z0-9]+)\": \\(")
            .matcher(Files.readString(Path.of("packaging/platforms.py")))
            .results()
            .map(row -> row.group(1))
            .toList();

    assertThat(jobs.at("/build/strategy/matrix/include").findValuesAsText("platform"))
        .isNotEmpty()
        .isEqualTo(platforms);
    for (String script : jobs.findValuesAsText("run")) {
      var unused = JavaCommand.output(new ProcessBuilder("bash", "-n", "-c", script));
    }
    assertThat(jobs.path("github").path("needs"))
        .extracting(JsonNode::asText)
        .as("the release names what is published")
        .containsExactly("central", "image", "pypi");
    assertThat(Files.readString(WORKFLOW))
        .as("the image's tag is the version of the tag, as the manifests name it")
        .contains("version=${GITHUB_REF_NAME#v}", ":${{ steps.tag.outputs.version }}\n");
  }
}
