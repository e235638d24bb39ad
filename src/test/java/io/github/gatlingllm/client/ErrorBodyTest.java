package io.github.gatlingllm.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class ErrorBodyTest {

  private static final String JSON = "application/json";
  private static final String KEY = "my-secret-key";
  private static final String REMEDY = "; set ignoreEos=false (llm.ignoreEos)";

  private static Arguments json(int status, String body, String line) {
    return arguments(status, JSON, null, body.replace('\'', '"'), line);
  }

  static Stream<Arguments> responses() {
    return Stream.of(
        json(400, "{'error':{'message':'bad\\nvalue'}}", "HTTP 400: bad value"),
        json(401, "{'error':'no key'}", "HTTP 401: no key"),
        json(401, "{'error':{'message':'wrong key my-secret-key.'}}", "HTTP 401: wrong key ***."),
        json(
            401,
            "{'error':{'message':'Incorrect API key provided: sk-proj-abc123XYZ. See docs'}}",
            "HTTP 401: Incorrect API key provided: *** See docs"),
        json(401, "{'message':'got Bearer abcdefgh'}", "HTTP 401: got ***"),
        json(404, "{'detail':'Not Found'}", "HTTP 404: Not Found"),
        json(404, "{'object':'error','message':'no model x'}", "HTTP 404: no model x"),
        json(
            413,
            "{'error':{'message':null,'code':413}}",
            "HTTP 413: {\"message\":null,\"code\":413}"),
        json(
            422,
            "{'detail':[{'type':'missing','loc':['body','model'],'msg':'Field required'}]}",
            "HTTP 422: Field required (body.model)"),
        arguments(
            429,
            JSON,
            "20",
            "{\"error\":{\"message\":\"slow\"}}",
            "HTTP 429: slow; retry after 20"),
        arguments(
            429,
            "text/plain",
            "Wed, 21 Oct 2026 07:28:00 GMT",
            "slow down",
            "HTTP 429: slow down; retry after Wed, 21 Oct 2026 07:28:00 GMT"),
        arguments(429, null, " ", "", "HTTP 429: empty body"),
        arguments(
            500, "text/plain", null, "Internal Server Error\n", "HTTP 500: Internal Server Error"),
        arguments(
            502,
            "text/html",
            null,
            "<html>\n<head><title>502 Bad\n Gateway</title></head><body>nginx</body></html>",
            "HTTP 502: 502 Bad Gateway"),
        arguments(502, null, null, " <!DOCTYPE html><p>x", "HTTP 502: HTML page without a title"),
        json(
            503,
            "{'error':{'code':503,'message':'Loading model','type':'unavailable_error'}}",
            "HTTP 503: Loading model"),
        json(
            529,
            "{'type':'error','error':{'type':'overloaded_error','message':'Overloaded'}}",
            "HTTP 529: Overloaded"),
        arguments(400, JSON, null, "{\"error\": cut", "HTTP 400: {\"error\": cut"),
        // pinning refused
        json(
            400,
            "{'error':{'message':'Unrecognized request argument: ignore_eos'}}",
            "HTTP 400: Unrecognized request argument: ignore_eos" + REMEDY),
        json(400, "{'error':{'message':'min_tokens?'}}", "HTTP 400: min_tokens?" + REMEDY),
        json(
            422,
            "{'detail':[{'loc':['body','ignore_eos'],'msg':'Extra inputs are not permitted'}]}",
            "HTTP 422: Extra inputs are not permitted (body.ignore_eos)" + REMEDY),
        json(500, "{'error':'ignore_eos'}", "HTTP 500: ignore_eos"));
  }

  @ParameterizedTest
  @MethodSource("responses")
  void responseTable(
      int status,
      @Nullable String contentType,
      @Nullable String retryAfter,
      String body,
      String line) {
    assertThat(
            ErrorBody.message(
                status, contentType, retryAfter, body.getBytes(UTF_8), Secrets.of(List.of(KEY))))
        .isEqualTo(line);
  }

  @Test
  void longMessageLeavesRoomForTheRemedy() {
    byte[] body = ("{\"error\":\"ignore_eos " + "x".repeat(5000) + "\"}").getBytes(UTF_8);
    String line = ErrorBody.message(400, JSON, "2".repeat(300), body, Secrets.NONE);
    assertThat(line)
        .hasSize(Secrets.MAX_LINE)
        .startsWith("HTTP 400: ignore_eos xxx")
        .contains("x…; retry after 222")
        .endsWith(REMEDY);
  }
}
