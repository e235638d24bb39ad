package io.github.gatlingllm.engine;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.gatlingllm.client.Api;
import io.github.gatlingllm.engine.EmbeddedEngine.GroundTruth;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** One connection: routes each request and starts its answer. */
final class EngineHandler extends SimpleChannelInboundHandler<FullHttpRequest> {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private static final String METRICS = "text/plain; version=0.0.4; charset=utf-8";

  private final EmbeddedEngine engine;
  private @Nullable ServerExchange current;

  EngineHandler(EmbeddedEngine engine) {
    this.engine = engine;
  }

  @Override
  protected void channelRead0(ChannelHandlerContext context, FullHttpRequest http) {
    long receivedNanos = System.nanoTime();
    if (current != null) {
      ResponseWriter.cut(context); // pipelining is not supported
      return;
    }
    String requestId = http.headers().get(ResponseWriter.REQUEST_ID);
    if (!http.decoderResult().isSuccess()) {
      // The start of the next request is unknown, so the connection cannot be reused.
      ResponseWriter.refuse(context, requestId, Refusal.badRequest(null, "Malformed HTTP request"));
      ResponseWriter.cut(context);
      return;
    }
    try {
      route(context, http, receivedNanos);
    } catch (Refusal refusal) {
      ResponseWriter.refuse(context, requestId, refusal);
    }
  }

  private void route(ChannelHandlerContext context, FullHttpRequest http, long receivedNanos)
      throws Refusal {
    String path = http.uri().replaceFirst("\\?.*", "");
    Api api = Api.ofPath(path);
    boolean isBare = path.equals(Api.RERANK.path());
    if (isBare || path.startsWith("/v1/")) {
      authorize(http);
    }
    if (api != null && (isBare || path.equals("/v1" + api.path()))) {
      answer(api, context, http, receivedNanos);
      return;
    }
    switch (path) {
      case "/v1/models" -> page(context, http, ResponseWriter.JSON, this::models);
      case "/tokenize" -> tokenize(context, http);
      case "/health" -> page(context, http, "text/plain", () -> "");
      case "/metrics" -> page(context, http, METRICS, () -> engine.metrics.text(engine.load()));
      default -> throw Refusal.unknownPath(path);
    }
  }

  private static void page(
      ChannelHandlerContext context, FullHttpRequest http, String type, Supplier<String> page)
      throws Refusal {
    allow(HttpMethod.GET, http);
    ResponseWriter.ok(context, null, type, page.get());
  }

  /** Counts a prompt or messages, in the form of vLLM. */
  private void tokenize(ChannelHandlerContext context, FullHttpRequest http) throws Refusal {
    authorize(http);
    allow(HttpMethod.POST, http);
    byte[] body = ByteBufUtil.getBytes(http.content());
    boolean isChat = new String(body, UTF_8).contains("\"messages\"");
    CompletionRequest request =
        CompletionRequest.parse(isChat ? Api.CHAT : Api.COMPLETIONS, body, MAPPER);
    ObjectNode counted =
        MAPPER
            .createObjectNode()
            .put("count", request.prompt().tokens())
            .put("max_model_len", engine.settings.maxContext);
    ResponseWriter.ok(context, null, ResponseWriter.JSON, counted.toString());
  }

  private void answer(
      Api api, ChannelHandlerContext context, FullHttpRequest http, long receivedNanos)
      throws Refusal {
    allow(HttpMethod.POST, http);
    long number = engine.received.getAndIncrement();
    Integer fault = engine.settings.faultOf(number);
    if (fault != null) {
      throw Refusal.injected(fault);
    }
    byte[] body = ByteBufUtil.getBytes(http.content());
    String requestId = http.headers().get(ResponseWriter.REQUEST_ID, "engine-" + number);
    String model = engine.settings.model;
    ServerExchange exchange =
        new ServerExchange(engine, requestId, receivedNanos, api.generates(), () -> current = null);
    ApiAnswer writer;
    if (api.generates()) {
      CompletionRequest request = CompletionRequest.parse(api, body, MAPPER);
      addChoices(request, exchange);
      writer = new ApiAnswer(context, request, requestId, model);
    } else {
      InputsRequest request = InputsRequest.parse(api, body, MAPPER);
      addInputs(request, exchange);
      writer = new ApiAnswer(context, request, requestId, model);
    }
    current = exchange;
    exchange.start(writer);
  }

  private void addChoices(CompletionRequest request, ServerExchange exchange) throws Refusal {
    EmbeddedEngine.EngineBuilder settings = engine.settings;
    Prompt prompt = request.prompt();
    check(request.model(), prompt.tokens(), Objects.requireNonNullElse(request.maxTokens(), 1));
    int room = settings.maxContext - prompt.tokens();
    int reasoning = request.api().takesMessages() ? settings.reasoningTokens : 0;
    for (int choice = 0; choice < request.choices(); choice++) {
      GeneratedAnswer answer = GeneratedAnswer.to(request, settings.seed, reasoning, room, choice);
      long[] blocks = settings.hasPrefixCache() ? prompt.blocks(answer, request.api()) : null;
      exchange.add(prompt, request.priority(), blocks, answer);
    }
  }

  private void addInputs(InputsRequest request, ServerExchange exchange) throws Refusal {
    for (Prompt prompt : request.prompts()) {
      check(request.model(), prompt.tokens(), 1);
      // A result is one token without text, for one prefill.
      exchange.add(prompt, 0, null, new GeneratedAnswer(0, 0, 1, "stop", false, List.of("")));
    }
  }

