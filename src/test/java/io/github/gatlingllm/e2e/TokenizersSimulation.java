package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;

import io.gatling.javaapi.core.*;
import io.github.gatlingllm.javaapi.LlmProtocolBuilder;
import io.github.gatlingllm.workload.Tokenizer;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Prompts counted by several tokenizers, one of which starts late, and one never returns. */
public final class TokenizersSimulation extends Simulation {

  static final String FILE = "src/test/resources/tokenizers/bpe.tokenizer.json";

  /** The target that reports token counts, and the one that does not. */
  static final String USAGE = "usage";

  static final String NO_USAGE = "no usage";

  static final String SYSTEM = "You are a tutor.";
  static final String QUESTION = "Why is the sky blue?";

  private final CountDownLatch asked = new CountDownLatch(Integer.getInteger("released", 1));

  /** One token per letter; waits until that many prompts have been sent. */
  private final Tokenizer late =
      new Tokenizer() {
        @Override
        public String name() {
          return "late";
        }

        @Override
        public int count(String text) {
          try {
            return asked.await(5, TimeUnit.MINUTES) ? text.length() : -1;
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
        }

        @Override
        public String head(String text, int tokens) {
          return text.substring(0, tokens);
        }
      };

  public TokenizersSimulation() {
    if (System.getProperty("other") == null) {
      setUp(
          sideBySide(
              closedLoop(1)
                  .requests(Integer.getInteger("requests", 10))
                  .target(USAGE, target("baseUrl").tokenizer(late))
                  .inject(counted()),
              closedLoop(1)
                  .requests(Integer.getInteger("requests", 10))
                  .target(NO_USAGE, target("withoutUsage").tokenizer(late).disableUsage())
                  .inject(counted())));
    } else {
      ScenarioBuilder talk =
          scenario("Talk")
              .exec(conversation("history").system(SYSTEM))
              .exec(llm("turn").chat().history("history").user(QUESTION).maxTokens(4))
              .exec(llm("turn").chat().history("history").user("And at night?").maxTokens(4));
      setUp(
          oneAfterTheOther(
              batch(1)
                  .trials(2)
                  .target("one", target("baseUrl").tokenizer(huggingFace(FILE)))
                  .inject(talk),
              batch(1)
                  .trials(2)
                  .target("other", target("other").tokenizer(tiktoken("o200k_base")))
                  .inject(talk)));
    }
  }

  private ScenarioBuilder counted() {
    return scenario("Late")
        .exec(
            llm("ask")
                .chat()
                .user(
                    session -> {
                      asked.countDown();
                      return QUESTION;
                    })
                .maxTokens(4));
  }

  private static LlmProtocolBuilder target(String property) {
    LlmProtocolBuilder target =
        llm.baseUrl(System.getProperty(property)).disableJvmWarmUp().recordText();
    return Integer.getInteger("requests", 10) > 10
        ? target.assertions(llmGlobal().ttft().percentile(99).lt(0.0001))
        : target;
  }
}
