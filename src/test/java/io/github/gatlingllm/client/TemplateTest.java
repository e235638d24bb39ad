package io.github.gatlingllm.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.client.ChunkParser.Channel;
import io.github.gatlingllm.client.Template.Slot;
import java.util.List;
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
    template.learn(
        new Template.Meaning(3, Channel.REFUSAL, 0, false, true),
        List.of(new Slot(8, 11, Slot.TEXT)),
        learnt,
        2,
        learnt.length - 1);
    byte[] next = json("#" + data + "###");
    assertThat(template.matches(next, 1, next.length - 3)).isEqualTo(fits);
    assertThat(template.meaning().choice()).isEqualTo(3);
    assertThat(template.meaning().channel()).isEqualTo(Channel.REFUSAL);
  }

  /** Learnt beside the text: a number that is a count, then a string that means nothing. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{'a':'one','n':12,'o':'xyz'} | 12",
        "{'a':'x','n':0,'o':''} | 0",
        "{'a':'x','n':999999999,'o':'longer than before'} | 999999999",
        "{'a':'x','n':5,'o':'\\'\\\\'} | 5",
        "{'a':'x','n':1000000000,'o':'xyz'} | -1",
        "{'a':'x','n':012,'o':'xyz'} | -1",
        "{'a':'x','n':-1,'o':'xyz'} | -1",
        "{'a':'x','n':1.5,'o':'xyz'} | -1",
        "{'a':'x','n':,'o':'xyz'} | -1",
        "{'a':'x','n':5,'o':'xyz\\'} | -1",
        "{'a':'x','n':5,'o':xyz'} | -1",
        "{'a':'x','n':5,'o':'x','o':'y'} | -1",
        "{'a':'x','n':5,'o':'xyz'}} | -1",
        "{'a':'x','n':5,'o':' | -1",
        "{'a':'x','n':5,' | -1",
        "{'a':'x' | -1"
      })
  void fitsWithSlots(String data, int count) {
    Template template = new Template();
    byte[] learnt = json("#{'a':'one','n':12,'o':'xyz'}");
    template.learn(
        new Template.Meaning(0, Channel.CONTENT, 0, true, true),
        List.of(
            new Slot(7, 10, Slot.TEXT), new Slot(16, 18, 2), new Slot(24, 27, Slot.IGNORED_TEXT)),
        learnt,
        1,
        learnt.length);
    byte[] next = json(data);
    boolean fits = template.matches(next, 0, next.length);
    assertThat(fits).isEqualTo(count >= 0);
    if (fits) {
      assertThat(template.meaning().hasUsage()).isTrue();
      assertThat(template.count(2)).isEqualTo(count);
      assertThat(template.count(0)).isEqualTo(-1);
      assertThat(template.textLength()).isEqualTo(data.indexOf("',") - 6);
    }
  }

  /** Typed events are numbered before their text. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{'n':8,'a':'x'} | true",
        "{'n':1000,'a':'\\\\'} | true",
        "{'n':,'a':'x'} | false",
        "{'n':-8,'a':'x'} | false",
        "{'n':8,'a':''} | false",
        "{'n':8 | false"
      })
  void fitsWithASlotBeforeTheText(String data, boolean fits) {
    Template template = new Template();
    byte[] learnt = json("{'n':7,'a':'one'}");
    template.learn(
        new Template.Meaning(0, Channel.CONTENT, 0, false, true),
        List.of(new Slot(5, 6, Slot.OTHER_NUMBER), new Slot(12, 15, Slot.TEXT)),
        learnt,
        0,
        learnt.length);
    byte[] next = json(data);
    assertThat(template.matches(next, 0, next.length)).isEqualTo(fits);
    if (fits) {
      assertThat(template.textFrom()).isEqualTo(data.indexOf("'a'") + 5);
    }
  }

  @Test
  void emptyTemplateMatchesNothing() {
    byte[] data = json("{'a':'one'}");
    assertThat(new Template().matches(data, 0, data.length)).isFalse();
    assertThat(new Template().matches(data, 0, 0)).isFalse();
  }

  @Test
  void templateOfOneAnswerMatchesAnotherWithAnotherId() {
    String event = "{'id':'%s','choices':[{'index':1,'delta':{'content':'%s'}}]}";
    byte[] first = json(event.formatted("chatcmpl-1", "one"));
    Pushes pushes = new Pushes();
    new ChunkParser(Api.CHAT, pushes).event(null, first, 0, first.length);

    Template next = Template.ofLatestAnswer();
    byte[] second = json(event.formatted("chatcmpl-\\u0041 another", "zwei"));
    assertThat(next.matches(second, 0, second.length)).isTrue();
    assertThat(next.meaning().choice()).isEqualTo(1);
    assertThat(next.textLength()).isEqualTo("zwei".length());
    byte[] withoutId = json("{'choices':[{'index':1,'delta':{'content':'zwei'}}]}");
    assertThat(next.matches(withoutId, 0, withoutId.length)).isFalse();
  }

  /**
   * Its id is reported where a call begins: an answer that begins with the same one says it too.
   */
  @Test
  void beginningOfAToolCallIsNoTemplateForAnotherAnswer() {
    byte[] begins =
        json(
            "{'choices':[{'index':0,'delta':{'tool_calls':[{'index':0,'id':'functions.f:0',"
                + "'type':'function','function':{'name':'f'}}]}}]}");
    new ChunkParser(Api.CHAT, new Pushes()).event(null, begins, 0, begins.length);

    assertThat(Template.ofLatestAnswer().matches(begins, 0, begins.length)).isFalse();
  }

  /** What comes late in one answer is not how the next one begins. */
  @Test
  void onlyTheFirstEventIsATemplateForTheNextAnswer() {
    String event = "{'id':'1','choices':[{'index':%s,'delta':{'content':'one'}}]}";
    ChunkParser parser = new ChunkParser(Api.CHAT, new Pushes());
    for (int choice : new int[] {5, 6}) {
      byte[] data = json(event.formatted(choice));
      parser.event(null, data, 0, data.length);
    }

    byte[] begins = json(event.formatted(5));
    assertThat(Template.ofLatestAnswer().matches(begins, 0, begins.length)).isTrue();
  }

  private static byte[] json(String text) {
    return text.replace('\'', '"').getBytes(UTF_8);
  }
}
