package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import io.gatling.javaapi.core.*;
import io.github.gatlingllm.simulations.Benchmark;
import io.github.gatlingllm.testing.ChatChunks;
import io.github.gatlingllm.testing.Exchange;
import io.github.gatlingllm.testing.GatlingRun;
import io.github.gatlingllm.testing.ScriptedServer;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A server echoes all secrets wherever it can; they are in no file and no log of the run. */
class SecretsIT {
  private static final String LOG =
      """
      <configuration>
        <appender name="CONSOLE" class="ch.qos.logback.core.ConsoleAppender">
          <encoder><pattern>%-5level %logger - %msg%n</pattern></encoder>
        </appender>
        <logger name="io.gatling.http.engine.response" level="TRACE"/>
        <root level="WARN"><appender-ref ref="CONSOLE"/></root>
      </configuration>
      """;

  @TempDir private Path folder;

  @Test
  void secretsAreInNoFileAndMaskedInTheLog() throws Exception {
    Path log = Files.writeString(folder.resolve("logback.xml"), LOG);
    try (ScriptedServer server =
            ScriptedServer.start(
                SecretsIT::stream,
                SecretsIT::stream,
                x -> x.respond(401, "application/json", error(x), "X-Echo: " + keys(x)),
                x -> x.startStream().event(ChatChunks.content("a")).event(error(x)).lastChunk());
        GatlingRun run =
            GatlingRun.of(SecretsSimulation.class, server.baseUrl())
                .set("logback.configurationFile", log)
                .reports()
                .run()) {
      assertThat(server.requests()).as(run.output()).hasSize(4);
      for (String key : SecretsSimulation.KEYS) {
        assertThat(keys(server.exchanges().get(0))).as("what the server knows").contains(key);
      }
      assertThat(run.requests())
          .extracting(record -> record.tokens().outputTokens())
          .containsExactly(2, 2, null, 1);
      assertThat(run.output())
          .contains(
              "TRACE io.gatling.http.engine.response - ",
              "\nRequest:\nstreamed: OK\n",
              "\nRequest:\nchecked: KO answer.find.is(no), failed\n",
              "\nRequest:\nrefused: KO HTTP 401: ",
              "\nRequest:\nbroken: KO ",
              " (after 1 token)\n",
              "\nPOST " + server.baseUrl() + "/chat/completions?api-key=***\n",
              "\n\tAuthorization: ***\n",
              "\n{\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}]",
              "\nHTTP response:\nstatus:\n\tHTTP/1.1 200 Scripted\nheaders:\n",
              "\ndata: {",
              "\ndata: [DONE]\n");
      List<String> sought = new ArrayList<>(SecretsSimulation.KEYS);
      SecretsSimulation.KEYS.forEach(key -> sought.add(key.replace("\\", "\\\\")));
      assertInNoFile(run, sought);
    }
  }

