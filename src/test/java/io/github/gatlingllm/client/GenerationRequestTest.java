package io.github.gatlingllm.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.gatlingllm.client.Api.Message;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

class GenerationRequestTest {

  /** The bodies of all requests are in {@code RequestBytesIT}. */
  @Test
  void pinnedRequestWithoutALimit() {
    assertThat(
            new String(
                GenerationRequest.of(Api.CHAT).prompt("hi").ignoreEos(true).build().toJson(),
                UTF_8))
        .isEqualTo(
            "{\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}],\"stream\":true,"
                + "\"stream_options\":{\"include_usage\":true},\"ignore_eos\":true}");
  }

  @Test
  void cachedTextIsSentAndReadAsAnyOther() throws Exception {
    String text = "a \"quoted\"\tpart 😀 é\n".repeat(20);
    GenerationRequest.Builder request =
        GenerationRequest.of(Api.CHAT).prefix("12\n\n").prompt(text);
    byte[] before = request.build().toJson();

    GenerationRequest.cacheEscaped(text);
    GenerationRequest cached = request.build();

    assertThat(cached.toJson()).isEqualTo(before);
    assertThat(new ObjectMapper().readTree(before).at("/messages/0/content").asText())
        .isEqualTo("12\n\n" + text);
    assertThat(cached.promptTexts()).containsExactly("12\n\n" + text);
    assertThat(cached.promptChars())
        .isEqualTo(("12\n\n" + text).codePointCount(0, text.length() + 4));
    assertThat(new ObjectMapper().readTree(cached.messagesJson()).at("/0/content").asText())
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

  @Test
  void messagesApiRequiresMaxTokens() {
    assertThatThrownBy(() -> GenerationRequest.of(Api.MESSAGES).prompt("hi").build())
        .hasMessage("messages request has no maxTokens, which that API requires; set maxTokens");
    assertThat(
            GenerationRequest.of(Api.MESSAGES)
                .prompt("hi")
                .extra("{\"max_tokens\":7}")
                .build()
                .maxTokens())
        .isEqualTo(7);
  }

  @Test
  void inputsOfEmbeddings() {
    GenerationRequest request =
        GenerationRequest.of(Api.EMBEDDINGS)
            .inputs(List.of("a", "bc"))
            .prefix("7 ")
            .maxTokens(9)
            .build();
    assertThat(request.inputs()).isEqualTo(2);
    assertThat(request.promptChars()).isEqualTo(7);
    assertThat(request.stream()).isFalse();
    assertThat(GenerationRequest.of(Api.EMBEDDINGS).prompt("a").build().inputs()).isEqualTo(1);
    assertThat(GenerationRequest.of(Api.CHAT).prompt("a").build().inputs()).isZero();
    assertThatThrownBy(() -> GenerationRequest.of(Api.EMBEDDINGS).build())
        .hasMessage("embeddings request has no input; set its input");
  }

  /** Texts that the APIs translate, in the order of the dialog. */
  @Test
  void textsOfATranslatedDialog() {
    for (Api api : List.of(Api.RESPONSES, Api.MESSAGES)) {
      GenerationRequest request =
          GenerationRequest.of(api)
              .message(Message.system("Be brief."))
              .message(
                  Message.parts(
                      "user",
                      "[{\"type\":\"text\",\"text\":\"Look\"},{\"type\":\"image_url\",\"image_url\":"
                          + "{\"url\":\"data:image/png;base64,AAAA\"}}]"))
              .message(Message.toolCalls("Wait", "[{\"id\":\"c\"}]"))
              .message(Message.tool("c", "sunny"))
              .prompt("And?")
              .maxTokens(9)
              .build();
      assertThat(request.promptTexts()).containsExactly("Be brief.", "Look", "Wait", "And?");
      assertThat(request.isTextOnly()).isFalse();
      assertThat(request.maxTokens()).isEqualTo(9);
    }
  }
}
