package io.github.gatlingllm.e2e;

import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.storage.S3Server;
import io.github.gatlingllm.testing.GatlingRun;
import io.github.gatlingllm.workload.Tokenizer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
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
      String file = "hf:" + TokenizersSimulation.FILE;
      assertThat(run.info().config())
          .containsEntry("tokenizer", file + ",tiktoken:o200k_base")
          .containsEntry("tokenizer one", file)
          .containsEntry("tokenizer other", "tiktoken:o200k_base");
      assertThat(Files.readString(run.files().page())).contains(file + ",tiktoken:o200k_base");
      assertThat(run.output()).contains("targets have different tokenizers");
    }
  }

  private static boolean hasNoUsage(RequestRecord record) {
    return record.identity().target().equals(TokenizersSimulation.NO_USAGE);
  }

  /**
   * Its tokenizer counts nothing before the last prompt was sent: a user who waited for it would
   * wait forever.
   */
  @Test
  void usersDoNotWaitForCountingAndNoRecordIsLost() throws Exception {
    try (EmbeddedEngine usage = engine();
        EmbeddedEngine noUsage = engine();
        GatlingRun run =
            GatlingRun.of(TokenizersSimulation.class, usage.baseUrl())
                .set("withoutUsage", noUsage.baseUrl())
                .set("released", 20)
                .set("requests", 10)
                .succeed()) {
      assertThat(usage.requestsReceived()).isGreaterThanOrEqualTo(10);
      assertThat(noUsage.requestsReceived()).isGreaterThanOrEqualTo(10);
      assertThat(run.requests()).hasSizeGreaterThanOrEqualTo(20);
      assertThat(run.requests())
          .allSatisfy(
              record -> {
                assertThat(record.tokens().promptTokensLocal())
                    .isEqualTo(TokenizersSimulation.QUESTION.length());
                assertThat(record.tokens().source())
                    .isEqualTo(
                        hasNoUsage(record)
                            ? RequestRecord.TokenSource.TOKENIZER
                            : RequestRecord.TokenSource.USAGE);
              });
      assertThat(run.info().state()).isEqualTo(RunInfo.State.COMPLETE);
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
          .contains("percentile of TTFT is less than 1.0E-4 : false (actual : ");
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
                          hasNoUsage(record)
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
}
