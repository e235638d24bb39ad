package io.github.gatlingllm.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.gatlingllm.client.Api.FunctionCall;
import io.github.gatlingllm.client.Api.Message;
import io.github.gatlingllm.record.Timeline;
import io.github.gatlingllm.workload.Conversation;
import io.github.gatlingllm.workload.Conversation.Dialog;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a server answered, and the history of the next request, which every API has to accept. */
class HistoryTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  private static ReceivedAnswer answer(Api api, String events) {
    Timeline timeline = new Timeline(0, 0);
    timeline.admitted(0);
    ReceivedAnswer answer =
        new ReceivedAnswer(timeline, GenerationRequest.of(api).prompt("?").maxTokens(9).build());
    StringBuilder stream = new StringBuilder();
    for (String event : events.replace('\'', '"').split(" ;; ", -1)) {
      stream.append("data: ").append(event.strip()).append("\n\n");
    }
    byte[] bytes = stream.toString().getBytes(UTF_8);
    ResponseBody body = ResponseBody.ofEvents(answer);
    body.bytes(1, bytes, 0, bytes.length);
    body.end(1, false);
    return answer;
  }

  private static Conversation after(Conversation before, List<Message> input, ReceivedAnswer of) {
    return before.answered(input, Message.answer(of.text(), of.toolCalls()), 0, 0);
  }

  private static JsonNode sent(Api api, Conversation history) throws IOException {
    GenerationRequest request =
        GenerationRequest.of(api)
            .messages(history.withoutOpenCalls().messages())
            .message(Message.user("next"))
            .maxTokens(9)
            .build();
    return JSON.readTree(request.toJson()).path(api == Api.RESPONSES ? "input" : "messages");
  }

  /**
   * API, events of an answer that comes three times; the roles of the last request, and how many
   * calls a user is told of.
   */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      textBlock =
          """
          chat | {'choices':[{'delta':{'content':'Hi'},'finish_reason':'stop'}]} \
          | user assistant user assistant user assistant user | 0
          chat | {'choices':[{'delta':{'reasoning_content':'hm'},'finish_reason':'length'}]} | user | 0
          chat | {'choices':[{'delta':{'content':' \\n '},'finish_reason':'stop'}]} | user | 0
          chat | {'choices':[{'delta':{'refusal':'No.'},'finish_reason':'stop'}]} \
          | user assistant user assistant user assistant user | 0
          messages | {'type':'content_block_delta','index':0,'delta':{'type':'thinking_delta',\
          'thinking':'hm'}} ;; {'type':'message_delta','delta':{'stop_reason':'max_tokens'}} ;; \
          {'type':'message_stop'} | user | 0
          responses | {'type':'response.reasoning_text.delta','output_index':0,'delta':'hm'} ;; \
          {'type':'response.incomplete','response':{'status':'incomplete','output':[]}} | user | 0
          chat | {'choices':[{'delta':{'tool_calls':[{'index':0,'id':'c','function':{'name':'f',\
          'arguments':'{\\'q\\':\\'un'}}]},'finish_reason':'length'}]} | user | 0
          chat | {'choices':[{'delta':{'content':'Wait','tool_calls':[{'index':0,'id':'c',\
          'function':{'name':'f','arguments':'{\\'q'}}]},'finish_reason':'length'}]} \
          | user assistant user assistant user assistant user | 0
          chat | {'choices':[{'delta':{'tool_calls':[{'index':0,'id':'c','function':{'name':'f',\
          'arguments':'[1]'}}]},'finish_reason':'tool_calls'}]} | user | 0
          chat | {'choices':[{'delta':{'tool_calls':[{'index':0,'id':'c','function':{'name':'now',\
          'arguments':''}}]},'finish_reason':'tool_calls'}]} | user | 1
          """)
  void historyIsValid(String key, String events, String roles, int calls) throws IOException {
    Api api = Api.of(key);
    Conversation history = Conversation.of();
    for (int turn = 0; turn < 3; turn++) {
      ReceivedAnswer answer = answer(api, events);
      assertThat(answer.toolCalls()).hasSize(calls);
      history = after(history.withoutOpenCalls(), List.of(Message.user("why?")), answer);
    }
    assertThat(history.turns()).isEqualTo(3);
    List<String> found = new ArrayList<>();
    for (JsonNode message : sent(api, history)) {
      found.add(message.path("role").asText());
      assertThat(message.path("content").asText()).isNotBlank();
    }
    assertThat(String.join(" ", found)).isEqualTo(roles);
  }

  /** An agent sends results of the calls that it is told of; a call that is cut off is none. */
  @Test
  void completeCallOfTwoGoesBackWithItsResult() throws IOException {
    ReceivedAnswer two =
        answer(
            Api.CHAT,
            "{'choices':[{'delta':{'tool_calls':[{'index':0,'id':'a','function':{'name':'f',"
                + "'arguments':''}},{'index':1,'id':'b','function':{'name':'f','arguments':'{'}}]},"
                + "'finish_reason':'length'}]}");
    assertThat(two.toolCalls()).containsExactly(new FunctionCall("a", "f", "{}"));
    Conversation history =
        after(Conversation.of(), List.of(Message.user("why?")), two)
            .answered(List.of(Message.tool("a", "42")), Message.assistant("Because."), 0, 0);
    for (Api api : List.of(Api.CHAT, Api.MESSAGES, Api.RESPONSES)) {
      assertThat(sent(api, history)).hasSize(5);
    }
    assertThat(sent(Api.CHAT, history).at("/1/tool_calls/0/function/arguments").asText())
        .isEqualTo("{}");
  }

  /** Results that no text follows leave with the call that they answer. */
  @Test
  void blankAnswerToAResultLeavesNoOpenCall() throws IOException {
    FunctionCall call = new FunctionCall("a", "f", "{}");
    Conversation history =
        Conversation.of(Message.system("Be brief."))
            .answered(List.of(Message.user("1?")), Message.answer("", List.of(call)), 0, 0)
            .answered(List.of(Message.tool("a", "42")), Message.assistant(" "), 0, 0);
    assertThat(sent(Api.CHAT, history).findValuesAsText("role")).containsExactly("system", "user");
    Conversation twice =
        Conversation.of()
            .answered(List.of(Message.user("1?")), Message.assistant("Yes."), 0, 0)
            .answered(List.of(Message.user("2?")), Message.answer("", List.of(call)), 0, 0)
            .answered(List.of(Message.tool("a", "42")), Message.answer("", List.of(call)), 0, 0);
    assertThat(sent(Api.CHAT, twice).findValuesAsText("role"))
        .containsExactly("user", "assistant", "user");
  }

  /** The instruction of a first request stays although its turn does not. */
  @Test
  void instructionsAreKept() throws IOException {
    Conversation history =
        Conversation.of()
            .answered(
                List.of(Message.system("Be brief."), Message.user("1?")),
                Message.assistant(""),
                0,
                0);
    assertThat(sent(Api.CHAT, history).findValuesAsText("role")).containsExactly("system", "user");
    assertThat(history.remembers(Conversation.of())).isFalse();
  }

  /** A recorded dialog whose tool turn follows what the model really answered. */
  @ParameterizedTest
  @CsvSource({"a, ", "b, the model did not call the tool whose result is recorded"})
  void recordedResultNeedsItsCall(String id, @Nullable String reason) {
    Dialog dialog =
        Dialog.of(
            List.of(
                Message.user("why?"),
                Message.answer("", List.of(new FunctionCall("a", "f", "{}"))),
                Message.tool("a", "42"),
                Message.assistant("Because.")));
    Conversation history =
        Conversation.of(dialog, false, null, null)
            .answered(
                List.of(Message.user("why?")),
                Message.answer("", List.of(new FunctionCall(id, "f", "{}"))),
                0,
                0);
    assertThat(history.reasonNotToSend(history.nextQuestion(), 9)).isEqualTo(reason);
  }
}
