package io.github.gatlingllm.report;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.simulations.Benchmark;
import io.github.gatlingllm.testing.GatlingRun;
import io.github.gatlingllm.testing.JavaCommand;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The files of {@code deploy/grafana} without containers: Prometheus reads a run that has the
 * settings of {@code compose.yaml}, and answers every query of the dashboard.
 */
class GrafanaBoardIT {

  private static final Path FOLDER = Path.of("deploy/grafana");
  private static final Path BOARD = FOLDER.resolve("dashboards/gatling-llm.json");
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final YAMLMapper YAML = new YAMLMapper();
  private static final Pattern PAGE = Pattern.compile("LLM live page: http://([0-9.:]+)/");
  private static final Pattern SETTING = Pattern.compile("--([a-z-]+)=(.+)");

  @TempDir Path dir;

  @BeforeAll
  static void prometheusIsInstalled() {
    boolean isInstalled =
        Stream.of("prometheus", "promtool")
            .allMatch(program -> Files.isExecutable(Path.of("/usr/bin", program)));
    if ("true".equals(System.getenv("CI"))) {
      assertThat(isInstalled).as("CI has Debian's prometheus").isTrue();
    }
    assumeTrue(isInstalled, "skipped: needs Debian's prometheus in /usr/bin");
  }

  @Test
  @Tag("nightly")
  void everyQueryReturnsASeries() throws Exception {
    try (EmbeddedEngine engine = EmbeddedEngine.builder().reject(503, 0.2).start();
        GatlingRun run =
            GatlingRun.of(Benchmark.class)
                .set(settingsOfCompose())
                .set("llm.endpoint", engine.baseUrl())
                .llm("rate=20 duration=120s live=0")
                .start()) {
      run.awaitLine("LLM live page: ");
      Matcher page = PAGE.matcher(run.output());
      assertThat(page.find()).isTrue();
      String prometheus = "127.0.0.1:" + freePort();
      Process process = start(prometheus, page.group(1), URI.create(engine.baseUrl()));
      try {
        Path log = dir.resolve("prometheus.log");
        run.await("Prometheus", () -> Files.readString(log).contains("Server is ready"));
        List<String> queries = queries();
        assertThat(queries).hasSizeGreaterThan(30);
        for (String query : queries) {
          run.await(query, () -> hasNumber(get(prometheus, "query?query=" + encoded(query))));
        }
        run.await(
            "RequestsFail",
            () ->
                Stream.of("pending", "firing").anyMatch(state(prometheus, "RequestsFail")::equals));
        assertThat(get(prometheus, "rules").findValuesAsText("health"))
            .hasSize(7)
            .containsOnly("ok");
        assertThat(get(prometheus, "query?query=" + encoded("up==1")).at("/data/result"))
            .hasSize(2);
      } finally {
        process.destroy();
        assertThat(process.waitFor()).isZero();
      }
      run.terminate();
    }
  }

  /** As the options of the service {@code run} say. */
  private static Map<String, String> settingsOfCompose() throws IOException {
    Map<String, String> settings = new TreeMap<>();
    for (JsonNode option : compose().at("/services/run/command")) {
      Matcher setting = SETTING.matcher(option.asText());
      assertThat(setting.matches()).as(option.asText()).isTrue();
      if (!setting.group(1).equals("results")) {
        String name =
            Pattern.compile("-(.)")
                .matcher(setting.group(1))
                .replaceAll(letter -> letter.group(1).toUpperCase(Locale.ROOT));
        settings.put("llm." + name, setting.group(2));
      }
    }
    assertThat(settings).containsKeys("llm.live", "llm.slo", "llm.rate");
    return settings;
  }

