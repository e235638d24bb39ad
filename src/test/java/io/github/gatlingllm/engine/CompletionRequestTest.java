package io.github.gatlingllm.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gatlingllm.client.Api;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class CompletionRequestTest {

  @Test
  void everyParameterIsRead() {
    CompletionRequest request =
        Requests.chat(
            """
            {"model":"m","max_tokens":9,"min_tokens":3,"ignore_eos":true,"stream":true,
             "stream_options":{"include_usage":true},"seed":5,"priority":-2,
             "temperature":0.7,"n":2,"tools":null,%s}
            """);
    assertThat(request)
        .isEqualTo(
            new CompletionRequest(
                Api.CHAT, "m", request.prompt(), 9, 3, true, true, true, 2, false, null, 5, -2));
    assertThat(request.prompt().tokens()).isEqualTo(3); // 12 characters
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{'messages':[{'role':'user','content':'12345'}]} | 2",
        "{'messages':[{'role':'user','content':'1234'},{'role':'user','content':'12345678'}]} | 3",
        "{'messages':[{'role':'user','content':''}]} | 1",
        "{'messages':[{'role':'assistant','content':null},{'role':'user','content':'1234'}]} | 1",
        "{'messages':[{'role':'user','content':[{'type':'text','text':'12345678'}]}]} | 2",
        "{'prompt':'123456789'} | 3",
        "{'prompt':['123456789']} | 3",
        "{'prompt':[1,2,3,4,5]} | 5",
      })
  void promptIsCounted(String json, int tokens) throws Refusal {
    Api api = json.contains("prompt") ? Api.COMPLETIONS : Api.CHAT;
    assertThat(Requests.parse(api, json.replace('\'', '"')).prompt().tokens()).isEqualTo(tokens);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "nonsense | Invalid JSON in the body; expected one JSON object",
        "[] | The body is not a JSON object; expected one JSON object",
        "'' | The body is not a JSON object; expected one JSON object",
        "{} | messages are missing; expected a non-empty array",
        "{'messages':[]} | messages are missing; expected a non-empty array",
        "{'messages':[{'content':'a'}]} | A message has no role; expected role and content",
        "{'messages':[{'role':'user'}]} | The prompt is missing or no text; this engine reads text"
            + " and image_url parts",
        "{'n':0,%s} | n is wrong; expected an integer of at least 1",
        "{'n':129,%s} | n is 129; expected 1 to 128",
        "{'max_tokens':0,%s} | max_tokens is wrong; expected an integer of at least 1",
        "{'max_tokens':'9',%s} | max_tokens is wrong; expected an integer of at least 1",
        "{'max_tokens':1.5,%s} | max_tokens is wrong; expected an integer of at least 1",
        "{'seed':1.5,%s} | seed is wrong; expected an integer",
        "{'max_tokens':5,'min_tokens':6,%s} | min_tokens 6 is above max_tokens 5",
        "{'stream':1,%s} | stream is wrong; expected true or false",
        "{'stream_options':{},%s} | stream_options need stream: true",
        "{'model':1,%s} | model is wrong; expected a text",
      })
  void wrongRequestIsRejectedWithOneLine(String json, String message) {
    String body = json.replace("%s", Requests.PROMPT).replace('\'', '"');
    assertThatThrownBy(() -> Requests.parse(Api.CHAT, body))
        .isInstanceOfSatisfying(
            Refusal.class, refusal -> assertThat(refusal.status()).isEqualTo(400))
        .hasMessage(message);
  }

  @Test
  void apiWithTypedEventsGivesOneChoice() throws Refusal {
    String body = "{\"input\":\"Hello\",\"n\":%s}";
    assertThat(Requests.parse(Api.RESPONSES, body.formatted(1)).choices()).isEqualTo(1);
    assertThatThrownBy(() -> Requests.parse(Api.RESPONSES, body.formatted(2)))
        .isInstanceOf(Refusal.class)
        .hasMessage("n is 2; this API gives one answer, omit n");
  }
}
