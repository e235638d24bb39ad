package io.github.gatlingllm.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ErrorBodyTest {

  private static final String JSON = "application/json";
  private static final String KEY = "my-secret-key";
  private static final GenerationRequest PINNED =
      GenerationRequest.of(Api.CHAT).prompt("hi").maxTokens(8).ignoreEos(true).build();
  private static final String REMEDY = "; set ignoreEos=false (llm.ignoreEos)";

  /** Status, content type, Retry-After and body; single quotes of a JSON body are double ones. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          400 | application/json |  | {'error':{'message':'bad\\nvalue'}} | HTTP 400: bad value
          401 | application/json |  | {'error':'no key'} | HTTP 401: no key
          401 | application/json |  | {'error':{'message':'wrong key my-secret-key.'}} | HTTP \
          401: wrong key ***.
          401 | application/json |  | {'error':{'message':'Incorrect API key provided: \
          sk-proj-abc123XYZ. See docs'}} | HTTP 401: Incorrect API key provided: *** See docs
          401 | application/json |  | {'message':'got Bearer abcdefgh'} | HTTP 401: got ***
          404 | application/json |  | {'detail':'Not Found'} | HTTP 404: Not Found
          404 | application/json |  | {'object':'error','message':'no model x'} | HTTP 404: no \
          model x
          413 | application/json |  | {'error':{'message':null,'code':413}} | HTTP 413: \
          {"message":null,"code":413}
          422 | application/json |  | {'detail':[{'type':'missing','loc':['body','model'],\
          'msg':'Field required'}]} | HTTP 422: Field required (body.model)
          429 | application/json | 20 | {'error':{'message':'slow'}} | HTTP 429: slow; retry \
          after 20
          429 | text/plain | Wed, 21 Oct 2026 07:28:00 GMT | slow down | HTTP 429: slow down; \
          retry after Wed, 21 Oct 2026 07:28:00 GMT
          429 |  | ` ` | `` | HTTP 429: empty body
          500 | text/plain |  | `Internal Server Error\n` | HTTP 500: Internal Server Error
          502 | text/html |  | `<html>\n<head><title>502 Bad\n \
          Gateway</title></head><body>nginx</body></html>` | HTTP 502: 502 Bad Gateway
          502 |  |  | ` <!DOCTYPE html><p>x` | HTTP 502: HTML page without a title
          503 | application/json |  | {'error':{'code':503,'message':'Loading model',\
          'type':'unavailable_error'}} | HTTP 503: Loading model
          529 | application/json |  | {'type':'error','error':{'type':'overloaded_error',\
          'message':'Overloaded'}} | HTTP 529: Overloaded
          400 | application/json |  | {'error': cut | HTTP 400: {"error": cut
          # pinning refused
          400 | application/json |  | {'error':{'message':'Unrecognized request argument: \
          ignore_eos'}} | HTTP 400: Unrecognized request argument: ignore_eos; set \
          ignoreEos=false (llm.ignoreEos)
          400 | application/json |  | {'error':{'message':'min_tokens?'}} | HTTP 400: \
          min_tokens?; set ignoreEos=false (llm.ignoreEos)
          422 | application/json |  | {'detail':[{'loc':['body','ignore_eos'],'msg':'Extra \
          inputs are not permitted'}]} | HTTP 422: Extra inputs are not permitted \
          (body.ignore_eos); set ignoreEos=false (llm.ignoreEos)
          500 | application/json |  | {'error':'ignore_eos'} | HTTP 500: ignore_eos
          """)
  void responseTable(
      int status,
      @Nullable String contentType,
      @Nullable String retryAfter,
      String body,
      String line) {
    byte[] bytes = (body.startsWith("{") ? body.replace('\'', '"') : body).getBytes(UTF_8);
    assertThat(
            new ErrorBody(bytes, 0, bytes.length)
                .responseLine(status, contentType, retryAfter, Secrets.of(List.of(KEY)), PINNED))
        .isEqualTo(line);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'error':{'message':'too many tokens','code':'context_length_exceeded'}}",
        "{'message':'This model maximum context length is 4096 tokens. However, you'}",
        "{'error':'The decoder prompt (length 9) is longer than the maximum model length of 8.'}",
        "{'message':'The input (9 tokens) is longer than the model context length (8).'}",
        "{'error':{'type':'exceed_context_size_error','message':'exceeds the available size'}}",
        "{'error':{'message':'prompt is too long: 200001 tokens > 200000 maximum'}}",
        "{'error':'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096'}",
        "{'error':{'message':'The input token count (9) exceeds the maximum number of tokens'}}",
      })
  void serversRefuseWhatIsLongerThanTheirContext(String body) {
    assertThat(ErrorBody.isContextExceeded(body.replace('\'', '"'))).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'error':'Request Entity Too Large'}",
        "{'error':{'message':'max_tokens must be at least 1'}}",
        "{'detail':[{'msg':'bad','input':{'prompt':'what is a context length?'}}]}",
      })
  void otherRefusalsAreNotAboutTheContext(String body) {
    assertThat(ErrorBody.isContextExceeded(body.replace('\'', '"'))).isFalse();
  }

  @Test
  void longMessageLeavesRoomForTheRemedy() {
    byte[] body = ("{\"error\":\"ignore_eos " + "x".repeat(5000) + "\"}").getBytes(UTF_8);
    String line =
        new ErrorBody(body, 0, body.length)
            .responseLine(400, JSON, "2".repeat(300), Secrets.NONE, PINNED);
    assertThat(line)
        .hasSize(Secrets.MAX_LINE)
        .startsWith("HTTP 400: ignore_eos xxx")
        .contains("x…; retry after 222")
        .endsWith(REMEDY);
  }
}
