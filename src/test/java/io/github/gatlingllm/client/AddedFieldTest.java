package io.github.gatlingllm.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.client.Api.AddedField;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a server states of a field, and the next request. */
class AddedFieldTest {

  private static GenerationRequest request(
      Api api, @Nullable String body, Set<AddedField> rejected) {
    return GenerationRequest.of(api)
        .prompt("hi")
        .maxTokens(8)
        .ignoreEos(true)
        .without(rejected)
        .extra(body)
        .build();
  }

  private static @Nullable AddedField rejected(
      int status, String error, GenerationRequest request) {
    byte[] bytes = error.replace('\'', '"').replace('`', '\'').getBytes(UTF_8);
    String line =
        new ErrorBody(bytes, 0, bytes.length)
            .responseLine(status, "application/json", null, Secrets.NONE, request);
    assertThat(line.length()).isLessThanOrEqualTo(Secrets.MAX_LINE);
    return AddedField.rejectedBy(line);
  }

  /** Status, API, answer; then the row that it rejects, and fields that are sent no more. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      textBlock =
          """
          422 | chat | {'detail':[{'type':'extra_forbidden','loc':['body','stream_options'],\
          'msg':'Extra inputs are not permitted'}]} | USAGE | stream_options
          400 | chat | {'error':{'message':'ignore_eos: Extra inputs are not permitted'}} \
          | PINNING | ignore_eos,min_tokens
          400 | chat | {'error':{'message':'Unknown parameter','param':'stream_options',\
          'code':'unknown_parameter'}} | USAGE | stream_options
          400 | completions | {'error':'Unrecognized request argument supplied: min_tokens'} \
          | PINNING | ignore_eos,min_tokens
          422 | completions | {'detail':[{'loc':['body','stream_options','include_usage'],\
          'msg':'x'}]} | USAGE | stream_options
          400 | chat | {'message':'json: unknown field \\'stream_options\\''} | USAGE \
          | stream_options
          400 | chat | stream_options: unsupported | USAGE | stream_options
          400 | chat | {'error':{'message':'Unsupported parameter: `max_tokens` is not supported \
          with this model. Use `max_completion_tokens` instead.','param':'max_tokens'}} \
          | LIMIT_NAME | max_tokens
          400 | responses | {'detail':'Unsupported parameter: max_output_tokens'} | LIMIT \
          | max_output_tokens,min_tokens,ignore_eos
          400 | completions | {'error':{'message':'Additional properties: max_tokens'}} | LIMIT \
          | max_tokens,min_tokens,ignore_eos
          422 | chat | {'detail':[{'type':'missing','loc':['body','model'],'msg':'Field required',\
          'input':{'stream_options':{'include_usage':true},'ignore_eos':true}}]} | |
          400 | chat | {'error':{'message':'1 error: {`loc`: (`body`, `model`), `input`: \
          {`ignore_eos`: True, `stream_options`: {}}}'}} | |
          400 | chat | {'error':{'message':'max_tokens is too large: 8. This model supports at \
          most 4 completion tokens.'}} | |
          400 | chat | {'error':{'message':'`max_tokens` or `max_completion_tokens` is too large'}} \
          | |
          400 | messages | {'error':{'message':'max_tokens: Extra inputs are not permitted'}} | |
          400 | chat | {'error':{'message':'my_stream_options_x?'}} | |
          400 | responses | {'error':{'message':'Unknown parameter: stream_options'}} | |
          500 | chat | {'error':{'message':'stream_options: not permitted'}} | |
          """)
  void oneFieldIsLeftOut(
      int status, String key, String error, @Nullable AddedField field, @Nullable String absent)
      throws Exception {
    Api api = Api.of(key);
    GenerationRequest first = request(api, null, Set.of());

    assertThat(rejected(status, error, first)).isEqualTo(field);
    for (String name : absent == null ? new String[0] : absent.split(",", -1)) {
      assertThat(first.has(name)).as("sent before").isTrue();
      assertThat(request(api, null, Set.of(field)).has(name)).isFalse();
    }
  }

  @Test
  void limitIsRenamedAndThenLeftOut() {
    GenerationRequest renamed = request(Api.CHAT, null, Set.of(AddedField.LIMIT_NAME));
    assertThat(renamed.has("max_completion_tokens")).isTrue();
    assertThat(renamed.maxTokens()).isEqualTo(8);
    assertThat(rejected(400, "{'error':'unknown field max_completion_tokens'}", renamed))
        .isEqualTo(AddedField.LIMIT);
    GenerationRequest last = request(Api.CHAT, null, EnumSet.allOf(AddedField.class));
    assertThat(new String(last.toJson(), UTF_8))
        .isEqualTo("{\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}],\"stream\":true}");
    assertThat(rejected(400, "{'error':'unknown field max_completion_tokens'}", last)).isNull();
  }

  /** A server that rejects a field of a target's other API is sent what that API needs. */
  @Test
  void messagesKeepTheirLimit() {
    assertThat(request(Api.MESSAGES, null, EnumSet.allOf(AddedField.class)).maxTokens())
        .isEqualTo(8);
    assertThat(request(Api.COMPLETIONS, null, Set.of(AddedField.LIMIT_NAME)).has("max_tokens"))
        .isTrue();
  }

  /** Only what is ours: the error of the user's own field states where to take it out. */
  @Test
  void fieldsOfTheUsersBodyAreKept() {
    for (String name : List.of("stream_options", "ignore_eos", "max_tokens")) {
      GenerationRequest own =
          request(Api.CHAT, "{\"%s\":1}".formatted(name), EnumSet.allOf(AddedField.class));
      byte[] body =
          "{\"error\":\"%s: Extra inputs are not permitted\"}".formatted(name).getBytes(UTF_8);
      String line =
          new ErrorBody(body, 0, body.length).responseLine(422, null, null, Secrets.NONE, own);
      assertThat(own.has(name)).isTrue();
      assertThat(AddedField.rejectedBy(line)).isNull();
      assertThat(line).endsWith("; take " + name + " out of body (llm.body)");
    }
  }

  /** An error that names a field within another one names both. */
  @Test
  void innerFieldIsLeftOutFirst() {
    GenerationRequest withOptions =
        request(Api.CHAT, "{\"stream_options\":{\"include_usage\":true}}", Set.of());
    String error = "{'detail':[{'loc':['body','stream_options','continuous_usage_stats']}]}";
    assertThat(rejected(422, error, withOptions)).as("of the user's body").isNull();
    assertThat(rejected(422, error, request(Api.CHAT, null, Set.of()))).isEqualTo(AddedField.USAGE);
  }
}
