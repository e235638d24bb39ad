package io.github.gatlingllm.engine;

import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** One JSON object at the end. */
final class WholeResponse implements ResponseWriter {
  private final ChannelHandlerContext context;
  private final AnswerFormat format;
  private final String requestId;
  private final List<Said> choices;

  /** What a choice has said so far. */
  private static final class Said {
    private final Map<GeneratedAnswer.Part, StringBuilder> texts =
        new EnumMap<>(GeneratedAnswer.Part.class);
    private String finishReason = "";

    AnswerFormat.Choice whole() {
      Map<GeneratedAnswer.Part, String> strings = new EnumMap<>(GeneratedAnswer.Part.class);
      texts.forEach((part, text) -> strings.put(part, text.toString()));
      return new AnswerFormat.Choice(strings, finishReason);
    }
  }

  WholeResponse(ChannelHandlerContext context, int choices, AnswerFormat format, String requestId) {
    this.context = context;
    this.format = format;
    this.requestId = requestId;
    this.choices = IntStream.range(0, choices).mapToObj(index -> new Said()).toList();
  }

  @Override
  public void open() {}

  @Override
  public void begin(int choice, Usage usage) {}

  @Override
  public void text(int choice, GeneratedAnswer.Part part, CharSequence text, Usage usage) {
    choices.get(choice).texts.computeIfAbsent(part, each -> new StringBuilder()).append(text);
  }

  @Override
  public void finish(int choice, String finishReason, Usage usage) {
    choices.get(choice).finishReason = finishReason;
  }

  @Override
  public void end(Usage usage) {
    String json = format.whole(choices.stream().map(Said::whole).toList(), usage);
    Responses.json(context, HttpResponseStatus.OK, requestId, json);
  }

  @Override
  public void fail(Refusal refusal) {
    Responses.refuse(context, requestId, refusal);
  }

  @Override
  public void flush() {
    context.flush();
  }

  @Override
  public void cut() {
    Responses.cut(context);
  }
}