  private void check(@Nullable String model, int promptTokens, int outputTokens) throws Refusal {
    EmbeddedEngine.EngineBuilder settings = engine.settings;
    if (model != null && !model.equals(settings.model)) {
      throw Refusal.unknownModel(model, settings.model);
    }
    if ((long) promptTokens + outputTokens > settings.maxContext) {
      throw Refusal.contextTooLong(settings.maxContext, promptTokens, outputTokens);
    }
  }

  private void authorize(FullHttpRequest http) throws Refusal {
    String key = engine.settings.apiKey;
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
    EmbeddedEngine.EngineBuilder settings = engine.settings;
    ObjectNode models = MAPPER.createObjectNode().put("object", "list");
    models
        .putArray("data")
        .addObject()
        .put("id", settings.model)
        .put("object", "model")
        .put("created", 0)
        .put("owned_by", "gatling-llm")
        .put("max_model_len", settings.maxContext);
    return models.toString();
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
    ResponseWriter.cut(context); // reset by the client; channelInactive follows
  }

  /** One request in progress: passes tokens to the response and records their times. */
  private static final class ServerExchange {
    private final EmbeddedEngine engine;
    private final String requestId;
    private final boolean isGenerated;
    private final Runnable onEnd;
    private final long receivedNanos;
    private final List<Choice> choices = new ArrayList<>();
    private @Nullable ApiAnswer writer;
    private int promptTokens;
    private @Nullable Long admittedNanos;
    private long[] tokenNanos = new long[16];
    private int generated;
    private boolean ended;

    /** {@code onEnd} is called once, when the connection is free for the next request. */
    ServerExchange(
        EmbeddedEngine engine,
        String requestId,
        long receivedNanos,
        boolean isGenerated,
        Runnable onEnd) {
      this.engine = engine;
      this.requestId = requestId;
      this.receivedNanos = receivedNanos;
      this.isGenerated = isGenerated;
      this.onEnd = onEnd;
    }

    /** Adds a choice, or an input that has a result. */
    void add(Prompt prompt, int priority, long @Nullable [] blocks, GeneratedAnswer answer) {
      if (choices.isEmpty() || !isGenerated) {
        promptTokens += prompt.tokens();
      }
      choices.add(new Choice(choices.size(), prompt, priority, blocks, answer));
    }

    private final class Choice extends Sequence {
      private final int index;
      private final GeneratedAnswer answer;
      private long begunNanos = receivedNanos;
      private long firstNanos;
      private long lastNanos;
      private int written;

      Choice(
          int index,
          Prompt prompt,
          int priority,
          long @Nullable [] blocks,
          GeneratedAnswer answer) {
        super(prompt.tokens(), answer.tokens(), receivedNanos, priority, blocks);
        this.index = index;
        this.answer = answer;
      }

      boolean isWritten() {
        return written == answer.tokens();
      }

      @Override
      void admitted() {
        if (!ended) {
          begunNanos = System.nanoTime();
          admit(this);
        }
      }

      @Override
      void token() {
        if (!ended) {
          addToken(this);
        }
      }
    }

    void start(ApiAnswer answer) {
      writer = answer;
      answer.open();
      engine.scheduler.submit(choices);
    }

    void abandon() {
      if (!ended) {
        abort();
        end(true);
      }
    }

    private void admit(Choice choice) {
      if (admittedNanos == null) {
        admittedNanos = choice.begunNanos;
      }
      engine.metrics.admitted(choice.promptTokens, choice.begunNanos - receivedNanos);
      countUsage();
      writer.begin(choice.index);
      writer.flush();
    }

    private void addToken(Choice choice) {
      long now = System.nanoTime();
      if (generated == tokenNanos.length) {
        tokenNanos = Arrays.copyOf(tokenNanos, 2 * generated);
      }
      tokenNanos[generated++] = now;
      if (choice.written == 0) {
        choice.firstNanos = now;
      }
      if (isGenerated && choice.written == 0) {
        engine.metrics.firstToken(now - receivedNanos, now - choice.begunNanos);
      } else if (isGenerated) {
        engine.metrics.nextToken(now - choice.lastNanos);
      }
      choice.lastNanos = now;
      int token = choice.written++;
      String text = choice.answer.text(token);
      if (!text.isEmpty()) {
        writer.text(choice.index, choice.answer.type(token), text);
      }
      if (choice.isWritten()) {
        finish(choice);
      }
      writer.flush();
    }

    private void finish(Choice choice) {
      String reason = choice.answer.finishReason();
      writer.finish(choice.index, reason);
      long now = System.nanoTime();
      engine.metrics.completed(reason, now - receivedNanos, now - choice.firstNanos);
      if (choices.stream().allMatch(Choice::isWritten)) {
        countUsage();
        writer.end();
        end(false);
      }
    }

    private void abort() {
      for (Choice choice : choices) {
        if (!choice.isWritten()) {
          engine.scheduler.cancel(choice);
          engine.metrics.aborted();
        }
      }
    }

    private void end(boolean cancelled) {
      ended = true;
      engine.ended(
          new GroundTruth(
              requestId,
              receivedNanos,
              admittedNanos,
              generated == 0 ? null : (Long) tokenNanos[0],
              Arrays.copyOf(tokenNanos, generated),
              promptTokens,
              choices.get(0).cachedTokens(),
              isGenerated ? generated : 0,
              System.nanoTime(),
              cancelled));
      onEnd.run();
    }

    private void countUsage() {
      int reasoning =
          choices.stream().mapToInt(choice -> choice.answer.reasoning(choice.written)).sum();
      writer.count(
          promptTokens,
          choices.get(0).cachedTokens(),
          generated,
          engine.settings.reasoningTokens == 0 ? null : (Integer) reasoning);
    }
  }
}
