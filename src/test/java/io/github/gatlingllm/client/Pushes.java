package io.github.gatlingllm.client;

import io.github.gatlingllm.client.ChunkListener.Channel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What a parser pushed, one line each: {@code content[0] Hello}, {@code finish[0] stop}, … Of a
 * tool call that is not the first with its index: {@code tool_name[0.1] f}.
 */
final class Pushes implements ChunkListener {

  final List<String> ids = new ArrayList<>();
  private final List<String> lines = new ArrayList<>();
  private String calling = "unknown";

  static List<String> ofReads(List<byte[]> reads) {
    return ofReads(Api.CHAT, reads);
  }

  static List<String> ofReads(Api api, List<byte[]> reads) {
    Pushes pushes = new Pushes();
    SseDecoder decoder = new SseDecoder(api.parser(pushes), new AnswerMemory());
    for (byte[] read : reads) {
      // A separate array with other bytes around it: nothing may look outside the range.
      byte[] padded = new byte[read.length + 8];
      Arrays.fill(padded, (byte) '"');
      System.arraycopy(read, 0, padded, 4, read.length);
      decoder.feed(padded, 4, read.length);
      Arrays.fill(padded, (byte) '?');
    }
    decoder.endOfStream();
    return pushes.lines;
  }

  static List<String> ofData(String data) {
    return ofData(Api.CHAT, data);
  }

  static List<String> ofData(Api api, String data) {
    Pushes pushes = new Pushes();
    event(api.parser(pushes), null, data);
    return pushes.lines;
  }

  static void event(ChunkParser parser, @Nullable String type, String data) {
    byte[] bytes = data.getBytes(StandardCharsets.UTF_8);
    parser.event(type, bytes, 0, bytes.length);
  }

  static List<String> ofBody(byte[] body) {
    return ofBody(Api.CHAT, body);
  }

  static List<String> ofBody(Api api, byte[] body) {
    Pushes pushes = new Pushes();
    api.parser(pushes).body(body, 0, body.length);
    return pushes.lines;
  }

  List<String> take() {
    List<String> taken = List.copyOf(lines);
    lines.clear();
    return taken;
  }

  @Override
  public void answerId(String id) {
    ids.add(id);
  }

  @Override
  public void delta(int choice, Channel channel, byte[] buffer, int offset, int length) {
    AnswerBytes text = AnswerBytes.ofText(new AnswerMemory());
    text.append(buffer, offset, length);
    boolean tool = channel == Channel.TOOL_NAME || channel == Channel.TOOL_ARGUMENTS;
    String of = tool ? calling : Integer.toString(choice);
    calling = "unknown";
    lines.add(channel.name().toLowerCase(Locale.ROOT) + "[" + of + "] " + text.text());
  }

  @Override
  public void toolCall(int choice, int call, String id) {
    calling = choice + (call == 0 ? "" : "." + call);
  }

  @Override
  public void finish(int choice, String reason) {
    lines.add("finish[" + choice + "] " + reason);
  }

  @Override
  public void usage(TokenCounts usage) {
    lines.add(
        "usage %d %d %d %d"
            .formatted(usage.prompt(), usage.output(), usage.cached(), usage.reasoning()));
  }

  @Override
  public void unknownField(String name) {
    lines.add("unknown " + name);
  }

  @Override
  public void rateLimited() {
    lines.add("rate limited");
  }

  @Override
  public void server(String key, double value) {
    lines.add(key + " " + value);
  }

  @Override
  public void error(String message) {
    lines.add("error " + message);
  }

  @Override
  public void done() {
    lines.add("done");
  }

  @Override
  public void result(int input) {
    lines.add("result " + input);
  }

  @Override
  public void malformed(String why) {
    lines.add("malformed " + why);
  }

  @Override
  public void eventEnd() {
    lines.add("end");
  }
}
