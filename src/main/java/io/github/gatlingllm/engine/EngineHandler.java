package io.github.gatlingllm.engine;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.gatlingllm.wire.Api;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.security.MessageDigest;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** One connection: finds out what each request wants and starts its answer. */
final class EngineHandler extends SimpleChannelInboundHandler<FullHttpRequest> {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private final EngineCore core;
  private @Nullable ServerExchange current;

  EngineHandler(EngineCore core) {
    this.core = core;
  }

  @Override
  protected void channelRead0(ChannelHandlerContext context, FullHttpRequest http) {
    long receivedNanos = core.nanoClock().getAsLong();
    if (current != null) {
      Responses.cut(context); // pipelined: two answers at once cannot share a connection
      return;
    }
    String requestId = http.headers().get(Responses.REQUEST_ID);
    if (!http.decoderResult().isSuccess()) {
      // Where the next request would begin nobody knows: what came after it would hang.
      Responses.refuse(context, requestId, Refusal.badRequest(null, "Malformed HTTP request"));
      Responses.cut(context);
      return;
    }
    try {
      route(context, http, receivedNanos);
    } catch (Refusal refusal) {
      Responses.refuse(context, requestId, refusal);
    }
  }

  private void route(ChannelHandlerContext context, FullHttpRequest http, long receivedNanos)
      throws Refusal {
    String path = http.uri().replaceFirst("\\?.*", "");
    if (path.startsWith("/v1/")) {
      authorize(http);
    }
    switch (path) {
      case "/v1/chat/completions" -> complete(Api.CHAT, context, http, receivedNanos);
      case "/v1/completions" -> complete(Api.COMPLETIONS, context, http, receivedNanos);
      case "/v1/models" -> {
        allow(HttpMethod.GET, http);
        Responses.json(context, HttpResponseStatus.OK, null, models());
      }
      case "/health" -> {
        allow(HttpMethod.GET, http);
        Responses.text(context, "text/plain", "");
      }
      case "/metrics" -> {
        allow(HttpMethod.GET, http);
        String page = core.metrics().text(core.scheduler().load(), core.scheduler().kv());
        Responses.text(context, "text/plain; version=0.0.4; charset=utf-8", page);
      }
      default -> throw Refusal.unknownPath(path);
    }
  }

  private void complete(
      Api api, ChannelHandlerContext context, FullHttpRequest http, long receivedNanos)
      throws Refusal {
    allow(HttpMethod.POST, http);
    long number = core.received().getAndIncrement();
    Fault.Effect fault = core.options().faultOf(number);
    if (fault instanceof Fault.Reject reject) {
      throw Refusal.injected(reject.status());
    }
    CompletionRequest request =
        CompletionRequest.parse(api, ByteBufUtil.getBytes(http.content()), MAPPER);
    EngineCore.Options options = core.options();
    if (request.model() != null && !request.model().equals(options.model())) {
      throw Refusal.unknownModel(request.model(), options.model());
    }
    int room = room(request);
    int reasoning = api == Api.CHAT ? options.reasoningTokens() : 0;
    List<GeneratedAnswer> answers =
        IntStream.range(0, request.choices())
            .mapToObj(
                choice -> GeneratedAnswer.to(request, options.seed(), reasoning, room, choice))
            .toList();
    String requestId = http.headers().get(Responses.REQUEST_ID, "engine-" + number);
    AnswerFormat format =
        new AnswerFormat(
            api,
            request.stream(),
            request.choices(),
            requestId,
            options.model(),
            System.currentTimeMillis() / 1_000);
    ResponseWriter reply =
        request.stream()
            ? new ResponseWriter.Streamed(context, request, format, requestId)
            : new ResponseWriter.Whole(context, request.choices(), format, requestId);
    current =
        new ServerExchange(
            core,
            requestId,
            receivedNanos,
            request,
            answers,
            reply,
            fault,
            context.executor(),
            () -> current = null);
    current.start();
  }

  /** Most tokens that an answer can have; at least what it asks for. */
  private int room(CompletionRequest request) throws Refusal {
    int maxContext = core.options().maxContext();
    int promptTokens = request.prompt().tokens();
    int wanted = request.maxTokens() == null ? 1 : request.maxTokens();
    if ((long) promptTokens + wanted > maxContext) {
      throw Refusal.contextTooLong(maxContext, promptTokens, wanted);
    }
    return maxContext - promptTokens;
  }

  private void authorize(FullHttpRequest http) throws Refusal {
    String key = core.options().apiKey();
    String given = http.headers().get(HttpHeaderNames.AUTHORIZATION, "");
    if (key != null
        && !MessageDigest.isEqual(("Bearer " + key).getBytes(UTF_8), given.getBytes(UTF_8))) {
      throw Refusal.unauthorized();
    }
  }

  private static void allow(HttpMethod method, FullHttpRequest http) throws Refusal {
    if (!http.method().equals(method)) {
      throw Refusal.wrongMethod(http.method().name(), method.name());
    }
  }

  private String models() {
    EngineCore.Options options = core.options();
    return "{\"object\":\"list\",\"data\":[{\"id\":\"%s\",\"object\":\"model\",\"created\":0,\"owned_by\":\"gatling-llm\",\"max_model_len\":%d}]}"
        .formatted(
            String.valueOf(JsonStringEncoder.getInstance().quoteAsString(options.model())),
            options.maxContext());
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext context) {
    context.flush();
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    if (current != null) {
      current.abandon();
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    Responses.cut(context); // reset by the client: channelInactive follows
  }
}
