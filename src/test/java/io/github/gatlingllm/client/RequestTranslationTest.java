package io.github.gatlingllm.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.gatlingllm.client.Api.Message;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** One dialog with an image, a tool call and its result, as each API wants it written. */
class RequestTranslationTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  private static GenerationRequest.Builder dialog(Api api) {
    return GenerationRequest.of(api)
        .model("m")
        .message(Message.system("Be brief."))
        .message(
            Message.parts(
                "user",
                "[{\"type\":\"text\",\"text\":\"Look\"},{\"type\":\"image_url\","
                    + "\"image_url\":{\"url\":\"data:image/png;base64,AAAA\"}}]"))
        .message(Message.answer("Wait", List.of(new Api.FunctionCall("c1", "f", "{\"a\":1}"))))
        .message(Message.tool("c1", "sunny"))
        .message(Message.tool("c2", "rain"))
        .message(Message.user("And?"))
        .tools(
            "[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"description\":\"d\","
                + "\"parameters\":{\"type\":\"object\"}}}]")
        .maxTokens(9)
        .stop(List.of("END"));
  }

  private static JsonNode json(String text) throws IOException {
    return JSON.readTree(text.replace('\'', '"'));
  }

  private static JsonNode body(GenerationRequest request) throws IOException {
    return json(new String(request.toJson(), UTF_8));
  }

  @Test
  void responses() throws IOException {
    GenerationRequest request =
        dialog(Api.RESPONSES)
            .toolChoice("{\"type\":\"function\",\"function\":{\"name\":\"f\"}}")
            .responseFormat(
                "{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"s\",\"schema\":{}}}")
            .build();
    assertThat(body(request))
        .isEqualTo(
            json(
                "{'model':'m','stream':true,'max_output_tokens':9,'stop':['END'],'input':[{'role':'system','content':'Be"
                    + " brief.'},{'role':'user','content':[{'type':'input_text','text':'Look'},"
                    + "{'type':'input_image','image_url':'data:image/png;base64,AAAA'}]},"
                    + "{'role':'assistant','content':'Wait'},"
                    + "{'type':'function_call','call_id':'c1','name':'f','arguments':'{\\'a\\':1}'},"
                    + "{'type':'function_call_output','call_id':'c1','output':'sunny'},"
                    + "{'type':'function_call_output','call_id':'c2','output':'rain'},"
                    + "{'role':'user','content':'And?'}],"
                    + "'tools':[{'type':'function','name':'f','description':'d',"
                    + "'parameters':{'type':'object'}}],"
                    + "'tool_choice':{'type':'function','name':'f'},"
                    + "'text':{'format':{'type':'json_schema','name':'s','schema':{}}}}"));
    assertThat(request.maxTokens()).isEqualTo(9);
    assertThat(request.promptTexts()).containsExactly("Be brief.", "Look", "Wait", "And?");
    assertThat(request.isTextOnly()).isFalse();
  }

  @Test
  void messages() throws IOException {
    GenerationRequest request =
        dialog(Api.MESSAGES)
            .toolChoice("\"required\"")
            .responseFormat(
                "{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"s\",\"schema\":{}}}")
            .build();
    assertThat(body(request))
        .isEqualTo(
            json(
                "{'model':'m','stream':true,'max_tokens':9,'stop_sequences':['END'],"
                    + "'system':'Be brief.','messages':["
                    + "{'role':'user','content':[{'type':'text','text':'Look'},{'type':'image',"
                    + "'source':{'type':'base64','media_type':'image/png','data':'AAAA'}}]},"
                    + "{'role':'assistant','content':[{'type':'text','text':'Wait'},"
                    + "{'type':'tool_use','id':'c1','name':'f','input':{'a':1}}]},"
                    + "{'role':'user','content':["
                    + "{'type':'tool_result','tool_use_id':'c1','content':'sunny'},"
                    + "{'type':'tool_result','tool_use_id':'c2','content':'rain'}]},"
                    + "{'role':'user','content':'And?'}],"
                    + "'tools':[{'name':'f','description':'d','input_schema':{'type':'object'}}],"
                    + "'tool_choice':{'type':'any'},"
                    + "'output_config':{'format':{'type':'json_schema','schema':{}}}}"));
    assertThat(request.promptTexts()).containsExactly("Be brief.", "Look", "Wait", "And?");
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
  void embeddings() throws IOException {
    GenerationRequest request =
        GenerationRequest.of(Api.EMBEDDINGS)
            .model("m")
            .inputs(List.of("a", "bc"))
            .prefix("7 ")
            .maxTokens(9)
            .ignoreEos(true)
            .parameter("dimensions", 8)
            .build();
    assertThat(body(request))
        .isEqualTo(json("{'model':'m','dimensions':8,'input':['7 a','7 bc']}"));
    assertThat(request.inputs()).isEqualTo(2);
    assertThat(request.promptChars()).isEqualTo(7);
    assertThat(request.stream()).isFalse();
    assertThat(GenerationRequest.of(Api.EMBEDDINGS).prompt("a").build().inputs()).isEqualTo(1);
    assertThat(GenerationRequest.of(Api.CHAT).prompt("a").build().inputs()).isZero();
    assertThatThrownBy(() -> GenerationRequest.of(Api.EMBEDDINGS).build())
        .hasMessage("embeddings request has no input; set its input");
  }
}
