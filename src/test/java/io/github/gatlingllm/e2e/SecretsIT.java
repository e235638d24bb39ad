package io.github.gatlingllm.e2e;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.testing.ChatChunks;
import io.github.gatlingllm.testing.Exchange;
import io.github.gatlingllm.testing.GatlingRun;
import io.github.gatlingllm.testing.ScriptedServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

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
                x -> x.startStream().event(error(x)).lastChunk());
        GatlingRun run =
            GatlingRun.of(SecretsSimulation.class, server.baseUrl())
                .set("logback.configurationFile", log)
                .reports()
                .run()) {
      assertThat(server.requests()).as(run.output()).hasSize(4);
      for (String key : SecretsSimulation.KEYS) {
        assertThat(keys(server.exchanges().get(0))).as("what the server knows").contains(key);
      }
      assertThat(run.requests()).hasSize(4);
      assertThat(run.output())
          .contains(
              "TRACE io.gatling.http.engine.response - ",
              "\nRequest:\nstreamed: OK\n",
              "\nRequest:\nchecked: KO answer.find.is(no), failed\n",
              "\nRequest:\nrefused: KO HTTP 401: ",
              "\nRequest:\nbroken: KO ",
              "\nPOST " + server.baseUrl() + "/chat/completions?api-key=***\n",
              "\n\tAuthorization: ***\n",
              "\n{\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}]",
              "\nHTTP response:\nstatus:\n\tHTTP/1.1 200 Scripted\nheaders:\n",
              "\ndata: {",
              "\ndata: [DONE]\n");
      try (Stream<Path> files = Files.walk(run.directory().getParent())) {
        assertThat(files.filter(Files::isRegularFile))
            .hasSizeGreaterThan(8)
            .allSatisfy(SecretsIT::assertNoKey);
      }
    }
  }

  private static void assertNoKey(Path file) throws IOException {
    String text = new String(Files.readAllBytes(file), ISO_8859_1);
    for (String key : SecretsSimulation.KEYS) {
      assertThat(text.contains(key) || text.contains(key.replace("\\", "\\\\")))
          .as("%s in %s", key, file)
          .isFalse();
    }
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

  /** All secrets that were sent. */
  private static String keys(Exchange exchange) {
    return String.join(
        " ",
        List.of(
            exchange.request().path(),
            String.valueOf(exchange.request().header("Authorization")),
            String.valueOf(exchange.request().header("X-Api-Key")),
            String.valueOf(exchange.request().header("Cookie")),
            String.valueOf(exchange.request().header("X-Auth"))));
  }
}
