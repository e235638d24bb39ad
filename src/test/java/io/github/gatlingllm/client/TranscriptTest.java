package io.github.gatlingllm.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.gatling.http.client.Request;
import io.gatling.http.client.RequestBuilder;
import io.gatling.http.client.resolver.InetAddressNameResolver;
import io.gatling.http.client.uri.Uri;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.LoggerFactory;

/** That keys do not appear is tested in {@code SecretsIT}. */
class TranscriptTest {

  private final Logger logger = (Logger) LoggerFactory.getLogger("io.gatling.http.engine.response");
  private final ListAppender<ILoggingEvent> log = new ListAppender<>();
  private final Request request =
      new RequestBuilder(
              "llm",
              HttpMethod.POST,
              Uri.create("http://a/v1"),
              InetAddressNameResolver.JAVA_RESOLVER)
          .build();

  @BeforeEach
  void attachAppender() {
    log.start();
    logger.addAppender(log);
    logger.setAdditive(false);
  }

  @AfterEach
  void restoreLogger() {
    logger.detachAppender(log);
    logger.setAdditive(true);
    logger.setLevel(null);
  }

  @Test
  void noTranscriptIfTheLoggerIsOff() {
    logger.setLevel(Level.INFO);

    assertThat(Transcript.ifEnabled(request, Secrets.NONE)).isNull();
  }

  @ParameterizedTest
  @CsvSource({"DEBUG, DEBUG", "TRACE, 'TRACE, DEBUG'"})
  void debugLogsFailedRequestsOnlyAndTraceAll(String level, String logged) {
    logger.setLevel(Level.toLevel(level));
    exchange().log("well", "a session", null);
    exchange().log("chat", "a session", "HTTP 500: oops");

    assertThat(log.list.stream().map(each -> each.getLevel().toString()).collect(joining(", ")))
        .isEqualTo(logged);
    assertThat(log.list.get(log.list.size() - 1).getFormattedMessage())
        .contains("\nchat: KO HTTP 500: oops\n", "\na session\n", "\n\tHTTP/1.1 500\n");
  }

  @Test
  void longBodiesAreCut() {
    logger.setLevel(Level.TRACE);
    Transcript transcript = exchange();
    for (int i = 0; i < 10; i++) {
      transcript.body("x".repeat(10_000).getBytes(UTF_8), 0, 10_000);
    }
    transcript.log("well", "a session", null);

    assertThat(log.list.get(0).getFormattedMessage())
        .hasSizeBetween(64 * 1024, 65 * 1024)
        .contains("…\n<<<<");
  }

  @Test
  void commandsOfAServerAreBroken() {
    logger.setLevel(Level.TRACE);
    Transcript transcript = exchange();
    byte[] sent = "a\n::stop-commands::b\u001b[2J".getBytes(UTF_8);
    transcript.body(sent, 0, sent.length);
    transcript.log("well", "a session", null);

    assertThat(log.list.get(0).getFormattedMessage())
        .contains("\na\n: :stop-commands::b\\u001b[2J\n<<<<");
  }

  private Transcript exchange() {
    Transcript transcript = Transcript.ifEnabled(request, Secrets.NONE);
    assertThat(transcript).isNotNull();
    transcript.response("HTTP/1.1 500", new DefaultHttpHeaders());
    return transcript;
  }
}
