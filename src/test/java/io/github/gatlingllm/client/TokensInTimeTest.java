package io.github.gatlingllm.client;

import static io.github.gatlingllm.client.HeldServer.REASONING;
import static io.github.gatlingllm.client.HeldServer.row;
import static io.github.gatlingllm.client.HeldServer.tokens;
import static io.github.gatlingllm.testing.ChatChunks.chunk;
import static io.github.gatlingllm.testing.ChatChunks.usage;
import static io.github.gatlingllm.testing.ChatChunks.withUsage;

import io.github.gatlingllm.testing.ChatChunks;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The events that tokens belong to, and when the answer proper begins. */
final class TokensInTimeTest {

  /** Tokens that the server counts, and the events that they belong to. */
  static Stream<Arguments> tokensInTime() {
    return Stream.of(
        row(
            "counted before the first event and after the last",
            "complete 50 105 1020 1020 20.0 [51, 48×1, 6] tail 5",
            s -> {
              for (int i = 1; i <= 50; i++) {
                s.pause(20).event(withUsage(chunk("{}", "null"), 12, i));
              }
              s.counted(51, 100).end(tokens(105));
            }),
        row(
            "silence before the first event",
            "complete 50 105 1020 1020 20.0 [51, 48×1, 6] tail 5",
            s -> s.pause(1_000).counted(51, 100).end(tokens(105))),
        row(
            "no tail",
            "complete 50 100 1020 1020 20.0 [51, 49×1]",
            s -> s.pause(1_000).counted(51, 100).end(tokens(100))),
        row(
            "counts at the end only: an estimate",
            "complete 50 105 1020 1020 9.5 [] estimated",
            s -> s.pause(1_000).words(50).end(tokens(105))),
        row(
            "8 in the first event",
            "complete 25 32 20 20 20.0 [8, 24×1]",
            s -> s.counted(8, 32).end(tokens(32))),
        row(
            "8 in the first event, counted with the next",
            "complete 25 32 20 20 20.0 [8, 24×1]",
            s -> s.counted(0, 0).counted(8, 31).end(tokens(32))),
        row(
            "8 in the first event, counts at the end only: an estimate",
            "complete 25 32 20 20 15.6 [] estimated",
            s -> s.words(25).end(tokens(32))),
        row(
            "each event counted with the next",
            "complete 10 10 20 20 20.0 [10×1]",
            s -> s.counted(0, 9).end(tokens(10))),
        row(
            "a count with every second event",
            "complete 10 10 20 20 20.0 [10×1]",
            s -> {
              for (int i = 2; i <= 10; i += 2) {
                s.words(1).counted(i, i);
              }
              s.end(tokens(10));
            }),
        row(
            "a count with every second event, of several tokens each",
            "complete 10 20 20 20 10.0 [] estimated",
            s -> {
              for (int i = 4; i <= 20; i += 4) {
                s.words(1).counted(i, i);
              }
              s.end(tokens(20));
            }),
        row(
            "a token whose text is split over two events",
            "complete 4 3 20 20 30.0 [1, 0, 2×1]",
            s -> s.counted(1, 1).counted(1, 3).end(tokens(3))),
        row(
            "reasoning that is billed only is in no event",
            "complete 3 3 20 20 20.0 [3×1]",
            s -> s.counted(31, 33).end(tokens(33) + "," + REASONING.formatted(30))),
        Arguments.of(
            "two choices",
            Api.CHAT,
            2,
            "complete 4 6 20 20 26.7 [] estimated",
            (Consumer<HeldServer>)
                s -> {
                  for (int i = 0; i < 4; i++) {
                    s.pause(20).event(ChatChunks.choice(i % 2, "a", "null"));
                  }
                  s.event(ChatChunks.choice(0, "", "'stop'"))
                      .event(ChatChunks.choice(1, "", "'stop'"))
                      .event(usage(12, 6))
                      .event("[DONE]");
                }));
  }

  /** Reasoning in the text of the answer. */
  static Stream<Arguments> tags() {
    return Stream.of(
        row(
            "both tags",
            "complete 52 52 20 860 20.0 []",
            s ->
                s.deltas(1, said("<think>"))
                    .words(40)
                    .deltas(1, said("</think>"))
                    .words(10)
                    .end(tokens(52))),
        row(
            "no opening tag",
            "complete 51 51 20 840 20.0 []",
            s -> s.words(40).deltas(1, said("</think>")).words(10).end(tokens(51))),
        row(
            "split over events, after white space",
            "complete 17 17 20 300 20.0 []",
            s ->
                s.deltas(1, said("\\n<th"))
                    .deltas(1, said("ink>"))
                    .words(10)
                    .deltas(1, said("</th"))
                    .deltas(1, said("ink>"))
                    .words(3)
                    .end(tokens(17))),
        row(
            "brackets that are escaped, and the answer in the event of the tag",
            "complete 4 4 20 60 20.0 []",
            s ->
                s.deltas(1, said("\\u003cthink\\u003e"))
                    .words(1)
                    .deltas(1, said("\\u003c/think\\u003ea"))
                    .words(1)
                    .end(tokens(4))),
        row(
            "a slash that PHP escapes, and white space before the answer",
            "complete 6 6 20 120 20.0 []",
            s ->
                s.deltas(1, said("<th"))
                    .deltas(1, said("ink>a"))
                    .deltas(1, said("b<\\/thi"))
                    .deltas(1, said("nk>"))
                    .deltas(1, said("\\n\\n"))
                    .words(1)
                    .end(tokens(6))),
        row(
            "another tag",
            "complete 3 3 20 20 20.0 []",
            s -> s.deltas(1, said("<")).deltas(2, said("html>")).end(tokens(3))),
        row(
            "cut before the end of reasoning",
            "complete 4 4 20 null 20.0 []",
            s -> s.deltas(1, said("<think>")).words(3).end(tokens(4))),
        row(
            "an empty thought",
            "complete 3 3 20 40 20.0 []",
            s -> s.deltas(1, said("<think></think>")).words(2).end(tokens(3))),
        row(
            "an answer about tags",
            "complete 4 4 20 20 20.0 []",
            s -> s.words(1).deltas(1, said("<think>")).words(2).end(tokens(4))),
        row(
            "a closing tag after reasoning in its own field",
            "complete 4 4 20 40 20.0 []",
            s ->
                s.deltas(1, "{'reasoning_content':'hm'}")
                    .words(1)
                    .deltas(1, said("</think>"))
                    .words(1)
                    .end(tokens(4))));
  }

  private static String said(String text) {
    return "{'content':'" + text + "'}";
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource({"tokensInTime", "tags"})
  void measures(String name, Api api, int choices, String expected, Consumer<HeldServer> script) {
    HeldServer.assertMeasured(api, choices, expected, script);
  }
}
