package io.github.gatlingllm.simulations;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class DryRunTest {

  @TempDir private Path folder;

  @Test
  void showsTheDefaultPlan() {
    assertThat(plan(Map.of()))
        .isEqualTo(
            """
            target         embedded engine (no llm.endpoint is set)
            API            chat, streamed
            load           closed loop, 4 levels
                           c=1      12 s
                           c=4      12 s
                           c=16     12 s
                           c=64     12 s
            requests       as many as the server answers in the time of each level
            stops after    more than 100 failures in a row
            fill           auto: users start one after the other, over twice the median E2E
            stabilize      auto: until each user has had an answer and twice the median E2E has passed, at most 12 s per level
            cooldown       the load stays on until the measured requests have ended
            drain          at most 30 s per level
            warm-up        1 request
            prompts        1,000 texts made of 100 prompts (built-in); after these they repeat
            prompt size    uniform lengths of 64 to 448 tokens by chars4
            prefix         a nonce of its own first in every prompt: 5 tokens
            tokenizer      chars4
            output         exactly 16 tokens (ignore_eos, min_tokens)
            sampling       the server's defaults
            SLO            none
            limits         10 min per request, 2 min between events
            connections    shared by all users
            seed           4711
            time           48 s of measuring, at most 5 min 36 s in all
            """);
  }

  @Test
  void showsAnOpenLoopAgainstAnEndpoint() {
    assertThat(
            plan(
                Map.ofEntries(
                    Map.entry("llm.endpoint", "http://localhost:8000/v1"),
                    Map.entry("llm.model", "llama-8b"),
                    Map.entry("llm.rate", "0.5,4,16"),
                    Map.entry("llm.duration", "90"),
                    Map.entry("llm.prompt", "Say hello."),
                    Map.entry("llm.temperature", "0.7"),
                    Map.entry("llm.topP", "0.95"),
                    Map.entry("llm.ignoreEos", "false"),
                    Map.entry("llm.body", "{\"top_k\":40,\"user\":\"x\"}"),
                    Map.entry("llm.header.X-Tenant", "hidden"),
                    Map.entry("llm.slo", "ttft<200ms,tpot<50ms"),
                    Map.entry("llm.sloPercentile", "95"),
                    Map.entry("llm.verifyTls", "false"),
                    Map.entry("llm.connections", "perUser"),
                    Map.entry("llm.apiKey", "sk-very-secret"))))
        .isEqualTo(
            """
            target         http://localhost:8000/v1/chat/completions
            model          llama-8b
            API key        set
            API            chat, streamed
            load           open loop, poisson arrivals, 3 levels
                           r=0.5    90 s, about 45 requests
                           r=4      90 s, about 360 requests
                           r=16     90 s, about 1,440 requests
            requests       about 1,845 requests
            stops after    more than 100 failures in a row
            stabilize      auto: until the first answer has come and twice the median E2E has passed, at most 90 s per level
            cooldown       the load stays on until the measured requests have ended
            drain          at most 30 s per level
            warm-up        1 request
            prompts        1 prompt (fixed text), 10 characters
            prefix         a nonce of its own first in every prompt: 7 tokens
            tokenizer      tiktoken:cl100k_base
            output         at most 128 tokens
            sampling       temperature 0.7, top_p 0.95
            extra fields   top_k, user
            extra headers  X-Tenant
            SLO            ttft<200ms,tpot<50ms; a level holds when 95 % of its requests meet each objective
            limits         10 min per request, 2 min between events
            connections    own ones per user, certificates NOT verified
            seed           4711
            time           4 min 30 s of measuring, at most 12 min in all
            """);
  }

  @Test
  void showsLevelsBoundedByCount() {
    assertThat(plan(Map.of("llm.requests", "100", "llm.concurrency", "1,8")))
        .contains(
            """
            load           closed loop, 2 levels
                           c=1      100 requests
                           c=8      100 requests
            requests       200 requests
            """)
        .contains("time           depends on the server: 200 requests\n");
    assertThat(plan(Map.of("llm.requests", "90", "llm.rate", "2", "llm.arrival", "constant")))
        .contains(
            """
            load           open loop, constant arrivals, 1 level
                           r=2      90 requests, about 45 s
            requests       90 requests
            """)
        .contains("time           45 s of measuring, at most 75 s in all\n");
  }

  @Test
  void showsSeveralTargets() {
    Map<String, String> two =
        Map.of(
            "llm.endpoint", "http://a:8000/v1,http://b:8000/v1",
            "llm.model", "llama-8b",
            "llm.maxInFlight", "64",
            "llm.requests", "100");
    assertThat(plan(two))
        .startsWith(
            """
            target         a:8000: http://a:8000/v1/chat/completions
            model          llama-8b
            API key        none
            target         b:8000: http://b:8000/v1/chat/completions
            model          llama-8b
            API key        none
            order          one after the other
            API            chat, streamed
            """)
        .contains("requests       100 requests, per target\n")
        .contains("limits         10 min per request, 2 min between events, 64 in flight\n");
    assertThat(
            plan(
                Map.of(
                    "llm.endpoint", "http://a:8000/v1,http://b:8000/v1",
                    "llm.duration", "30",
                    "llm.interleave", "true")))
        .contains("order          side by side\n")
        .contains("time           30 s of measuring, at most 2 min in all\n");
    assertThat(plan(Map.of("llm.endpoint", "http://a:8000/v1,http://b:8000/v1")))
        .contains("time           60 s of measuring, at most 4 min in all\n");
  }

  @Test
  void showsCurvesAndTraces() {
    assertThat(plan(Map.of("llm.rate", "0:60s,10:120s,50:60s", "llm.arrival", "gamma:1.4")))
        .contains(
            """
            load           open loop, gamma arrivals of cv 1.4, 1 level
                           curve    4 min, about 6,900 requests
            """);
    assertThat(plan(Map.of("llm.arrival", "trace:src/test/resources/traces/azure.csv@2.0")))
        .contains(
            """
            load           open loop, arrivals of azure.csv, 2 times as fast, 1 level
                           trace    9.989 s, 3 requests
            """);
  }

  private String plan(Map<String, String> properties) {
    return DryRun.text(
        BenchmarkPlan.of(new Settings(properties, Map.of(), folder.resolve(".env")), () -> 4711));
  }
}
