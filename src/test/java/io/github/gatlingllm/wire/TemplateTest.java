package io.github.gatlingllm.wire;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.wire.ChunkParser.Channel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TemplateTest {

  /** Learnt: an event whose text is {@code one}. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{'a':'one','b':1} | true",
        "{'a':'x','b':1} | true",
        "{'a':'a longer text than before','b':1} | true",
        "{'a':'\\\\','b':1} | true",
        "{'a':'\\'','b':1} | true",
        "{'a':'\\u0041','b':1} | true",
        "{'a':'','b':1} | false",
        "{'a':'x\\','b':1} | false",
        "{'a':'x\\\\\\','b':1} | false",
        "{'a':'x','b':1,'b':1} | false",
        "{'a':'x','b':2} | false",
        "{'c':'x','b':1} | false",
        "{'a':'x','b':1}x | false",
        "{'a':','b':1} | false",
        "{'a':'b':1} | false",
        "x | false"
      })
  void fits(String data, boolean fits) {
    Template template = new Template();
    byte[] learnt = json("##{'a':'one','b':1}#");
    template.learn(learnt, 2, 8, 11, learnt.length - 1, 3, Channel.REFUSAL);
    byte[] next = json("#" + data + "###");
    assertThat(template.fits(next, 1, next.length - 3)).isEqualTo(fits);
    assertThat(template.choice()).isEqualTo(3);
    assertThat(template.channel()).isEqualTo(Channel.REFUSAL);
  }

  @Test
  void nothingLearntFitsNothing() {
    byte[] data = json("{'a':'one'}");
    assertThat(new Template().fits(data, 0, data.length)).isFalse();
    assertThat(new Template().fits(data, 0, 0)).isFalse();
  }

  private static byte[] json(String text) {
    return text.replace('\'', '"').getBytes(UTF_8);
  }
}
