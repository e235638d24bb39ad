package io.github.gatlingllm.client;

import static io.github.gatlingllm.client.HeldServer.REASONING;
import static io.github.gatlingllm.client.HeldServer.row;
import static io.github.gatlingllm.client.HeldServer.tokens;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.client.StreamedExchange.Ending;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Counts and errors in the forms of many servers. */
final class TokenCountsTest {

  /** Usage in the names and with the sums of other servers: prompt, cached, output, reasoning. */
  static Stream<Arguments> usages() {
    return Stream.of(
        row(
            "xAI: reasoning beside the output, not streamed",
            "complete 2 2 3020 3020 20.0 [] usage 12 null 319 317",
            s ->
                s.pause(3_000)
                    .words(2)
                    .end(tokens(2) + ",'total_tokens':331," + REASONING.formatted(317))),
        row(
            "xAI: reasoning beside the output, streamed",
            "complete 319 319 20 6360 20.0 [] usage 12 null 319 317",
            s ->
                s.deltas(317, "{'reasoning_content':'hm '}")
                    .words(2)
                    .end(tokens(2) + ",'total_tokens':331," + REASONING.formatted(317))),
        row(
            "OpenAI: reasoning in the output, not streamed",
            "complete 2 2 1020 1020 20.0 [] usage 12 null 319 317",
            s ->
                s.pause(1_000)
                    .words(2)
                    .end(tokens(319) + ",'total_tokens':331," + REASONING.formatted(317))),
        row(
            "Gemini: thoughts beside the output",
            "complete 2 2 20 20 20.0 [] usage 12 null 52 50",
            s ->
                s.words(2)
                    .end("'candidatesTokenCount':2,'thoughtsTokenCount':50,'totalTokenCount':64")),
        row(
            "more reasoning than output, without a total",
            "complete 2 2 20 20 20.0 [] usage 12 null 2 null refused [reasoning_tokens]",
            s -> s.words(2).end(tokens(2) + "," + REASONING.formatted(50))),
        row(
            "a total that nothing explains",
            "complete 2 2 20 20 20.0 [] usage 12 null 2 null refused [total_tokens]",
            s -> s.words(2).end(tokens(2) + ",'total_tokens':64")),
        row(
            "more cached than prompt",
            "complete 2 2 20 20 20.0 [] usage 12 null 2 null refused [cached_tokens]",
            s -> s.words(2).end(tokens(2) + ",'prompt_tokens_details':{'cached_tokens':13}")),
        row(
            "DeepSeek: a cache hit",
            "complete 2 2 20 20 20.0 [] usage 12 8 2 null",
            s ->
                s.words(2)
                    .end(tokens(2) + ",'prompt_cache_hit_tokens':8,'prompt_cache_miss_tokens':4")),
        row(
            "a gateway: Anthropic's cache in a chat",
            "complete 2 2 20 20 20.0 [] usage 12 8 2 null",
            s -> s.words(2).end(tokens(2) + ",'cache_read_input_tokens':8,'total_tokens':14")),
        row(
            "input and output tokens in a chat",
            "complete 2 1 20 20 null [] usage 12 8 2 1",
            s ->
                s.words(2)
                    .end(
                        "'output_tokens':2,'input_tokens_details':{'cached_tokens':8},"
                            + "'output_tokens_details':{'thinking_tokens':1}")),
        row(
            "Groq: usage beside the finish",
            "complete 2 2 20 20 20.0 [] usage 12 null 2 null",
            s ->
                s.words(2)
                    .event(
                        "{'choices':[{'index':0,'delta':{},'finish_reason':'stop'}],'x_groq':"
                            + "{'usage':{'prompt_tokens':12,'completion_tokens':2,'total_tokens':14}}}")
                    .end()),
        row(
            "cached tokens beside the prompt, as the total states",
            "complete 2 2 20 20 20.0 [] usage 20 8 2 null",
            s -> s.words(2).end(tokens(2) + ",'cache_read_input_tokens':8,'total_tokens':22")),
        row(
            "less output than events",
            "complete 10 null 20 20 null [] usage 12 null null null refused [completion_tokens]",
            s -> s.words(10).end(tokens(2))),
        row(
            Api.MESSAGES,
            "the cache beside the input",
            "complete 1 1 20 20 null [] usage 1200 1000 1 null",
            s ->
                s.event(
                        "{'type':'message_start','message':{'usage':"
                            + "{'input_tokens':200,'cache_read_input_tokens':1000,"
                            + "'output_tokens':1}}}")
                    .pause(20)
                    .event("{'type':'content_block_delta','delta':{'text':'a'}}")
                    .event(
                        "{'type':'message_delta','delta':{'stop_reason':'end_turn'},"
                            + "'usage':{'output_tokens':1}}")
                    .event("{'type':'message_stop'}")),
        row(
            Api.MESSAGES,
            "input of 0 first, and the true one at the end",
            "complete 1 1 20 20 null [] usage 1200 null 1 null",
            s ->
                s.event(
                        "{'type':'message_start','message':{'usage':"
                            + "{'input_tokens':0,'output_tokens':1}}}")
                    .pause(20)
                    .event(
                        "{'type':'content_block_delta','delta':{'type':'text_delta','text':'a'}}")
                    .event(
                        "{'type':'message_delta','delta':{'stop_reason':'end_turn'},"
                            + "'usage':{'input_tokens':1200,'output_tokens':1}}")
                    .event("{'type':'message_stop'}")));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("usages")
  void measures(String name, Api api, int choices, String expected, Consumer<HeldServer> script) {
    HeldServer.assertMeasured(api, choices, expected, script);
  }

  /** Errors inside a 200: what the server states, the status, and the text of the error. */
  static Stream<Arguments> errors() {
    String limited = "rate_limited";
    String error = "in_stream_error";
    return Stream.of(
        Arguments.of(
            "{'error':{'code':429,'message':'Provider returned"
                + " error','metadata':{'provider_name':'X','raw':'{\\\"error\\\":{\\\"message\\\":\\\"Too"
                + " fast\\\"}}'}},"
                + "'choices':[{'index':0,'delta':{'content':''},'finish_reason':'error'}]}",
            limited,
            "Provider returned error (429): Too fast"),
        Arguments.of("{'error':{'code':'429','message':'m'}}", limited, "m (429)"),
        Arguments.of(
            "{'error':{'code':8,'status':'RESOURCE_EXHAUSTED','message':'m'}}",
            limited,
            "m (8 RESOURCE_EXHAUSTED)"),
        Arguments.of(
            "{'error':{'type':'insufficient_quota','message':'m'}}",
            limited,
            "m (insufficient_quota)"),
        Arguments.of(
            "{'error':{'type':'rate_limit_error','message':'m'}}", limited, "m (rate_limit_error)"),
        Arguments.of("{'error':'Rate limit exceeded'}", limited, "Rate limit exceeded"),
        Arguments.of(
            "{'error':{'type':'overloaded_error','message':'m'}}", error, "m (overloaded_error)"),
        Arguments.of("{'error':{'code':502,'message':'m 429'}}", error, "m 429 (502)"),
        Arguments.of("{'error':{'message':'no rate was given'}}", error, "no rate was given"));
  }

  @ParameterizedTest
  @MethodSource("errors")
  void errorsInsideOfA200HaveTheirStatus(String json, String status, String text) {
    HeldServer server = new HeldServer(Api.CHAT, 1).raw(": PROCESSING\n\n").event(json);
    assertThat(server.ended())
        .extracting(end -> end.status().key(), Ending::error)
        .containsExactly(status, text);
  }
}
