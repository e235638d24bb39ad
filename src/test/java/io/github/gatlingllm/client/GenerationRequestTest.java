package io.github.gatlingllm.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.gatlingllm.client.Api.Message;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class GenerationRequestTest {

  private static final String HI = "'messages':[{'role':'user','content':'hi'}]";
  private static final String STREAM = ",'stream':true,'stream_options':{'include_usage':true}";

  private static Arguments chat(
      String name, UnaryOperator<GenerationRequest.Builder> settings, String json) {
    return arguments(name, settings.apply(GenerationRequest.of(Api.CHAT)), json);
  }

  static Stream<Arguments> bodies() {
    return Stream.of(
        chat("prompt", b -> b.prompt("hi"), "{" + HI + STREAM + "}"),
        chat("message", b -> b.message(Message.user("hi")), "{" + HI + STREAM + "}"),
        chat(
            "raw messages",
            b -> b.messagesJson("[{\"role\":\"user\",\"content\":\"hi\"}]"),
            "{" + HI + STREAM + "}"),
        arguments(
            "completions",
            GenerationRequest.of(Api.COMPLETIONS).model("m").prompt("hi"),
            "{'model':'m','prompt':'hi'" + STREAM + "}"),
        chat("not streamed", b -> b.prompt("hi").stream(false), "{" + HI + ",'stream':false}"),
        chat(
            "no usage",
            b -> b.prompt("hi").includeUsage(false, true),
            "{" + HI + ",'stream':true}"),
        chat(
            "usage in events",
            b -> b.prompt("hi").includeUsage(true, true),
            "{"
                + HI
                + ",'stream':true,'stream_options':{'include_usage':true,"
                + "'continuous_usage_stats':true}}"),
        chat("limit", b -> b.prompt("hi").maxTokens(128), "{" + HI + STREAM + ",'max_tokens':128}"),
        chat(
            "pinned",
            b -> b.prompt("hi").maxTokens(128).ignoreEos(true),
            "{" + HI + STREAM + ",'max_tokens':128,'ignore_eos':true,'min_tokens':128}"),
        chat(
            "pinned without limit",
            b -> b.prompt("hi").ignoreEos(true),
            "{" + HI + STREAM + ",'ignore_eos':true}"),
        chat(
            "sampling",
            b ->
                b.prompt("hi")
                    .parameter("temperature", 0.0)
                    .parameter("top_p", 0.95)
                    .parameter("seed", 7L)
                    .parameter("n", 2)
                    .stop(List.of("a", "b")),
            "{'temperature':0.0,'top_p':0.95,'seed':7,'n':2,'stop':['a','b']," + HI + STREAM + "}"),
        chat(
            "tools",
            b ->
                b.prompt("hi")
                    .tools("[{\"type\":\"function\"}]")
                    .toolChoice("\"auto\"")
                    .responseFormat("{\"type\":\"json_object\"}"),
            "{'tools':[{'type':'function'}],'tool_choice':'auto',"
                + "'response_format':{'type':'json_object'},"
                + HI
                + STREAM
                + "}"),
        chat(
            "conversation with tools",
            b ->
                b.messages(
                    List.of(
                        Message.system("s"),
                        Message.parts("user", "[{\"type\":\"text\",\"text\":\"u\"}]"),
                        Message.toolCalls(null, "[{\"id\":\"c\"}]"),
                        Message.tool("c", "t"),
                        Message.assistant("a"))),
            "{'messages':[{'role':'system','content':'s'},"
                + "{'role':'user','content':[{'type':'text','text':'u'}]},"
                + "{'role':'assistant','content':null,'tool_calls':[{'id':'c'}]},"
                + "{'role':'tool','content':'t','tool_call_id':'c'},"
                + "{'role':'assistant','content':'a'}]"
                + STREAM
                + "}"),
        chat(
            "extra body",
            b ->
                b.prompt("hi")
                    .maxTokens(8)
                    .extra(
                        "{\"max_tokens\":null,\"max_completion_tokens\":8,\"stream\":false,"
                            + "\"stream_options\":null,\"chat_template_kwargs\":{\"x\":null}}"),
            "{"
                + HI
                + ",'stream':false,'max_completion_tokens':8,'chat_template_kwargs':{'x':null}}"),
        chat(
            "escapes",
            b -> b.prompt("\"\\\n\u0001é😀\u2028"),
            "{'messages':[{'role':'user','content':'\\\"\\\\\\n\\u0001é😀\u2028'}]" + STREAM + "}"),
        chat(
            "lone surrogate",
            b -> b.prompt("a\ud83d"),
            "{'messages':[{'role':'user','content':'a?'}]" + STREAM + "}"));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("bodies")
  void bodyTable(String name, GenerationRequest.Builder request, String json) {
    assertThat(new String(request.build().toJson(), UTF_8)).isEqualTo(json.replace('\'', '"'));
  }

  @Test
  void aTextThatIsKeptIsSentAndReadAsAnyOther() throws Exception {
    String text = "a \"quoted\"\tpart 😀 é\n".repeat(20);
    GenerationRequest.Builder request =
        GenerationRequest.of(Api.CHAT).prefix("12\n\n").prompt(text);
    byte[] before = request.build().toJson();

    GenerationRequest.keepEscaped(text);
    GenerationRequest kept = request.build();

    assertThat(kept.toJson()).isEqualTo(before);
    assertThat(new ObjectMapper().readTree(before).at("/messages/0/content").asText())
        .isEqualTo("12\n\n" + text);
    assertThat(kept.promptTexts()).containsExactly("12\n\n" + text);
    assertThat(kept.promptChars())
        .isEqualTo(("12\n\n" + text).codePointCount(0, text.length() + 4));
    assertThat(new ObjectMapper().readTree(kept.messagesJson()).at("/0/content").asText())
        .isEqualTo("12\n\n" + text);
  }

  @Test
  void accessorsReturnWhatIsSent() {
    GenerationRequest.Builder builder =
        GenerationRequest.of(Api.CHAT)
            .model("m")
            .prompt("hi 😀")
            .maxTokens(5)
            .ignoreEos(true)
            .parameter("n", 3);
    GenerationRequest request = builder.build();
    assertThat(request.api()).isEqualTo(Api.CHAT);
    assertThat(request.model()).isEqualTo("m");
    assertThat(request.stream()).isTrue();
    assertThat(request.maxTokens()).isEqualTo(5);
    assertThat(request.ignoreEos()).isTrue();
    assertThat(request.n()).isEqualTo(3);
    assertThat(request.messagesJson()).isEqualTo("[{\"role\":\"user\",\"content\":\"hi 😀\"}]");
    assertThat(request.prompt()).isNull();
    assertThat(request.promptChars()).isEqualTo(4);

    GenerationRequest merged =
        builder
            .extra(
                "{\"model\":\"x\",\"max_tokens\":null,\"ignore_eos\":false,\"stream\":false,\"n\":null}")
            .build();
    assertThat(merged.model()).isEqualTo("x");
    assertThat(merged.stream()).isFalse();
    assertThat(merged.maxTokens()).isNull();
    assertThat(merged.ignoreEos()).isFalse();
    assertThat(merged.n()).isEqualTo(1);
    assertThat(request.stream()).as("built earlier").isTrue();
  }

  @Test
  void promptTextsAreTheTextsOfAllMessages() {
    assertThat(
            GenerationRequest.of(Api.CHAT)
                .message(Message.system("abc"))
                .message(
                    Message.parts(
                        "user",
                        "[{\"type\":\"text\",\"text\":\"de\"},{\"type\":\"image_url\",\"image_url\":"
                            + "{\"url\":\"data:image/png;base64,AAAA\"}}]"))
                .message(Message.toolCalls(null, "[{\"id\":\"c\"}]"))
                .prompt("")
                .build()
                .promptTexts())
        .containsExactly("abc", "de", "");
    assertThat(prompt("[5,6]").promptTexts()).as("token ids is not text").isEmpty();
    assertThat(prompt("[\"ab\",\"c😀\"]").promptChars()).as("code points").isEqualTo(4);
  }

  private static GenerationRequest prompt(String json) {
    return GenerationRequest.of(Api.COMPLETIONS)
        .prompt("unused")
        .extra("{\"prompt\":" + json + "}")
        .build();
  }

  private static void assertRefused(
      UnaryOperator<GenerationRequest.Builder> setting, String message) {
    assertThatThrownBy(() -> setting.apply(GenerationRequest.of(Api.CHAT)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(message);
  }

  @Test
  void wrongJson() {
    assertRefused(b -> b.tools("{}"), "tools '{}' is not understood; expected a JSON array");
    assertRefused(b -> b.extra("a=1"), "body 'a=1' is not understood; expected a JSON object");
    assertRefused(
        b -> b.extra("{\"a\":1}}"), "body '{\"a\":1}}' is not understood; expected a JSON object");
    assertRefused(
        b -> b.toolChoice("auto"), "tool_choice 'auto' is not understood; expected a JSON value");
    assertRefused(b -> b.messagesJson(""), "messages '' is not understood; expected a JSON array");
  }

  @Test
  void requestWithoutInputIsRejected() {
    assertThatThrownBy(() -> GenerationRequest.of(Api.CHAT).build())
        .hasMessage("chat request has no messages; set a prompt or messages");
    assertThatThrownBy(
            () -> GenerationRequest.of(Api.COMPLETIONS).message(Message.user("hi")).build())
        .hasMessage("completions request has no prompt; set its prompt");
  }
}
