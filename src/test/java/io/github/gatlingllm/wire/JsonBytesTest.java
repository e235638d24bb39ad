package io.github.gatlingllm.wire;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Jackson's own text of the same tree says what is right. */
class JsonBytesTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "[]",
        "\"\"",
        "null",
        "{\"a\":{},\"b\":[],\"c\":[[],{}],\"\":null}",
        "{\"model\":\"m\",\"stream\":true,\"max_tokens\":16,\"stop\":[\"a\",\"b\"]}",
        "[0,-1,2147483648,123456789012345678901234567890,0.1,1e3,-2.5E-7,1e400,true,false,null]",
        "{\"k\\\"\\\\\\n\":\"v\\u0000\\u001f\\u007f\\u2028é😀\"}"
      })
  void isWhatJacksonWrites(String json) throws Exception {
    assertThat(JsonBytes.of(JSON.readTree(json), 1))
        .asString(UTF_8)
        .isEqualTo(JSON.readTree(json).toString());
  }

  @Test
  void everyCharacterIsWrittenAsJacksonDoes() {
    ArrayNode all = JsonNodeFactory.instance.arrayNode();
    for (int c = 0; c <= Character.MAX_VALUE; c++) {
      all.add("a" + (char) c).add((char) c + "b");
    }
    all.add(
        IntStream.rangeClosed(0, 0x10_ffff)
            .mapToObj(Character::toString)
            .collect(Collectors.joining()));
    assertThat(JsonBytes.of(all, 64)).isEqualTo(all.toString().getBytes(UTF_8));
  }
}