  private static JsonNode compose() throws IOException {
    return YAML.readTree(FOLDER.resolve("compose.yaml").toFile());
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  private Process start(String address, String run, URI engine) throws IOException {
    Files.copy(FOLDER.resolve("alerts.yml"), dir.resolve("alerts.yml"));
    String config = Files.readString(FOLDER.resolve("prometheus.yml"));
    Path own =
        Files.writeString(
            dir.resolve("prometheus.yml"),
            config.replace("run:8088", run).replace("engine:8000", engine.getAuthority()));
    return new ProcessBuilder(
            "/usr/bin/prometheus",
            "--config.file=" + own,
            "--storage.tsdb.path=" + dir.resolve("data"),
            "--web.listen-address=" + address)
        .redirectErrorStream(true)
        .redirectOutput(dir.resolve("prometheus.log").toFile())
        .start();
  }

  /** Of all panels and annotations, with Grafana's variables replaced. */
  private static List<String> queries() throws IOException {
    return JSON.readTree(BOARD.toFile()).findValuesAsText("expr").stream()
        .map(expr -> expr.replace("$__rate_interval", "5s"))
        .map(expr -> expr.replaceAll("\\$(target|engine)\\b", ".*"))
        .toList();
  }

  private static boolean hasNumber(JsonNode answer) {
    return Stream.iterate(0, i -> i + 1)
        .limit(answer.at("/data/result").size())
        .map(i -> answer.at("/data/result/" + i + "/value/1").asText("NaN"))
        .anyMatch(value -> Double.isFinite(Double.parseDouble(value)));
  }

  private static String state(String prometheus, String alert) throws IOException {
    for (JsonNode group : get(prometheus, "rules").at("/data/groups")) {
      for (JsonNode rule : group.path("rules")) {
        if (rule.path("name").asText().equals(alert)) {
          return rule.path("state").asText();
        }
      }
    }
    return "";
  }

  private static String encoded(String query) {
    return URLEncoder.encode(query, UTF_8);
  }

  /** Fails for a query that Prometheus does not understand. */
  private static JsonNode get(String prometheus, String path) throws IOException {
    try (InputStream body =
        URI.create("http://" + prometheus + "/api/v1/" + path).toURL().openStream()) {
      return JSON.readTree(body);
    }
  }

  @Test
  void alertsFireForWhatTheyAreMadeFor() throws Exception {
    Files.copy(FOLDER.resolve("alerts.yml"), dir.resolve("alerts.yml"));
    Files.copy(FOLDER.resolve("prometheus.yml"), dir.resolve("prometheus.yml"));
    Files.copy(
        Path.of("src/test/resources/grafana/alerts-test.yml"), dir.resolve("alerts-test.yml"));

    assertThat(promtool("check", "rules", "alerts.yml")).contains("7 rules found");
    assertThat(promtool("check", "config", "prometheus.yml")).contains("SUCCESS");
    assertThat(promtool("test", "rules", "alerts-test.yml")).contains("SUCCESS");
    List<String> tested =
        YAML.readTree(dir.resolve("alerts-test.yml").toFile()).findValuesAsText("alertname");
    assertThat(YAML.readTree(dir.resolve("alerts.yml").toFile()).findValuesAsText("alert"))
        .isSubsetOf(tested);
  }

  private String promtool(String... arguments) throws IOException, InterruptedException {
    List<String> command =
        Stream.concat(Stream.of("/usr/bin/promtool"), Stream.of(arguments)).toList();
    return JavaCommand.output(new ProcessBuilder(command).directory(dir.toFile()));
  }

  @Test
  void filesNameEachOther() throws IOException {
    for (JsonNode service : compose().path("services")) {
      for (JsonNode mount : service.path("volumes")) {
        String source = mount.asText().split(":", -1)[0];
        assertThat(source.startsWith("./") ? FOLDER.resolve(source) : FOLDER).exists();
      }
    }
    JsonNode sources =
        YAML.readTree(FOLDER.resolve("provisioning/datasources/prometheus.yml").toFile());
    JsonNode board = JSON.readTree(BOARD.toFile());
    assertThat(board.path("panels").findValues("datasource"))
        .extracting(each -> each.path("uid").asText())
        .containsOnly(sources.at("/datasources/0/uid").asText());
    String folder =
        YAML.readTree(FOLDER.resolve("provisioning/dashboards/gatling-llm.yml").toFile())
            .at("/providers/0/options/path")
            .asText();
    assertThat(compose().at("/services/grafana/volumes").toString())
        .contains("./" + Objects.requireNonNull(BOARD.getParent()).getFileName() + ":" + folder);
    for (String target : List.of("run:8088", "engine:8000")) {
      String port = target.substring(target.indexOf(':') + 1);
      assertThat(FOLDER.resolve("prometheus.yml")).content().contains("\"" + target + "\"");
      assertThat(compose().at("/services/" + target.replace(":" + port, "/command")).toString())
          .contains(port);
    }
  }
}
