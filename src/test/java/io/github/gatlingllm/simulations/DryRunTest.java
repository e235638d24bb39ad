package io.github.gatlingllm.simulations;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class DryRunTest {

  @Test
  void showsTheDefaultPlan() {
    assertThat(plan(""))
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
            prefix         a nonce begins every prompt: 5 tokens
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

  /** The lines of all other settings are in {@code SettingEffectsTest}. */
  @Test
  void showsWhatAnEndpointIsSent() {
    assertThat(
            plan(
                "endpoint=http://localhost:8000/v1 rate=0.5,4,16 duration=90 temperature=0.7"
                    + " topP=0.95 ignoreEos=false body={\"top_k\":40,\"user\":\"x\"}"
                    + " header.X-Tenant=hidden apiKey=sk-very-secret"))
        .contains("API key        set\n", "extra headers  X-Tenant\n", "about 1,845 requests\n")
        .contains("output         at most 128 tokens\nsampling       temperature 0.7, top_p 0.95\n")
        .contains(
            "extra fields   top_k, user\n", "4 min 30 s of measuring, at most 12 min in all\n")
        .doesNotContain("hidden", "sk-very");
  }

  @Test
  void showsLevelsBoundedByCount() {
    assertThat(plan("requests=100 concurrency=1,8"))
        .contains(
            """
            load           closed loop, 2 levels
                           c=1      100 requests
                           c=8      100 requests
            requests       200 requests
            """)
        .contains("time           depends on the server: 200 requests\n");
    assertThat(plan("requests=90 rate=2 arrival=constant"))
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
    String two = "endpoint=http://a:8000/v1,http://b:8000/v1";
    assertThat(plan(two + " requests=100"))
        .startsWith("target         a:8000: http://a:8000/v1/chat/completions\nmodel ")
        .contains("target         b:8000: ", "order          one after the other\n")
        .contains("requests       100 requests, per target\n");
    assertThat(plan(two + " interleave=true"))
        .contains("time           30 s of measuring, at most 2 min in all\n");
    assertThat(plan(two)).contains("time           60 s of measuring, at most 4 min in all\n");
  }

  private static String plan(String settings) {
    return DryRun.text(CheckedSettings.plan(settings));
  }
}
