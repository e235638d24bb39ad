package io.github.gatlingllm.workload;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.client.Api.Message;
import io.github.gatlingllm.workload.Conversation.Dialog;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class AnsweredPromptsTest {

  private static final Message SYSTEM = Message.system("rules");

  private final AnsweredPrompts prompts = new AnsweredPrompts();

  private String next(@Nullable Integer tokens, int output, Message... messages) {
    return prompts
        .next(new Dialog(List.of(messages), null, tokens, output))
        .promptMessages()
        .stream()
        .map(message -> message.role().charAt(0) + ":" + message.content())
        .collect(Collectors.joining("|"));
  }

  @Test
  void answersOfMessagesAreReplaced() {
    Message first = Message.user("why?");
    Message second = Message.user("how?");

    assertThat(next(null, 1, SYSTEM, first)).isEqualTo("s:rules|u:why?");
    prompts.answered("so");
    assertThat(next(null, 1, SYSTEM, first, Message.assistant("because"), second))
        .isEqualTo("s:rules|u:why?|a:so|u:how?");
    prompts.answered("thus");
    assertThat(
            next(
                null,
                1,
                SYSTEM,
                first,
                Message.assistant("because"),
                second,
                Message.assistant("x"),
                Message.user("when?")))
        .as("both")
        .isEqualTo("s:rules|u:why?|a:so|u:how?|a:thus|u:when?");
  }

  /** Words are tokens: 4 asked, 2 answered; the fourth was a part of a block. */
  @Test
  void answersWithinATextAreReplaced() {
    assertThat(next(5, 2, SYSTEM, Message.user("a b c d"))).isEqualTo("s:rules|u:a b c d");
    prompts.answered("so it is");
    assertThat(next(9, 2, SYSTEM, Message.user("a b c D E F g h")))
        .isEqualTo("s:rules|u:a b c d|a:so it is|u:g h");
    prompts.answered("yes");
    assertThat(next(13, 2, SYSTEM, Message.user("a b c D E F g h i j k l")))
        .isEqualTo("s:rules|u:a b c d|a:so it is|u:g h|a:yes|u:k l");
  }

  @Test
  void whatDoesNotGoOnIsSentAsRecorded() {
    assertThat(next(4, 2, Message.user("a b c d"))).isEqualTo("u:a b c d");
    prompts.answered("so");
    assertThat(next(3, 2, Message.user("a y z"))).as("a compaction").isEqualTo("u:a y z");
    prompts.answered("so");
    assertThat(next(4, 2, Message.user("a y z A"))).as("too short").isEqualTo("u:a y z A");
    prompts.answered(" ");
    assertThat(next(9, 2, Message.user("a y z A B C d e f")))
        .as("no text")
        .isEqualTo("u:a y z A B C d e f");
  }

  @Test
  void callsOfToolsStayAsRecorded() {
    Message asked = Message.user("weather?");
    Message call = Message.toolCalls(null, "[{\"id\":\"1\"}]");
    Message result = new Message("tool", "sun", null, null, "1");

    assertThat(next(null, 1, asked)).isEqualTo("u:weather?");
    prompts.answered("no idea");
    assertThat(next(null, 1, asked, call, result)).isEqualTo("u:weather?|a:null|t:sun");
  }
}