  private static void assertInNoFile(GatlingRun run, List<String> sought) throws IOException {
    try (Stream<Path> files = Files.walk(run.directory().getParent())) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        String text = new String(Files.readAllBytes(file), ISO_8859_1);
        assertThat(sought).as("in %s", file).noneMatch(text::contains);
      }
    }
  }

  /** Mixed case, and letters that are escaped in one format or another. */
  private static final String KEY = "Qz7Tenant/9+Host<le=Key&4x";

  private static final List<Function<String, String>> FORMS =
      List.of(
          key -> key,
          key -> key.toLowerCase(Locale.ROOT),
          key -> key.replace("/", "\\/"),
          key -> key.chars().mapToObj("\\u%04x"::formatted).collect(joining()),
          key -> URLEncoder.encode(key, UTF_8),
          key -> key.replace("&", "&amp;").replace("<", "&lt;"),
          key -> Base64.getEncoder().encodeToString(key.getBytes(UTF_8)),
          key -> Base64.getUrlEncoder().encodeToString(("x" + key).getBytes(UTF_8)).substring(2));

  /** A name of a header: letters that none may have become dashes. */
  private static final String NAME_KEY = "Qz7Tenant-9-Hostile_Key-4x";

  @ParameterizedTest
  @ValueSource(strings = {KEY, NAME_KEY})
  void keyInEveryPlaceOfAnAnswerIsInNoFileAndNotOnTheConsole(String key) throws Exception {
    List<String> forms = FORMS.stream().map(form -> form.apply(key)).distinct().toList();
    ScriptedServer.Script[] scripts =
        forms.stream()
            .flatMap(form -> Stream.of(everywhere(200, form), everywhere(500, form)))
            .toArray(ScriptedServer.Script[]::new);
    try (ScriptedServer server = ScriptedServer.start(scripts).pages(x -> page(x, key));
        GatlingRun run =
            GatlingRun.of(Benchmark.class)
                .set("llm.endpoint", key.equals(KEY) ? server.baseUrl() : "a=" + server.baseUrl())
                .set("llm.apiKey", key)
                .llm("warmup=0 concurrency=1")
                .set("llm.requests", scripts.length)
                .llm("recordText=true csv=true")
                .reports()
                .run()) {
      assertThat(run.exitCode()).as(run.output()).isZero();
      assertThat(run.requests()).hasSize(scripts.length);
      assertThat(run.output()).contains("***");
      List<String> sought = new ArrayList<>(forms);
      sought.add(key.substring(0, key.length() - 3));
      assertInNoFile(run, sought);
    }
  }

  private static ScriptedServer.Script everywhere(int status, String key) {
    boolean isName = key.matches("[\\w-]+");
    String json =
        ("{'id':'K','K':'K','model':'K','system_fingerprint':'K','object':{'K':['K']},"
                + "'timings':{'K':5},'time_info':{'K':5},'usage':{'K':5},")
            .replace('\'', '"')
            .replace("K", key);
    String[] headers = {
      "Content-Type: text/event-stream",
      "Transfer-Encoding: chunked",
      "Server-Timing: " + key + ";dur=5, \"" + key + "\";dur=7;desc=\"" + key + "\"",
      "Retry-After: " + key,
      "X-Request-Id: " + key,
      "Location: http://" + key + "/",
      "X-RateLimit-Limit-Requests: " + key,
      "X-RateLimit-Remaining-" + (isName ? key : "x") + ": 5",
      "X-RateLimit-Limit-" + (isName ? key : "x") + ": 9",
      "Anthropic-RateLimit-" + (isName ? key : "x") + "-Remaining: 5",
    };
    return x -> {
      x.send("HTTP/1.1 " + status + " " + key + "\r\n");
      x.send(String.join("\r\n", headers) + "\r\n\r\n");
      if (status != 200) {
        x.chunk("{\"error\":{\"message\":\"" + key + "\",\"" + key + "\":1}}").lastChunk();
        return;
      }
      int half = key.length() / 2;
      for (String part : List.of(key, key.substring(0, half), key.substring(half))) {
        String delta = "{\"content\":\"" + part + "\",\"reasoning\":\"" + part + "\"}";
        x.event(json + "\"choices\":[{\"index\":0,\"delta\":" + delta + "}]}");
      }
      x.event(json + "\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"" + key + "\"}]}");
      x.done().lastChunk("Server-Timing: " + key + ";dur=5", "X-" + key + ": " + key);
    };
  }

  private static void page(Exchange exchange, String key) throws IOException {
    String safe = key.replaceAll("\\W", "_");
    exchange.respond(
        200,
        "text/plain",
        exchange.request().path().endsWith("/models")
            ? "{\"data\":[{\"id\":\"" + key + "\"}]}"
            : """
            # HELP vllm:K K
            # TYPE vllm:num_requests_running gauge
            vllm:num_requests_running{model_name="K",engine="K",K="K"} 1
            DCGM_FI_DEV_GPU_UTIL{gpu="K",UUID="K",Hostname="K"} 50
            """
                .replace(",K=", "," + safe + "=")
                .replace("K", key));
  }

  private static void stream(Exchange exchange) throws IOException {
    exchange.startStream();
    exchange.event(ChatChunks.content(keys(exchange)));
    exchange.event(ChatChunks.reasoning(keys(exchange)));
    exchange.event(ChatChunks.finish("stop"));
    exchange.event(ChatChunks.usage(3, 2)).done().lastChunk();
  }

  private static String error(Exchange exchange) {
    return ChatChunks.error(keys(exchange));
  }

  private static String keys(Exchange exchange) {
    return Stream.of("Authorization", "X-Api-Key", "Cookie", "X-Auth")
        .map(header -> String.valueOf(exchange.request().header(header)))
        .collect(joining(" ", exchange.request().path() + " ", ""));
  }

  public static final class SecretsSimulation extends Simulation {

    static final List<String> KEYS =
        List.of(
            "sk-k3y/+=abc", "t3nant\\secret", "c00kie-value", "url-p4rameter", "fr0m the session");

    public SecretsSimulation() {
      setUp(
              scenario("Keys")
                  .exec(session -> session.set("mine", KEYS.get(4)))
                  .exec(
                      llm("streamed").chat().user("Hello"),
                      llm("checked").chat().user("Hello").check(answer().is("no")),
                      llm("refused").chat().user("Hello"),
                      llm("broken").chat().user("Hello"))
                  .injectOpen(atOnceUsers(1)))
          .protocols(
              llm.baseUrl(
                      System.getProperty("baseUrl") + "/chat/completions?api-key=" + KEYS.get(3))
                  .apiKey(KEYS.get(0))
                  .header("x-api-key", KEYS.get(1))
                  .header("Cookie", "session=" + KEYS.get(2))
                  .header("X-Auth", "#{mine}")
                  .recordText()
                  .csv());
    }
  }
}
