package io.github.gatlingllm.action;

import static io.github.gatlingllm.javaapi.LlmDsl.llm;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gatlingllm.javaapi.LlmProtocolBuilder;
import io.github.gatlingllm.report.CommandLine;
import io.github.gatlingllm.testing.ScriptedServer;
import io.github.gatlingllm.testing.SelfSigned;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReadyWaitTest {

  private final List<String> polls = new ArrayList<>();
  private long now;
  private int pauses;

  private ReadyWait of(LlmProtocolBuilder protocol) {
    return new ReadyWait(
        protocol.protocol(),
        () -> now,
        nanos -> {
          now += nanos;
          pauses++;
        });
  }

  /** {@code /health} has no server behind it twice, then the list of models is empty twice. */
  @AutoClose
  private final ScriptedServer server =
      ScriptedServer.start(exchange -> exchange.answer("Yes"))
          .pages(
              page -> {
                polls.add(page.request().path() + " " + page.request().header("Authorization"));
                int poll = polls.size();
                String models = poll < 5 ? "{\"data\": [ ]}" : "{\"data\":[{\"id\":\"a\"}]}";
                page.respond(poll < 3 ? 503 : 200, "application/json", models);
              });

  @Test
  void readsHealthThenModels() throws IOException {
    of(llm.baseUrl(server.baseUrl() + "/v1/chat/completions?v=1")
            .apiKey("sk-1")
            .waitReady(Duration.ofSeconds(4)))
        .untilUp();
    String health = "/health Bearer sk-1";
    String models = "/v1/models Bearer sk-1";
    assertThat(polls).containsExactly(health, health, health, models, models);
    assertThat(pauses).isEqualTo(3);
  }

  @Test
  void endsInTimeWithOneLine() throws IOException {
    ReadyWait wait = of(llm.baseUrl(server.baseUrl() + "/v1").waitReady(Duration.ofMillis(2_900)));
    assertThatThrownBy(wait::untilUp)
        .isInstanceOf(InvalidSimulation.class)
        .hasMessageContaining(server.baseUrl() + "/v1/models")
        .hasMessageContaining("waitReady")
        .message()
        .doesNotContain("\n");
    assertThat(pauses).isEqualTo(2);
    assertThat(wait.again("the first request", "HTTP 503")).as("no time is left").isFalse();
  }

  @Test
  void aCertificateThatIsNotTrustedIsNotAwaited(@TempDir Path folder) throws Exception {
    try (ScriptedServer server = ScriptedServer.startTls(SelfSigned.sslContext(folder), x -> {})) {
      ReadyWait wait =
          of(llm.baseUrl(server.baseUrl()).verifyTls().waitReady(Duration.ofSeconds(9)));
      assertThatThrownBy(wait::untilUp)
          .isInstanceOf(InvalidSimulation.class)
          .hasMessageContaining("not trusted")
          .message()
          .doesNotContain("\n");
      assertThat(pauses).isZero();
    }
  }

  /** The name of a pod that starts is not known yet; this one never is, as a label is too long. */
  @Test
  void aHostThatIsNotKnownIsAwaited() {
    String host = "x".repeat(64) + ".test";
    ReadyWait wait = of(llm.baseUrl("http://" + host).waitReady(Duration.ofMillis(1_900)));
    String output = CommandLine.call(() -> refused(wait)).output();
    assertThat(pauses).isEqualTo(1);
    assertThat(output).contains(host + "/health (unknown host: check its name)");
  }

  private static int refused(ReadyWait wait) {
    assertThatThrownBy(wait::untilUp).hasMessageContaining("unknown host");
    return 0;
  }

  /** Not every server has these pages, and some refuse them. */
  @Test
  void aServerThatRefusesThemIsUp() throws IOException {
    try (ScriptedServer server =
        ScriptedServer.start(exchange -> {})
            .pages(page -> page.respond(polls.isEmpty() ? 404 : 401, "text/plain", "no"))) {
      of(llm.baseUrl(server.baseUrl()).waitReady(Duration.ofSeconds(1))).untilUp();
      assertThat(pauses).isZero();
    }
  }

  @Test
  void withoutTheSettingNoPageIsRead() throws IOException {
    ReadyWait wait = of(llm.baseUrl(server.baseUrl() + "/v1"));
    wait.untilUp();
    assertThat(wait.again("the first request", "no connection")).isFalse();
    assertThat(polls).isEmpty();
  }
}
