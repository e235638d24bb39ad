package io.github.gatlingllm.engine;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.gatlingllm.client.Api;
import io.github.gatlingllm.engine.ApiAnswer.Usage;
import io.github.gatlingllm.engine.EmbeddedEngine.Fault;
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
import java.util.stream.IntStream;
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
    Fault fault = engine.settings.faultOf(number);
    if (fault != null) {
      throw Refusal.injected(fault.status());
    }
    byte[] body = ByteBufUtil.getBytes(http.content());
    String requestId = http.headers().get(ResponseWriter.REQUEST_ID, "engine-" + number);
    String model = engine.settings.model;
    List<ServerExchange.SequenceSpec> sequences;
    ApiAnswer writer;
    if (api.generates()) {
      CompletionRequest request = CompletionRequest.parse(api, body, MAPPER);
      sequences = completions(request);
      writer = new ApiAnswer(context, request, requestId, model);
    } else {
      InputsRequest request = InputsRequest.parse(api, body, MAPPER);
      sequences = inputs(request);
      writer = new ApiAnswer(context, request, requestId, model);
    }
    current =
        new ServerExchange(
            engine, requestId, receivedNanos, sequences, writer, () -> current = null);
    current.start();
  }

  private List<ServerExchange.SequenceSpec> completions(CompletionRequest request) throws Refusal {
    EmbeddedEngine.EngineBuilder settings = engine.settings;
    int promptTokens = request.prompt().tokens();
    check(request.model(), promptTokens, Objects.requireNonNullElse(request.maxTokens(), 1));
    int room = settings.maxContext - promptTokens;
    int reasoning = request.api().takesMessages() ? settings.reasoningTokens : 0;
    return IntStream.range(0, request.choices())
        .mapToObj(
            choice -> {
              GeneratedAnswer answer =
                  GeneratedAnswer.to(request, settings.seed, reasoning, room, choice);
              long[] blocks =
                  settings.sharesPrefixes() ? request.prompt().blocks(answer, request.api()) : null;
              return new ServerExchange.SequenceSpec(
                  request.prompt(), request.priority(), blocks, answer, true);
            })
        .toList();
  }

  private List<ServerExchange.SequenceSpec> inputs(InputsRequest request) throws Refusal {
    List<ServerExchange.SequenceSpec> sequences = new ArrayList<>();
    for (Prompt prompt : request.prompts()) {
      check(request.model(), prompt.tokens(), 1);
      // A result is one token without text, for one prefill.
      GeneratedAnswer answer = new GeneratedAnswer(0, 0, 1, "stop", false, List.of(""));
      sequences.add(new ServerExchange.SequenceSpec(prompt, 0, null, answer, false));
    }
    return sequences;
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

  /** One request in progress: passes tokens to the response and keeps their times. */
  private static final class ServerExchange {
    private final EmbeddedEngine engine;
    private final String requestId;
    private final int promptTokens;
    private final ApiAnswer writer;
    private final Runnable onEnd;
    private final long receivedNanos;
    private final List<Choice> choices;
    private @Nullable Long admittedNanos;
    private long[] tokenNanos = new long[16];
    private int generated;
    private boolean ended;

    /** {@code onEnd} is called once, when the connection is free for the next request. */
    ServerExchange(
        EmbeddedEngine engine,
        String requestId,
        long receivedNanos,
        List<SequenceSpec> sequences,
        ApiAnswer writer,
        Runnable onEnd) {
      this.engine = engine;
      this.requestId = requestId;
      this.receivedNanos = receivedNanos;
      this.promptTokens = SequenceSpec.promptTokens(sequences);
      this.writer = writer;
      this.onEnd = onEnd;
      this.choices =
          IntStream.range(0, sequences.size())
              .mapToObj(i -> new Choice(i, sequences.get(i)))
              .toList();
    }

    /** One choice, or an input that has a result, which is a single token without text. */
    @SuppressWarnings("ArrayRecordComponent") // passed on, never compared
    private record SequenceSpec(
        Prompt prompt,
        int priority,
        long @Nullable [] blocks,
        GeneratedAnswer answer,
        boolean generated) {

      private static int promptTokens(List<SequenceSpec> all) {
        return all.get(0).generated()
            ? all.get(0).prompt().tokens()
            : all.stream().mapToInt(spec -> spec.prompt().tokens()).sum();
      }
    }

    private final class Choice implements Sequence.TokenListener {
      private final int index;
      private final SequenceSpec spec;
      private final GeneratedAnswer answer;
      private final Sequence sequence;
      private long begunNanos = receivedNanos;
      private long firstNanos;
      private long lastNanos;
      private int generated;
      private boolean finished;

      Choice(int index, SequenceSpec spec) {
        this.index = index;
        this.spec = spec;
        this.answer = spec.answer();
        this.sequence =
            new Sequence(
                spec.prompt().tokens(),
                answer.tokens(),
                receivedNanos,
                spec.priority(),
                spec.blocks(),
                this);
      }

      @Override
      public void admitted() {
        if (!ended) {
          begunNanos = System.nanoTime();
          begin(this);
        }
      }

      @Override
      public void token() {
        if (!ended) {
          addToken(this);
        }
      }
    }

    void start() {
      writer.open();
      engine.scheduler.submit(choices.stream().map(choice -> choice.sequence).toList());
    }

    void abandon() {
      if (!ended) {
        abort();
        end(true);
      }
    }

    private void begin(Choice choice) {
      if (admittedNanos == null) {
        admittedNanos = choice.begunNanos;
      }
      engine.metrics.admitted(choice.spec.prompt().tokens(), choice.begunNanos - receivedNanos);
      writer.begin(choice.index, usage());
      writer.flush();
    }

    private void addToken(Choice choice) {
      long now = System.nanoTime();
      if (generated == tokenNanos.length) {
        tokenNanos = Arrays.copyOf(tokenNanos, 2 * generated);
      }
      tokenNanos[generated++] = now;
      if (choice.generated == 0) {
        choice.firstNanos = now;
      }
      if (choice.spec.generated() && choice.generated == 0) {
        engine.metrics.firstToken(now - receivedNanos, now - choice.begunNanos);
      } else if (choice.spec.generated()) {
        engine.metrics.nextToken(now - choice.lastNanos);
      }
      choice.lastNanos = now;
      int token = choice.generated++;
      String text = choice.answer.text(token);
      if (!text.isEmpty()) {
        writer.text(choice.index, choice.answer.type(token), text);
      }
      if (choice.generated == choice.answer.tokens()) {
        finish(choice);
      }
      writer.flush();
    }

    private void finish(Choice choice) {
      choice.finished = true;
      String reason = choice.answer.finishReason();
      writer.finish(choice.index, reason);
      long now = System.nanoTime();
      engine.metrics.completed(reason, now - receivedNanos, now - choice.firstNanos);
      if (choices.stream().allMatch(each -> each.finished)) {
        writer.end(usage());
        end(false);
      }
    }

    private void abort() {
      for (Choice choice : choices) {
        if (!choice.finished) {
          engine.scheduler.cancel(choice.sequence);
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
              usage().cachedTokens(),
              choices.get(0).spec.generated() ? generated : 0,
              System.nanoTime(),
              cancelled));
      onEnd.run();
    }

    private Usage usage() {
      int reasoning =
          choices.stream().mapToInt(choice -> choice.answer.reasoning(choice.generated)).sum();
      return new Usage(
          promptTokens,
          generated,
          choices.get(0).sequence.cachedTokens(),
          engine.settings.reasoningTokens == 0 ? null : (Integer) reasoning);
    }
  }
}
