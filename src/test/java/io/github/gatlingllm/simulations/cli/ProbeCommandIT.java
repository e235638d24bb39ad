package io.github.gatlingllm.simulations.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.record.StartCommand;
import io.github.gatlingllm.testing.ChatChunks;
import io.github.gatlingllm.testing.GatlingRun;
import io.github.gatlingllm.testing.ScriptedServer;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The command {@code probe} in a separate process, against servers whose answers are known. */
class ProbeCommandIT {

  private static final String KEY = "sk-probe-secret";

  private static final String CLASS_PATH = "java.class.path";
  private static final String OWN = System.getProperty(CLASS_PATH);

  private static String jvm = "";

  /** Its processes start as fast as those of other tests. */
  @BeforeAll
  static void isCalledLikeThis() throws Exception {
    System.setProperty(StartCommand.COMMAND, "gatling-llm");
    jvm = "--jvm=-XX:TieredStopAtLevel=1 " + String.join(" ", GatlingRun.fastStart());
    System.setProperty(CLASS_PATH, GatlingRun.classPath());
  }

  @AfterAll
  static void isNotCalledLikeThis() {
    System.clearProperty(StartCommand.COMMAND);
    System.setProperty(CLASS_PATH, OWN);
  }

  private final List<String> out = new ArrayList<>();
  private final List<String> error = new ArrayList<>();

  private int probe(Map<Integer, String> ports, String arguments) {
    List<String> words = new ArrayList<>(List.of(jvm));
    Stream.of(arguments.split(" ", -1)).filter(word -> !word.isEmpty()).forEach(words::add);
    return ProbeCommand.run(words, ports, out::add, error::add);
  }

  private JsonNode facts(String endpoint, String more) throws IOException {
    assertThat(probe(Map.of(), "--json --endpoint=" + endpoint + more)).as("%s", error).isZero();
    assertThat(error).isEmpty();
    return new ObjectMapper().readTree(String.join("\n", out));
  }

  private static int closedPort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  private static int port(EmbeddedEngine engine) {
    return URI.create(engine.baseUrl()).getPort();
  }

  private void assertFactsAre(JsonNode facts, String golden) {
    Map<String, String> known = new LinkedHashMap<>();
    for (String fact : golden.split(" ", -1)) {
      known.put(fact.split("=", 2)[0], fact.split("=", 2)[1]);
    }
    known.forEach((id, value) -> assertThat(facts.path(id).asText()).as(id).isEqualTo(value));
  }

  @Test
  void tellsAllOfAServerThatTellsAll() throws IOException {
    try (EmbeddedEngine engine =
        EmbeddedEngine.builder().model("tiny").maxContext(4_096).apiKey(KEY).start()) {
      JsonNode facts = facts(engine.baseUrl(), " --api-key=" + KEY);

      assertFactsAre(
          facts,
          "endpoint="
              + engine.baseUrl()
              + "/chat/completions api=chat engine=gatling-llm engine_version=null model=tiny"
              + " context_tokens=4096 template_tokens=0 usage=true stream_options=true"
              + " ignore_eos=true tokenize=true metrics=true http2=false keep_alive=true");
      assertThat(facts.path("ttft_ms").asDouble()).isPositive();
      assertThat(facts.path("next").asText())
          .startsWith("gatling-llm ")
          .endsWith(" --endpoint " + engine.baseUrl() + " --concurrency 1,2,4,8,16");
      assertThat(out.toString()).doesNotContain(KEY);
    }
  }

  @Test
  void textHasTenLines() throws IOException {
    try (EmbeddedEngine engine = EmbeddedEngine.builder().start()) {
      assertThat(probe(Map.of(), "--endpoint=" + engine.baseUrl())).isZero();
      assertThat(String.join("\n", out).lines())
          .hasSize(10)
          .allMatch(line -> line.length() <= 160 + jvm.length());
    }
  }

  @Test
  void sendsOneRequestToAServerThatTellsNothing() throws IOException {
    ScriptedServer.Script plain =
        x ->
            x.startStream()
                .event(ChatChunks.content("Hello"))
                .event(ChatChunks.finish("stop"))
                .done()
                .lastChunk();
    try (ScriptedServer server = ScriptedServer.start(plain)) {
      JsonNode facts = facts(server.baseUrl() + "/v1", "");

      assertFactsAre(
          facts,
          "engine=null model=null context_tokens=null template_tokens=null usage=false"
              + " stream_options=true ignore_eos=false tokenize=false metrics=false http2=false"
              + " keep_alive=true");
      assertThat(server.posts()).isEqualTo(1);
    }
  }

