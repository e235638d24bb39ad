package io.github.gatlingllm.engine;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The prefix cache through the port. */
@Timeout(120)
final class PrefixCacheTest {
  private static final EmbeddedEngine.Builder FAST =
      EmbeddedEngine.builder().decodeStep(Duration.ofNanos(200_000)).seed(1).recordGroundTruth();

  private static int cached(JsonNode answer) {
    return answer.at("/usage/prompt_tokens_details/cached_tokens").intValue();
  }

  private static String message(String role, String content) {
    return "{'role':'" + role + "','content':'" + content + "'}";
  }

  @Test
  void rolesArePartOfThePrefixAndUniquePromptsShareNothing() {
    try (EmbeddedEngine engine = FAST.start()) {
      EngineClient client = new EngineClient(engine);
      String text = "x".repeat(400);
      String form = "{'max_tokens':1,'messages':[%s]}";
      assertThat(cached(client.ask(form.formatted(message("user", text))))).isZero();
      assertThat(cached(client.ask(form.formatted(message("user", text))))).isEqualTo(96);
      assertThat(cached(client.ask(form.formatted(message("system", text))))).isZero();
      assertThat(cached(client.ask(form.formatted(message("user", "1 " + text))))).isZero();
    }
  }

  @Test
  void cacheCanBeSwitchedOff() {
    try (EmbeddedEngine engine = FAST.prefixCaching(false).start()) {
      EngineClient client = new EngineClient(engine);
      String body = "{'max_tokens':1,'messages':[" + message("user", "x".repeat(400)) + "]}";
      assertThat(cached(client.ask(body))).isZero();
      assertThat(cached(client.ask(body))).isZero();
      assertThat(engine.load().prefixQueriedTokens()).isZero();
    }
  }
}
