package io.github.gatlingllm.client;

import static io.github.gatlingllm.client.HeldServer.row;
import static io.github.gatlingllm.client.HeldServer.tokens;

import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Fields that carry text, in the forms of many servers. */
final class TextFieldsTest {

  private static String thinking(String text) {
    return "{'content':[{'type':'thinking','thinking':[{'type':'text','text':'" + text + "'}]}]}";
  }

  /** Fields that carry text. */
  static Stream<Arguments> texts() {
    String item =
        "{'type':'function_call','id':'fc1','call_id':'call_1','name':'f','arguments':'{\\\"q\\\":1}'}";
    return Stream.of(
        row("good", "complete 10 10 20 20 20.0 []", s -> s.words(10).end(tokens(10))),
        row(
            "a list of thinking",
            "complete 35 35 20 620 20.0 []",
            s -> s.deltas(30, thinking("step ")).words(5).end(tokens(35))),
        row(
            "thinking only",
            "complete 30 30 20 null 20.0 []",
            s -> s.deltas(30, thinking("step ")).end(tokens(30))),
        row(
            "custom tool calls",
            "complete 10 10 20 20 20.0 []",
            s ->
                s.deltas(
                        1,
                        "{'tool_calls':[{'index':0,'id':'c1','type':'custom',"
                            + "'custom':{'name':'sh','input':'ls '}}]}")
                    .deltas(9, "{'tool_calls':[{'index':0,'custom':{'input':'x '}}]}")
                    .end(tokens(10))),
        row(
            "the old call of a function",
            "complete 3 3 20 20 20.0 []",
            s ->
                s.deltas(1, "{'function_call':{'name':'f','arguments':''}}")
                    .deltas(2, "{'function_call':{'arguments':'{}'}}")
                    .end(tokens(3))),
        row(
            "OpenRouter: reasoning twice in each delta",
            "complete 4 4 20 80 20.0 []",
            s ->
                s.deltas(
                        3,
                        "{'reasoning':'hm','reasoning_details':"
                            + "[{'type':'reasoning.text','text':'hm','signature':'s'}]}")
                    .words(1)
                    .end(tokens(4))),
        row(
            "audio with a transcript",
            "complete 3 3 40 40 20.0 []",
            s ->
                s.deltas(1, "{'audio':{'id':'a','data':'AAAA'}}")
                    .deltas(3, "{'audio':{'transcript':'word '}}")
                    .end(tokens(3))),
        row(
            "a refusal only in the final message",
            "complete 1 7 40 40 null []",
            s ->
                s.deltas(1, "{'role':'assistant','content':''}")
                    .pause(20)
                    .event(
                        "{'choices':[{'index':0,'message':{'refusal':'No.'},'finish_reason':'stop'}]}")
                    .end(tokens(7))),
        row(
            "a final message that repeats the deltas",
            "complete 5 5 20 20 20.0 []",
            s ->
                s.words(5)
                    .pause(500)
                    .event(
                        "{'choices':[{'index':0,'delta':{},'message':{'content':'word word'},"
                            + "'finish_reason':'stop'}]}")
                    .end(tokens(5))),
        row(
            "an unknown field",
            "complete 5 5 20 20 20.0 [] unknown [output_words]",
            s -> s.deltas(5, "{'role':'assistant','output_words':'word '}").end(tokens(5))),
        row(
            "an unknown field beside a known one",
            "complete 5 5 20 20 20.0 []",
            s -> s.deltas(5, "{'content':'word ','mood':'calm'}").end(tokens(5))),
        row(
            Api.RESPONSES,
            "text only at its end",
            "complete 1 10 1000 1000 null []",
            s ->
                s.event("{'type':'response.created','response':{'status':'in_progress'}}")
                    .pause(1_000)
                    .event("{'type':'response.output_text.done','output_index':0,'text':'a b'}")
                    .pause(20)
                    .event(completed("{'type':'message','content':[" + part("a b") + "]}", 10))),
        row(
            Api.RESPONSES,
            "text only in the response",
            "complete 1 10 1000 1000 null [10]",
            s ->
                s.pause(1_000)
                    .event(completed("{'type':'message','content':[" + part("a b") + "]}", 10))),
        row(
            Api.RESPONSES,
            "a call only at its end",
            "complete 1 10 1000 1000 null []",
            s ->
                s.pause(1_000)
                    .event(
                        "{'type':'response.output_item.done','output_index':0,'item':" + item + "}")
                    .pause(20)
                    .event(completed(item, 10))),
        row(
            Api.RESPONSES,
            "a refusal only at its end",
            "complete 1 2 20 20 null []",
            s ->
                s.pause(20)
                    .event("{'type':'response.refusal.done','output_index':0,'refusal':'no'}")
                    .pause(1)
                    .event(completed("", 2))),
        row(
            Api.RESPONSES,
            "deltas and all that repeats them",
            "complete 10 10 20 20 20.0 []",
            s -> {
              for (int i = 0; i < 10; i++) {
                s.pause(20)
                    .event(
                        "{'type':'response.output_text.delta','output_index':0,'delta':'word%d '}"
                            .formatted(i));
              }
              String message = "{'type':'message','content':[" + part("words") + "]}";
              s.pause(50)
                  .event("{'type':'response.output_text.done','output_index':0,'text':'words'}")
                  .event(
                      "{'type':'response.content_part.done','output_index':0,'part':"
                          + part("words")
                          + "}")
                  .event(
                      "{'type':'response.output_item.done','output_index':0,'item':"
                          + message
                          + "}")
                  .event(completed(message, 10));
            }),
        row(
            Api.RESPONSES,
            "deltas of a transcript, an unknown kind, and sound",
            "complete 2 2 20 20 20.0 [] unknown [response.poem.delta]",
            s ->
                s.pause(20)
                    .event("{'type':'response.output_audio_transcript.delta','delta':'a'}")
                    .pause(20)
                    .event("{'type':'response.poem.delta','delta':'a'}")
                    .pause(20)
                    .event("{'type':'response.output_audio.delta','delta':'AAAA'}")
                    .event(completed("", 2))),
        row(
            Api.MESSAGES,
            "an unknown delta",
            "complete 2 2 20 20 20.0 [] unknown [verse]",
            s ->
                s.pause(20)
                    .event(
                        "{'type':'content_block_delta','delta':{'type':'verse_delta','verse':'a'}}")
                    .pause(20)
                    .event(
                        "{'type':'content_block_delta','delta':{'type':'text_delta','text':'a'}}")
                    .event("{'type':'content_block_delta','delta':{'type':'x','signature':'s'}}")
                    .event(
                        "{'type':'message_delta','delta':{'stop_reason':'end_turn'},"
                            + "'usage':{'output_tokens':2}}")
                    .event("{'type':'message_stop'}")));
  }

  private static String part(String text) {
    return "{'type':'output_text','text':'" + text + "'}";
  }

  private static String completed(String item, int tokens) {
    return "{'type':'response.completed','response':{'object':'response','status':'completed',"
        + "'output':[%s],'usage':{'input_tokens':12,'output_tokens':%d}}}".formatted(item, tokens);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("texts")
  void measures(String name, Api api, int choices, String expected, Consumer<HeldServer> script) {
    HeldServer.assertMeasured(api, choices, expected, script);
  }
}
