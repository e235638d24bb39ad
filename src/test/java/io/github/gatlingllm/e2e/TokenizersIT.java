package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;
import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.gatling.javaapi.core.*;
import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.javaapi.LlmProtocolBuilder;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.storage.S3Server;
import io.github.gatlingllm.testing.FakeTokenizer;
import io.github.gatlingllm.testing.GatlingRun;
import io.github.gatlingllm.workload.Tokenizer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Counting of prompts: by which tokenizer, when, and what happens to records that wait for it. */
class TokenizersIT {
  private static final int SIGTERM = 128 + 15;

  private static EmbeddedEngine engine() {
    return EmbeddedEngine.builder().fixed(ofMillis(2), ofMillis(1)).start();
  }

  @Test
  void eachTargetHasItsOwnTokenizer() throws Exception {
    try (EmbeddedEngine one = engine();
        EmbeddedEngine other = engine();
        GatlingRun run =
            GatlingRun.of(TokenizersSimulation.class, one.baseUrl())
                .set("other", other.baseUrl())
                .succeed()) {
      assertThat(run.requests()).hasSizeGreaterThanOrEqualTo(4);
      for (RequestRecord record : run.requests()) {
        Tokenizer tokenizer =
            record.identity().target().equals("one")
                ? Tokenizer.huggingFace(TokenizersSimulation.FILE)
                : Tokenizer.tiktoken("o200k_base");
        int expected = 0;
        for (JsonNode message : new ObjectMapper().readTree(record.text().messages())) {
          expected += tokenizer.count(message.path("content").textValue());
        }
        assertThat(record.tokens().promptTokensLocal()).isEqualTo(expected);
      }
      assertThat(Files.readString(run.files().page()))
          .contains("hf:" + TokenizersSimulation.FILE + ",tiktoken:o200k_base");
      assertThat(run.output()).contains("targets have different tokenizers");
    }
  }

  /** With an assertion that is missed, and an upload; streams last 160 ms, so that some are cut. */
  @Test
  void sigtermGivesAReportAndRecordsWithoutCounts() throws Exception {
    try (EmbeddedEngine usage = EmbeddedEngine.builder().fixed(ofMillis(10), ofMillis(50)).start();
        EmbeddedEngine noUsage = engine();
        S3Server s3 = new S3Server();
        GatlingRun run =
            GatlingRun.of(TokenizersSimulation.class, usage.baseUrl())
                .set("withoutUsage", noUsage.baseUrl())
                .set("released", 1_000_000)
                .set("requests", 1_000_000)
                .set("llm.upload", "s3://bench/t")
                .set(s3.properties())
                .start()) {
      run.await(
          "20 requests each",
          () -> Math.min(usage.requestsReceived(), noUsage.requestsReceived()) >= 20);
      run.terminate();
      run.await();

      assertThat(run.exitCode()).as(run.output()).isEqualTo(SIGTERM);
      assertThat(run.output())
          .doesNotContain("\tat ", "Exception")
          .contains("requests were not counted; the tokenizer was too slow")
          .contains("percentile of TTFT is less than 1.0E-4 ms : false (actual : ");
      assertThat(run.info().state()).isEqualTo(RunInfo.State.INTERRUPTED);
      assertThat(run.info().endUnixNanos()).isNotNull();
      List<RequestRecord> records = run.requests();
      assertThat(records)
          .as("none is lost")
          .hasSizeGreaterThanOrEqualTo(
              (int) (usage.requestsReceived() + noUsage.requestsReceived()));
      assertThat(records)
          .allSatisfy(record -> assertThat(record.tokens().promptTokensLocal()).isNull());
      assertThat(records)
          .filteredOn(record -> record.outcome().ok())
          .allSatisfy(
              record ->
                  assertThat(record.tokens().source())
                      .isEqualTo(
                          record.identity().target().equals(TokenizersSimulation.NO_USAGE)
                              ? RequestRecord.TokenSource.CHUNKS
                              : RequestRecord.TokenSource.USAGE));
      assertThat(run.summary().at("/run/state").asText()).isEqualTo("interrupted");
      assertThat(run.summary().at("/counts/ok").asInt()).isBetween(1, records.size());
      assertThat(run.files().summaryMarkdown()).isNotEmptyFile();
      String place = "t/" + run.info().id() + "-" + run.info().injector() + "/";
      for (Path file : List.of(run.files().requests(), run.files().info(), run.files().page())) {
        assertThat(s3.objects.get(place + run.files().run().relativize(file)))
            .isEqualTo(Files.readAllBytes(file));
      }
    }
  }

  /** Prompts counted by several tokenizers, one of which starts late, and one never returns. */
  public static final class TokenizersSimulation extends Simulation {

    static final String FILE = "src/test/resources/tokenizers/bpe.tokenizer.json";

    /** The target that reports token counts, and the one that does not. */
    static final String USAGE = "usage";

    static final String NO_USAGE = "no usage";

    static final String SYSTEM = "You are a tutor.";
    static final String QUESTION = "Why is the sky blue?";

    private final CountDownLatch asked = new CountDownLatch(Integer.getInteger("released", 1));

    /** One token per letter; waits until that many prompts have been sent. */
    private final Tokenizer late =
        new FakeTokenizer(
            text -> {
              try {
                return asked.await(5, TimeUnit.MINUTES) ? text.length() : -1;
              } catch (InterruptedException e) {
                throw new IllegalStateException(e);
              }
            },
            1);

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
      LlmProtocolBuilder target = llm.baseUrl(System.getProperty(property)).recordText();
      return Integer.getInteger("requests", 10) > 10
          ? target.assertions(llmGlobal().ttft().percentile(99).lt(0.0001))
          : target;
    }
  }
}