  @Test
  void tellsWhatAServerRejectsAndThatItClosesConnections() throws IOException {
    ScriptedServer.Script refusal =
        x ->
            x.respond(
                400, "application/json", ChatChunks.error("Unknown parameter: 'stream_options'"));
    ScriptedServer.Script closing =
        x -> {
          x.sendHeaders(200, "Content-Type: text/event-stream", "Connection: close");
          x.send("data: " + ChatChunks.content("a") + "\n\n");
          x.send("data: " + ChatChunks.finish("stop") + "\n\ndata: [DONE]\n\n");
          x.close();
        };
    try (ScriptedServer server = ScriptedServer.start(refusal, closing)) {
      JsonNode facts = facts(server.baseUrl() + "/v1", " --ignore-eos=false");

      assertFactsAre(facts, "stream_options=false ignore_eos=null keep_alive=false usage=false");
      assertThat(server.posts()).isEqualTo(2);
    }
  }

  @ParameterizedTest
  @CsvSource({"401, 'HTTP 401'", "html, HTML", "hangs, 1 s", "closed, connection"})
  void serverThatCannotBeUsedIsOneLine(String kind, String cause) throws IOException {
    ScriptedServer.Script script =
        switch (kind) {
          case "401" -> x -> x.respond(401, "application/json", ChatChunks.error("No key"));
          case "html" -> x -> x.respond(200, "text/html", "<!DOCTYPE html><html>Hi</html>");
          default -> x -> x.awaitClientClose();
        };
    ScriptedServer.Script pages =
        kind.equals("hangs") ? x -> x.respond(404, "text/plain", "") : script; // each has its limit
    try (ScriptedServer server = ScriptedServer.start(script).pages(pages)) {
      int port = kind.equals("closed") ? closedPort() : server.port();

      assertThat(probe(Map.of(), "--timeout=1s --endpoint=http://127.0.0.1:" + port + "/v1"))
          .isEqualTo(1);
      assertThat(out).isEmpty();
      assertThat(error).singleElement().asString().containsIgnoringCase(cause);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "--endpoint=http://127.0.0.1:1/v1 --concurrency=4, concurrency",
    "--endpoint=http://127.0.0.1:1/v1 --modle=x, model",
    "'--endpoint=http://127.0.0.1:1/v1,http://127.0.0.1:2/v1', endpoint",
    "--endpoint, endpoint",
    "nonsense, nonsense"
  })
  void mistakeIsOneLine(String arguments, String named) {
    assertThat(probe(Map.of(), arguments)).isEqualTo(1);
    assertThat(out).isEmpty();
    assertThat(error).singleElement().asString().contains(named).hasSizeLessThanOrEqualTo(200);
  }

  @Test
  void findsTheOnlyServerOfThisMachineAndProbesIt() throws IOException {
    try (EmbeddedEngine engine = EmbeddedEngine.builder().model("tiny").start();
        ScriptedServer other = ScriptedServer.start(x -> x.respond(404, "text/plain", ""))) {
      Map<Integer, String> ports = new LinkedHashMap<>();
      ports.put(closedPort(), "Ollama");
      ports.put(other.port(), "llama.cpp");
      ports.put(port(engine), "vLLM");

      assertThat(probe(ports, "--json")).isZero();
      JsonNode servers = new ObjectMapper().readTree(String.join("\n", out));
      assertThat(servers).hasSize(2);
      int found = servers.get(0).path("usual").asText().equals("vLLM") ? 0 : 1; // by their ports
      assertFactsAre(servers.get(1 - found), "usual=llama.cpp");
      assertThat(servers.get(1 - found).path("refusal").asText()).contains("404");
      assertFactsAre(servers.get(found), "usual=vLLM refusal=null endpoint=" + engine.baseUrl());
      assertFactsAre(servers.get(found).path("facts"), "engine=gatling-llm model=tiny");
      assertThat(other.posts()).isZero();
    }
  }

  @Test
  void aServerThatIsOnlyFoundGetsNoHeaderOfTheUser() throws IOException {
    try (EmbeddedEngine engine = EmbeddedEngine.builder().model("tiny").start()) {
      for (String secret : List.of("--api-key=sk-1", "--header.x-api-key=sk-2")) {
        out.clear();
        assertThat(probe(Map.of(port(engine), "vLLM"), secret)).isZero();
        assertThat(out).hasSize(2).last().asString().contains("probe --endpoint");
      }
    }
  }

  @Test
  void listsSeveralServersAndSendsThemNothingElse() throws IOException {
    try (EmbeddedEngine first = EmbeddedEngine.builder().model("first").start();
        EmbeddedEngine second = EmbeddedEngine.builder().model("second").start()) {
      assertThat(probe(Map.of(port(first), "vLLM", port(second), "SGLang"), "")).isZero();
      assertThat(out).hasSize(4);
      assertThat(out.toString()).contains("first", "second", "probe --endpoint " + first.baseUrl());
    }
  }

  @Test
  void noServerOfThisMachineIsOneLine() throws IOException {
    assertThat(probe(Map.of(closedPort(), "vLLM"), "")).isEqualTo(1);
    assertThat(out).isEmpty();
    assertThat(error).singleElement().asString().contains("vLLM", "--endpoint");
  }
}
