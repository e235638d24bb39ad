package io.github.gatlingllm.engine;

import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.HttpResponseStatus;

/** One JSON object at the end. */
final class WholeReply implements Reply {
  private final ChannelHandlerContext context;
  private final AnswerFormat format;
  private final String requestId;
  private final StringBuilder text = new StringBuilder();

  WholeReply(ChannelHandlerContext context, AnswerFormat format, String requestId) {
    this.context = context;
    this.format = format;
    this.requestId = requestId;
  }

  @Override
  public void open() {}

  @Override
  public void begin(Usage usage) {}

  @Override
  public void text(CharSequence more, Usage usage) {
    text.append(more);
  }

  @Override
  public void finish(String finishReason, Usage usage) {
    String json = format.whole(text.toString(), finishReason, usage);
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
