package io.github.gatlingllm.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.simulations.Benchmark;
import io.github.gatlingllm.storage.S3Server;
import io.github.gatlingllm.testing.GatlingRun;
import org.junit.jupiter.api.Test;

/** A run whose upload fails at its end; TokenizersIT has a successful one. */
class UploadIT {

  @Test
  void failedUploadIsOneLineAndExitCode1AndLosesNothing() throws Exception {
    try (S3Server s3 = new S3Server()) {
      s3.refusal = "403 AccessDenied";
      s3.refused = request -> request.startsWith("PUT");
      try (GatlingRun run =
          GatlingRun.of(Benchmark.class)
              .llm("concurrency=1 requests=4 upload=s3://bench/t")
              .set(s3.properties())
              .run()) {
        assertThat(run.exitCode()).as(run.output()).isEqualTo(1);
        assertThat(run.lines())
            .filteredOn(line -> line.startsWith("LLM upload"))
            .singleElement()
            .asString()
            .startsWith("LLM upload failed: s3://bench/t/" + run.info().id() + "-")
            .contains("/llm/requests.jsonl at http://127.0.0.1:", ": 403 AccessDenied; ")
            .contains(
                "the files are kept, copy them with: aws s3 cp --recursive %s s3://bench/t/%s-"
                    .formatted(run.files().folder().toAbsolutePath(), run.info().id()));
        assertThat(run.requests()).hasSize(4);
        assertThat(run.files().page()).isNotEmptyFile();
        assertThat(s3.objects).isEmpty();
      }
    }
  }
}
