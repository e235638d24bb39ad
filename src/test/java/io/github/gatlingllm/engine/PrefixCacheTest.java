package io.github.gatlingllm.engine;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
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
  void everyTurnFindsTheEarlierTurnsInTheCache() throws Exception {
    try (EmbeddedEngine engine = FAST.start()) {
      EngineClient client = new EngineClient(engine);
      List<String> history = new ArrayList<>();
      history.add(message("system", "You are a patient teacher of astronomy for beginners."));
      int chars = 53;
      int full = 0;
      long hits = 0;
      long queries = 0;
      for (int turn = 0; turn < 6; turn++) {
        String question = "Question " + turn + ": and what about the next planet, then?";
        history.add(message("user", question));
        chars += question.length();
        JsonNode answer =
            client.ask(
                "{'max_tokens':45,'ignore_eos':true,'messages':["
                    + String.join(",", history)
                    + "]}");
        int prompt = answer.at("/usage/prompt_tokens").intValue();
        assertThat(prompt).as("turn %d", turn).isEqualTo((chars + 3) / 4);
        assertThat(cached(answer)).as("turn %d", turn).isEqualTo(full);
        assertThat(full > 0).isEqualTo(turn > 0);
        hits += full;
        queries += prompt;
        // In memory is all but the last token said, which nothing was computed from.
        full = (chars + 4 * 44) / 64 * 16;
        String said = answer.at("/choices/0/message/content").textValue();
        assertThat(said).hasSize(4 * 45);
        chars += said.length();
        history.add(message("assistant", said));
      }
      assertThat(engine.load().prefixHitTokens()).isEqualTo(hits);
      assertThat(engine.load().prefixQueriedTokens()).isEqualTo(queries);
      assertThat(engine.groundTruth()).hasSize(6);
      assertThat(engine.groundTruth().get(5).cachedTokens()).isPositive();
      assertThat(client.metrics())
          .contains("vllm:prefix_cache_hits_total{model_name=\"embedded\"} " + hits + "\n")
          .contains("vllm:prefix_cache_queries_total{model_name=\"embedded\"} " + queries + "\n");
    }
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
