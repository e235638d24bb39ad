package io.github.gatlingllm.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.simulations.Benchmark;
import io.github.gatlingllm.testing.GatlingRun;
import io.github.gatlingllm.testing.ScriptedServer;
import io.github.gatlingllm.testing.SelfSigned;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Certificates are verified by default. */
class TlsIT {

  private static final int REQUESTS = TlsSimulation.REQUESTS;
  private static final String REFUSED =
      "TLS failed: the server's certificate is not trusted; add its authority to the trust store,"
          + " or set verifyTls=false";

  @TempDir private Path folder;

  private ScriptedServer server;

  @BeforeEach
  void startServerWithSelfSignedCertificate() throws Exception {
    server =
        ScriptedServer.startTls(SelfSigned.sslContext(folder), exchange -> exchange.answer("Hi"));
  }

  @AfterEach
  void stopServer() throws Exception {
    server.close();
  }

  @Test
  void untrustedCertificateIsRefusedInOneLine() throws Exception {
    GatlingRun run =
        GatlingRun.of(Benchmark.class)
            .set("llm.endpoint", server.baseUrl() + "/v1")
            .set("llm.concurrency", 1)
            .set("llm.requests", REQUESTS)
            .set("llm.warmup", 0)
            .run();

    assertThat(server.requests()).isEmpty();
    assertThat(run.requests())
        .hasSize(REQUESTS)
        .extracting(record -> record.outcome().status(), record -> record.outcome().error())
        .containsOnly(tuple(RequestStatus.CONNECTION_ERROR, REFUSED));
  }

  @Test
  void trustStoreOfTheJvmIsUsedUnlessNothingIsVerified() throws Exception {
    try (ScriptedServer unknown =
        ScriptedServer.startTls(
            SelfSigned.sslContext(Files.createDirectory(folder.resolve("unknown"))),
            exchange -> exchange.answer("Hi"))) {
      GatlingRun run =
          GatlingRun.of(TlsSimulation.class)
              .set("trusted", server.baseUrl() + "/v1")
              .set("unverified", unknown.baseUrl() + "/v1")
              .set("javax.net.ssl.trustStore", folder.resolve("self-signed.p12"))
              .set("javax.net.ssl.trustStorePassword", "changeit")
              .succeed();

      assertThat(run.requests()).hasSize(2 * REQUESTS).allMatch(record -> record.outcome().ok());
    }
  }
}
