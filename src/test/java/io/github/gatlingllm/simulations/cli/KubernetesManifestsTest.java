package io.github.gatlingllm.simulations.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import com.networknt.schema.JsonSchema;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SpecVersion.VersionFlag;
import com.networknt.schema.ValidationMessage;
import io.github.gatlingllm.record.SelfTest.JvmOptions;
import io.github.gatlingllm.report.CommandLine;
import io.github.gatlingllm.simulations.CheckedSettings;
import io.github.gatlingllm.testing.JavaCommand;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class KubernetesManifestsTest {

  private static final Path MANIFESTS = Path.of("deploy/kubernetes");
  private static final Path KEPT = Path.of("src/test/resources/kubernetes");
  private static final YAMLMapper YAML = new YAMLMapper();
  private static final JsonSchema SCHEMA = schema();

  @TempDir Path dir;

  private static JsonSchema schema() {
    try {
      return JsonSchemaFactory.getInstance(VersionFlag.V202012)
          .getSchema(Files.readString(KEPT.resolve("schema.json")));
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"volume", "object-storage", "example"})
  void overlaysAreValid(String overlay) throws IOException {
    assertThat(kept(overlay)).hasSizeGreaterThanOrEqualTo(3);
    assertThat(kept(overlay))
        .allSatisfy(object -> assertThat(mistakes(object)).as(name(object)).isEmpty());
  }

  @Test
  void filesAppliedAloneAreValid() throws IOException {
    for (String file : List.of("claim.yaml", "reader.yaml")) {
      for (JsonNode object :
          objects(Files.readString(MANIFESTS.resolve("overlays/volume/" + file)))) {
        assertThat(mistakes(object)).as(file).isEmpty();
      }
    }
  }

  /** The schemas are not so wide that everything fits. */
  @ParameterizedTest
  @CsvSource({
    "backoffLimitPerIndex, backofLimitPerIndex",
    "completions: 3, completions: 3x",
    "allowPrivilegeEscalation, allowPriviledgeEscalation",
    "apiVersion: batch/v1, apiVersion: batch/v1beta1"
  })
  void mistakesAreDetected(String right, String wrong) throws IOException {
    String yaml = Files.readString(KEPT.resolve("volume.yaml"));
    assertThat(objects(yaml.replace(right, wrong)))
        .anySatisfy(object -> assertThat(mistakes(object)).isNotEmpty());
  }

  /** What is validated here is what kustomize makes of the folders. */
  @ParameterizedTest
  @ValueSource(strings = {"volume", "object-storage", "example"})
  void keptOutputIsThatOfKustomize(String overlay) throws Exception {
    String output = kustomized(MANIFESTS.resolve("overlays/" + overlay));
    Path file = KEPT.resolve(overlay + ".yaml");
    if (Boolean.getBoolean("gatlingllm.docs.write")) {
      Files.writeString(file, output);
    }
    assertThat(byName(objects(output)))
        .as(
            "%s is not what the overlay makes; write it again with -Dgatlingllm.docs.write=true",
            file)
        .isEqualTo(byName(kept(overlay)));
  }

  private static String kustomized(Path folder) throws Exception {
    try {
      return JavaCommand.output(new ProcessBuilder("kubectl", "kustomize", folder.toString()));
    } catch (IOException e) {
      return abort("kubectl is not installed: overlays were not rendered");
    }
  }

  /** As drivers that ignore fsGroup leave it to root. */
  @Test
  void ownerOfTheVolumeIsSetBeforeEveryContainerThatWritesIt() throws Exception {
    Path manifests = dir.toRealPath().relativize(MANIFESTS.toRealPath());
    Files.writeString(
        dir.resolve("kustomization.yaml"),
        "resources: [%1$s/overlays/volume]\ncomponents: [%1$s/components/volume-owner]\n"
            .formatted(manifests));
    List<JsonNode> jobs =
        objects(kustomized(dir)).stream()
            .filter(object -> object.get("kind").asText().equals("Job"))
            .toList();

    assertThat(jobs).hasSize(2);
    for (JsonNode job : jobs) {
      assertThat(mistakes(job)).isEmpty();
      JsonNode user = pod(job).get("securityContext");
      assertThat(texts(pod(job).at("/initContainers/0/command")))
          .containsExactly(
              "chown", user.get("runAsUser") + ":" + user.get("runAsGroup"), "/results");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"volume", "object-storage", "example"})
  void aPodThatIsLostIsNeverStartedAgainAndTheOthersGoOn(String overlay) throws IOException {
    JsonNode job = injectors(overlay).get("spec");
    String count = settings(overlay).get("INJECTORS");

    assertThat(job.get("completionMode").asText()).isEqualTo("Indexed");
    assertThat(List.of(job.get("completions").asText(), job.get("parallelism").asText()))
        .containsOnly(count);
    assertThat(job.get("backoffLimitPerIndex").asInt(-1)).isZero();
    assertThat(job.has("backoffLimit")).isFalse();
    assertThat(job.has("maxFailedIndexes")).isFalse();
    assertThat(job.at("/podFailurePolicy/rules").findValuesAsText("action"))
        .containsOnly("FailIndex");
    assertThat(pod(injectors(overlay)).get("restartPolicy").asText()).isEqualTo("Never");
    assertThat(merge(overlay).at("/spec/backoffLimit").asInt(-1)).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"volume", "object-storage", "example"})
  void containersHaveNoRightsAndWriteToVolumesOnly(String overlay) throws IOException {
    String dockerfile = Files.readString(Path.of("Dockerfile"));
    for (JsonNode job : List.of(injectors(overlay), merge(overlay))) {
      JsonNode pod = pod(job);
      JsonNode container = pod.get("containers").get(0);
      JsonNode user = pod.get("securityContext");

      assertThat(user.get("runAsNonRoot").asBoolean()).isTrue();
      assertThat(dockerfile)
          .contains("USER " + user.get("runAsUser").asInt() + ":" + user.get("runAsGroup").asInt());
      assertThat(user.at("/seccompProfile/type").asText()).isEqualTo("RuntimeDefault");
      assertThat(pod.get("automountServiceAccountToken").asBoolean(true)).isFalse();
      assertThat(container.at("/securityContext/readOnlyRootFilesystem").asBoolean()).isTrue();
      assertThat(container.at("/securityContext/allowPrivilegeEscalation").asBoolean(true))
          .isFalse();
      assertThat(container.at("/securityContext/capabilities/drop").toString())
          .isEqualTo("[\"ALL\"]");
      assertThat(container.get("volumeMounts").findValuesAsText("mountPath"))
          .contains("/tmp", "/results");
      assertThat(container.get("volumeMounts").findValuesAsText("name"))
          .isSubsetOf(pod.get("volumes").findValuesAsText("name"));
    }
  }

  @Test
  void prometheusFindsTheLivePage() throws IOException {
    JsonNode template = injectors("volume").at("/spec/template");
    JsonNode container = template.at("/spec/containers/0");
    String port = container.at("/ports/0/containerPort").asText();

    assertThat(template.at("/metadata/annotations/prometheus.io~1port").asText()).isEqualTo(port);
    assertThat(environment("volume", container)).containsEntry("LLM_LIVE", "0.0.0.0:" + port);
  }

  /** Half of the container's memory is the heap; the rest is for all that a JVM has beside it. */
  @Test
  void memoryFitsTheHeap() throws IOException {
    JsonNode resources = pod(injectors("volume")).at("/containers/0/resources");

    assertThat(JvmOptions.OF_RUNS).contains("-Xmx1g");
    assertThat(resources.at("/limits/memory").asText()).isEqualTo("2Gi");
    for (String resource : List.of("cpu", "memory")) {
      assertThat(resources.at("/requests/" + resource))
          .isEqualTo(resources.at("/limits/" + resource));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"volume", "object-storage", "example"})
  void settingsOfInjectorsExist(String overlay) throws IOException {
    JsonNode container = pod(injectors(overlay)).get("containers").get(0);
    Map<String, String> environment = environment(overlay, container);
    List<String> arguments = arguments(container, environment);

    assertThat(arguments.get(0)).isEqualTo("benchmark");
    Map<String, String> settings =
        BenchmarkProcess.of(arguments.subList(1, arguments.size())).settings();
    assertThat(CheckedSettings.warnings(settings, environment, dir)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"volume", "object-storage", "example"})
  void optionsOfTheMergeExist(String overlay) throws IOException {
    JsonNode container = pod(merge(overlay)).get("containers").get(0);
    List<String> arguments = arguments(container, environment(overlay, container));
    String help = CommandLine.call(() -> GatlingLlm.execute(List.of("merge", "--help"))).output();

    assertThat(arguments.get(0)).isEqualTo("merge");
    assertThat(arguments)
        .filteredOn(argument -> argument.startsWith("--"))
        .isNotEmpty()
        .allSatisfy(
            argument ->
                assertThat(help).contains(argument.substring(0, argument.indexOf('=') + 1)));
  }

  /** What {@code $(NAME)} stands for is there, and is put in as Kubernetes does. */
  private static List<String> arguments(JsonNode container, Map<String, String> environment) {
    return texts(container.get("args")).map(argument -> expanded(argument, environment)).toList();
  }

  private static String expanded(String text, Map<String, String> environment) {
    return Pattern.compile("\\$\\((\\w+)\\)")
        .matcher(text)
        .replaceAll(
            name -> {
              assertThat(environment).containsKey(name.group(1));
              return Matcher.quoteReplacement(environment.get(name.group(1)));
            });
  }

  /** Of the first pod: what the Job's controller adds, the ConfigMap's, and the container's own. */
  private static Map<String, String> environment(String overlay, JsonNode container)
      throws IOException {
    Map<String, String> environment = new TreeMap<>(Map.of("JOB_COMPLETION_INDEX", "0"));
    environment.putAll(settings(overlay));
    container
        .path("env")
        .forEach(entry -> environment.put(entry.get("name").asText(), entry.get("value").asText()));
    return environment;
  }

  private static Map<String, String> settings(String overlay) throws IOException {
    Map<String, String> settings = new TreeMap<>();
    object(overlay, "gatling-llm-[a-z0-9]{10}")
        .get("data")
        .properties()
        .forEach(entry -> settings.put(entry.getKey(), entry.getValue().asText()));
    return settings;
  }

  private static JsonNode injectors(String overlay) throws IOException {
    return object(overlay, "gatling-llm-injectors");
  }

  private static JsonNode merge(String overlay) throws IOException {
    return object(overlay, "gatling-llm-merge");
  }

  private static JsonNode pod(JsonNode job) {
    return job.at("/spec/template/spec");
  }

  private static JsonNode object(String overlay, String name) throws IOException {
    List<JsonNode> found =
        kept(overlay).stream().filter(object -> name(object).matches(name)).toList();
    assertThat(found).hasSize(1);
    return found.get(0);
  }

  private static Map<String, JsonNode> byName(List<JsonNode> objects) {
    return objects.stream()
        .collect(Collectors.toMap(KubernetesManifestsTest::name, object -> object));
  }

  private static String name(JsonNode object) {
    return object.at("/metadata/name").asText();
  }

  private static List<JsonNode> kept(String overlay) throws IOException {
    return objects(Files.readString(KEPT.resolve(overlay + ".yaml")));
  }

  private static List<JsonNode> objects(String yaml) throws IOException {
    try (MappingIterator<JsonNode> documents =
        YAML.readerFor(JsonNode.class).readValues(yaml.getBytes(UTF_8))) {
      return documents.readAll();
    }
  }

  private static Set<ValidationMessage> mistakes(JsonNode object) {
    return SCHEMA.validate(object);
  }

  private static Stream<String> texts(JsonNode list) {
    return StreamSupport.stream(list.spliterator(), false).map(JsonNode::asText);
  }
}
