package io.github.gatlingllm.bench;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.nio.ByteBuffer;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The bytes of an answer: headers, an event that is repeated for each token, and the end. Each
 * event has the number of its request in its {@code id} and in its text, so that clients that keep
 * only one of them can be matched.
 */
final class BenchAnswer {

  /** Answer to requests that are not streams. */
  static final ByteBuffer MODELS = models().asReadOnlyBuffer();

  private static final long FIRST_NAME = 1_000_000;
  private static final Pattern NAME = Pattern.compile("r(\\d{7,})");
  private static final String HEAD =
      String.join(
          "\r\n",
          "HTTP/1.1 200 OK",
          "content-type: text/event-stream; charset=utf-8",
          "transfer-encoding: chunked",
          "",
          "");
  private static final Map<Integer, ByteBuffer> FLOODS = new ConcurrentHashMap<>();

  private final ByteBuffer bytes;
  private final int eventAt;
  private final int endAt;

  private BenchAnswer(ByteBuffer bytes, int eventAt, int endAt) {
    this.bytes = bytes;
    this.eventAt = eventAt;
    this.endAt = endAt;
  }

  /**
   * An answer of that many tokens, one write per token.
   *
   * @param isChat chat API; otherwise completions API
   */
  static BenchAnswer of(long number, int tokens, boolean isChat) {
    String text = "\" " + name(number) + "\"";
    String event =
        chunk(
            event(
                number,
                isChat ? "\"delta\":{\"content\":" + text + "}" : "\"text\":" + text,
                "null"));
    return new BenchAnswer(
        direct(HEAD + event + end(number, tokens)), HEAD.length(), HEAD.length() + event.length());
  }

  /** An answer of that many tokens, in one write. */
  static BenchAnswer flood(int tokens) {
    ByteBuffer all = FLOODS.computeIfAbsent(tokens, BenchAnswer::encodedFlood);
    return new BenchAnswer(all, 0, all.limit());
  }

  private static ByteBuffer encodedFlood(int tokens) {
    StringBuilder all = new StringBuilder(HEAD);
    for (int i = 0; i < tokens; i++) {
      all.append(chunk(event(0, "\"delta\":{\"content\":\" tok" + i % 100 + "\"}", "null")));
    }
    return direct(all.append(end(0, tokens)).toString());
  }

  /** Bytes that are written for a token. */
  ByteBuffer piece(boolean isFirst, boolean isLast) {
    return bytes.duplicate().limit(isLast ? bytes.limit() : endAt).position(isFirst ? 0 : eventAt);
  }

  private static String end(long number, int tokens) {
    String usage =
        String.format(
            Locale.ROOT,
            "{\"prompt_tokens\":9,\"completion_tokens\":%d,\"total_tokens\":%d}",
            tokens,
            tokens + 9);
    return chunk(event(number, "\"delta\":{},\"text\":\"\"", "\"length\""))
        + chunk("{" + opening(number) + ",\"choices\":[],\"usage\":" + usage + "}")
        + chunk("[DONE]")
        + "0\r\n\r\n";
  }

  private static String event(long number, String text, String finishReason) {
    return String.format(
        Locale.ROOT,
        "{%s,\"choices\":[{\"index\":0,%s,\"logprobs\":null,\"finish_reason\":%s}]}",
        opening(number),
        text,
        finishReason);
  }

  private static String opening(long number) {
    return "\"id\":\"chatcmpl-8f6c2c9d2b9a4a53a1f3-"
        + name(number)
        + "\",\"object\":\"chat.completion.chunk\",\"created\":1763481600,"
        + "\"model\":\"meta-llama/Llama-3.1-8B-Instruct\"";
  }

  /** Text with the number of the request. */
  private static String name(long number) {
    return "r" + (FIRST_NAME + number);
  }

  /** Number of the request, from a text of its answer. */
  static long number(String text) {
    Matcher name = NAME.matcher(text);
    if (!name.find()) {
      throw new IllegalArgumentException("names no request: " + text);
    }
    return Long.parseLong(name.group(1)) - FIRST_NAME;
  }

  private static String chunk(String data) {
    String event = "data: " + data + "\n\n";
    return Integer.toHexString(event.length()) + "\r\n" + event + "\r\n";
  }

  private static ByteBuffer models() {
    String body = "{\"object\":\"list\",\"data\":[{\"id\":\"bench\",\"object\":\"model\"}]}";
    return direct(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: "
            + body.length()
            + "\r\n\r\n"
            + body);
  }

  private static ByteBuffer direct(String ascii) {
    byte[] encoded = ascii.getBytes(US_ASCII);
    return ByteBuffer.allocateDirect(encoded.length).put(encoded).flip();
  }
}
