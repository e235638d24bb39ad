package io.github.gatlingllm.engine;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.gatlingllm.client.Api;
import io.github.gatlingllm.engine.EmbeddedEngine.EngineCore;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import java.security.MessageDigest;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** One connection: routes each request and starts its answer. */
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
      Responses.cut(context); // pipelining is not supported
      return;
    }
    String requestId = http.headers().get(Responses.REQUEST_ID);
    if (!http.decoderResult().isSuccess()) {
      // The start of the next request is unknown, so the connection cannot be reused.
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
      case "/v1/chat/completions" -> answer(Api.CHAT, context, http, receivedNanos);
      case "/v1/completions" -> answer(Api.COMPLETIONS, context, http, receivedNanos);
      case "/v1/responses" -> answer(Api.RESPONSES, context, http, receivedNanos);
      case "/v1/messages" -> answer(Api.MESSAGES, context, http, receivedNanos);
      case "/v1/embeddings" -> answer(Api.EMBEDDINGS, context, http, receivedNanos);
      case "/v1/models" -> page(context, http, Responses.JSON, this::models);
      case "/health" -> page(context, http, "text/plain", () -> "");
      case "/metrics" ->
          page(
              context,
              http,
              "text/plain; version=0.0.4; charset=utf-8",
              () -> core.metrics().text(core.scheduler().load(), core.scheduler().kv()));
      default -> throw Refusal.unknownPath(path);
    }
  }

  private static void page(
      ChannelHandlerContext context, FullHttpRequest http, String type, Supplier<String> page)
      throws Refusal {
    allow(HttpMethod.GET, http);
    Responses.ok(context, null, type, page.get());
  }

  private void answer(
      Api api, ChannelHandlerContext context, FullHttpRequest http, long receivedNanos)
      throws Refusal {
    allow(HttpMethod.POST, http);
    long number = core.received().getAndIncrement();
    Fault.Effect fault = core.settings().faultOf(number);
    if (fault instanceof Fault.Reject reject) {
      throw Refusal.injected(reject.status());
    }
    byte[] body = ByteBufUtil.getBytes(http.content());
    String requestId = http.headers().get(Responses.REQUEST_ID, "engine-" + number);
    List<ServerExchange.SequenceSpec> sequences;
    ResponseWriter writer;
    if (api.generates()) {
      CompletionRequest request = CompletionRequest.parse(api, body, MAPPER);
      sequences = completions(request);
      writer = writer(request, context, requestId);
    } else {
      EmbeddingRequest request = EmbeddingRequest.parse(body, MAPPER);
      sequences = embeddings(request);
      String model = core.settings().model;
      writer =
          new ResponseWriter.Whole(
              context,
              sequences.size(),
              (choices, usage) -> request.response(model, usage.promptTokens()),
              requestId);
    }
    current =
        new ServerExchange(
            core,
            requestId,
            receivedNanos,
            sequences,
            writer,
            fault,
            context.executor(),
            () -> current = null);
    current.start();
  }

  private List<ServerExchange.SequenceSpec> completions(CompletionRequest request) throws Refusal {
    EmbeddedEngineBuilder settings = core.settings();
    checkModel(request.model());
    int maxOutputTokens = maxOutputTokens(request);
    int reasoning = request.api().takesMessages() ? settings.reasoningTokens : 0;
    return IntStream.range(0, request.choices())
        .mapToObj(
            choice -> {
              GeneratedAnswer answer =
                  GeneratedAnswer.to(request, settings.seed, reasoning, maxOutputTokens, choice);
              BlockChain chain =
                  settings.sharesPrefixes()
                      ? BlockChain.of(request.prompt(), answer, request.api())
                      : BlockChain.NONE;
              return new ServerExchange.SequenceSpec(request.prompt(), chain, answer, true);
            })
        .toList();
  }

  private List<ServerExchange.SequenceSpec> embeddings(EmbeddingRequest request) throws Refusal {
    checkModel(request.model());
    int maxContext = core.settings().contextTokens();
    for (Prompt prompt : request.prompts()) {
      if (prompt.tokens() >= maxContext) {
        throw Refusal.contextTooLong(maxContext, prompt.tokens(), 1);
      }
    }
    return request.prompts().stream()
        .map(
            prompt ->
                new ServerExchange.SequenceSpec(
                    prompt, BlockChain.NONE, GeneratedAnswer.ofEmbedding(), false))
        .toList();
  }

  private void checkModel(@Nullable String model) throws Refusal {
    String served = core.settings().model;
    if (model != null && !model.equals(served)) {
      throw Refusal.unknownModel(model, served);
    }
  }

  private ResponseWriter writer(
      CompletionRequest request, ChannelHandlerContext context, String requestId) {
    String model = core.settings().model;
    long createdSeconds = System.currentTimeMillis() / 1_000;
    ResponseWriter.Events events =
        switch (request.api()) {
          case RESPONSES -> new ResponsesAnswer(context, requestId, model, createdSeconds);
          case MESSAGES -> new MessagesAnswer(context, requestId, model);
          default -> new ChatAnswer(context, request, requestId, model, createdSeconds);
        };
    return request.stream()
        ? events
        : new ResponseWriter.Whole(context, request.choices(), events::whole, requestId);
  }

  /** Tokens left in the context behind the prompt; rejects a request that does not fit. */
  private int maxOutputTokens(CompletionRequest request) throws Refusal {
    int maxContext = core.settings().contextTokens();
    int promptTokens = request.prompt().tokens();
    int outputTokens = request.maxTokens() == null ? 1 : request.maxTokens();
    if ((long) promptTokens + outputTokens > maxContext) {
      throw Refusal.contextTooLong(maxContext, promptTokens, outputTokens);
    }
    return maxContext - promptTokens;
  }

  private void authorize(FullHttpRequest http) throws Refusal {
    String key = core.settings().apiKey;
    if (key != null
        && !isSame("Bearer " + key, http.headers().get(HttpHeaderNames.AUTHORIZATION, ""))
        && !isSame(key, http.headers().get("x-api-key", ""))) {
      throw Refusal.unauthorized();
    }
  }

  private static boolean isSame(String expected, String given) {
    return MessageDigest.isEqual(expected.getBytes(UTF_8), given.getBytes(UTF_8));
  }

  private static void allow(HttpMethod method, FullHttpRequest http) throws Refusal {
    if (!http.method().equals(method)) {
      throw Refusal.wrongMethod(http.method().name(), method.name());
    }
  }

  private String models() {
    EmbeddedEngineBuilder settings = core.settings();
    return Json.of(
            """
            {'object':'list','data':[{'id':%s,'object':'model','created':0,
            'owned_by':'gatling-llm','max_model_len':%s}]}\
            """,
            settings.model, settings.contextTokens())
        .text();
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
    Responses.cut(context); // reset by the client; channelInactive follows
  }
}
