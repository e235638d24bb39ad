package io.github.gatlingllm.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.gatling.http.client.HttpClientConfig;
import io.gatling.http.client.HttpListener;
import io.gatling.http.client.Request;
import io.gatling.http.client.RequestBuilder;
import io.gatling.http.client.SslContextsHolder;
import io.gatling.http.client.body.bytearray.ByteArrayRequestBodyBuilder;
import io.gatling.http.client.impl.DefaultHttpClient;
import io.gatling.http.client.proxy.HttpProxyServer;
import io.gatling.http.client.proxy.ProxyServer;
import io.gatling.http.client.resolver.InetAddressNameResolver;
import io.gatling.http.client.uri.Uri;
import io.github.gatlingllm.figures.metric.Sentence;
import io.github.gatlingllm.record.RequestRecord.Events;
import io.github.gatlingllm.record.RequestRecord.Timing;
import io.github.gatlingllm.record.RequestRecord.Tokens;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.Timeline;
import io.github.gatlingllm.testing.ChatChunks;
import io.github.gatlingllm.testing.ScriptedServer;
import io.netty.channel.EventLoop;
import io.netty.channel.SingleThreadIoEventLoop;
import io.netty.channel.nio.NioIoHandler;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolConfig.Protocol;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectedListenerFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectorFailureBehavior;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.ScheduledFuture;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.zip.GZIPOutputStream;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Exchanges on Gatling's own HTTP client and one event loop, without a Gatling run. Each test has a
 * separate one; after it every exchange must have ended exactly once and left no timer behind.
 */
final class LocalClient implements AfterEachCallback {

  static final long LIMIT_SECONDS = 60;
  static final String A = ChatChunks.content("a");
  static final String STOP = ChatChunks.finish("stop");
  static final String UNFINISHED = Sentence.text("truncated", "choices", "[DONE]");
  static final String RESET = Sentence.text("unconnected", "reset", null, false);
  static final String NO_RESPONSE = Sentence.text("unconnected", "closed", null, false);

  static final ScriptedServer.Script STREAM = x -> x.startStream().event(A).event(STOP).lastChunk();

  static final ScriptedServer.Script ONE_BODY =
      x -> x.respond(200, "application/json", ChatChunks.body("a"));

  static final ScriptedServer.Script AFTER_DONE =
      x -> x.startStream().event(A).event(STOP).done().awaitClientClose();

  private final EventLoop loop = new NotingLoop();
  private final DefaultHttpClient http;
  private final ServerConnections server = new ServerConnections("local");
  private long lastAlone;
  private final List<ScriptedServer> servers = new ArrayList<>();
  private final Queue<AtomicInteger> ends = new ConcurrentLinkedQueue<>();
  private final Queue<Future<?>> timers = new ConcurrentLinkedQueue<>();
  private volatile @Nullable ManualTime manualTime;

  LocalClient() {
    try {
      http =
          new DefaultHttpClient(
              new HttpClientConfig()
                  .setDefaultSslContextsHolder(
                      new SslContextsHolder.Default(
                          tls().build(), tls().applicationProtocolConfig(alpn()).build())));
    } catch (SSLException e) {
      throw new IllegalStateException(e);
    }
  }

  private static SslContextBuilder tls() {
    return SslContextBuilder.forClient().trustManager(InsecureTrustManagerFactory.INSTANCE);
  }

  private static ApplicationProtocolConfig alpn() {
    return new ApplicationProtocolConfig(
        Protocol.ALPN,
        SelectorFailureBehavior.NO_ADVERTISE,
        SelectedListenerFailureBehavior.ACCEPT,
        "h2",
        "http/1.1");
  }

  Call post(String url) {
    return new Call(url);
  }

  ScriptedServer serve(ScriptedServer.Script... scripts) {
    ScriptedServer started = ScriptedServer.start(scripts);
    servers.add(started);
    return started;
  }

  void complete(ScriptedServer server) throws Exception {
    post(server.baseUrl()).ended().assertEnded(RequestStatus.COMPLETE, null);
  }

  void awaitPosts(ScriptedServer server, int posts) {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
    while (server.posts() < posts && System.nanoTime() < deadline) {
      Thread.onSpinWait();
    }
    assertThat(server.posts()).isEqualTo(posts);
  }

  /** The bytes repeated this number of times, as one member of gzip. */
  static byte[] gzip(byte[] part, int times) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(bytes)) {
      for (int i = 0; i < times; i++) {
        gzip.write(part);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  static byte[] gzip(String text) {
    return gzip(text.getBytes(UTF_8), 1);
  }

  /** How a POST for a stream ends at a server that answers so; it gets one request. */
  Ended answeredBy(ScriptedServer.Script script) throws Exception {
    return answeredBy(script, call -> call);
  }

  Ended answeredBy(ScriptedServer.Script script, UnaryOperator<Call> as) throws Exception {
    ScriptedServer server = serve(script);
    Ended ended = as.apply(post(server.baseUrl())).ended();
    settle();
    assertThat(server.posts()).isEqualTo(1);
    return ended;
  }

  final class Call {
    private final String url;
    private boolean streamed = true;
    private int inputs;
    private Api api = Api.CHAT;
    private @Nullable GenerationRequest request;
    private long idleTimeoutMillis = 1_000 * LIMIT_SECONDS;
    private long requestTimeoutMillis = 1_000 * LIMIT_SECONDS;
    private Secrets secrets = Secrets.NONE;
    private LongSupplier nanoClock = System::nanoTime;
    private @Nullable ManualTime manualTime;
    private boolean http2;
    private @Nullable ProxyServer proxy;
    private InetAddressNameResolver resolver = InetAddressNameResolver.JAVA_RESOLVER;

    private Call(String url) {
      this.url = url;
    }

    Call notStreamed() {
      streamed = false;
      return this;
    }

    Call api(Api spoken) {
      api = spoken;
      return this;
    }

    Call request(GenerationRequest sent) {
      request = sent;
      return this;
    }

    Call inputs(Api spoken, int count) {
      inputs = count;
      return api(spoken).notStreamed();
    }

    Call idleTimeoutMillis(long millis) {
      idleTimeoutMillis = millis;
      return this;
    }

    Call requestTimeoutMillis(long millis) {
      requestTimeoutMillis = millis;
      return this;
    }

    Call secret(String secret) {
      secrets = Secrets.of(List.of(secret));
      return this;
    }

    Call nanoClock(LongSupplier clock) {
      nanoClock = clock;
      return this;
    }

    /** By time that only the test changes: its idle timeout too. */
    Call manualTime(ManualTime time) {
      manualTime = time;
      return nanoClock(time);
    }

    Call http2() {
      http2 = true;
      return this;
    }

    Call proxy(int port) throws UnknownHostException {
      proxy = new HttpProxyServer("127.0.0.1", port, null, false, EmptyHttpHeaders.INSTANCE);
      return this;
    }

    Call resolver(InetAddressNameResolver names) {
      resolver = names;
      return this;
    }

    Sent send() {
      return new Sent(this);
    }

    Ended ended() throws Exception {
      return send().ended();
    }

    private GenerationRequest body() {
      if (request != null) {
        return request;
      }
      GenerationRequest.Builder body = GenerationRequest.of(api).stream(streamed).maxTokens(16);
      return api.generates()
          ? body.prompt("Hello!").build()
          : body.prompt(api == Api.RERANK ? "Who?" : null)
              .inputs(Collections.nCopies(inputs, "Hello!"))
              .build();
    }

    private Request request() {
      RequestBuilder builder =
          new RequestBuilder("llm", HttpMethod.POST, Uri.create(url), resolver)
              .addHeader("Content-Type", "application/json")
              .addHeader("Accept-Encoding", "gzip")
              .setBodyBuilder(new ByteArrayRequestBodyBuilder("{}".getBytes(UTF_8), "body"))
              .setRequestTimeout(requestTimeoutMillis)
              .setHttp2Enabled(http2);
      return (proxy == null ? builder : builder.setProxyServer(proxy)).build();
    }
  }

  final class Sent {
    private final CompletableFuture<StreamedExchange> end = new CompletableFuture<>();
    private final StreamedExchange exchange;
    private final long admitted;

    private Sent(Call call) {
      admitted = call.nanoClock.getAsLong();
      Timeline timeline = new Timeline(admitted, admitted);
      timeline.admitted(admitted);
      AtomicInteger count = new AtomicInteger();
      ends.add(count);
      manualTime = call.manualTime;
      exchange =
          new StreamedExchange(
              timeline,
              call.body(),
              TimeUnit.MILLISECONDS.toNanos(call.idleTimeoutMillis),
              call.secrets,
              null,
              loop,
              call.nanoClock,
              ended -> {
                count.incrementAndGet();
                end.complete(ended);
              });
      loop.execute(() -> exchange.send(new OneRequest(call.request())));
    }

    void cancel(String reason) {
      onLoop(() -> exchange.cut(RequestStatus.CANCELLED, reason));
    }

    /** Waits until the exchange, read on its event loop, is as described. */
    void await(Predicate<StreamedExchange> as) {
      AtomicBoolean is = new AtomicBoolean();
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
      while (!is.get() && System.nanoTime() < deadline) {
        onLoop(() -> is.set(as.test(exchange)));
      }
      assertThat(is).isTrue();
    }

    void awaitText(String text) {
      await(under -> under.answer().text().equals(text));
    }

    void awaitOver() {
      await(under -> under.answer().isOver());
    }

    Ended ended() throws Exception {
      return new Ended(end.get(LIMIT_SECONDS, TimeUnit.SECONDS), admitted);
    }
  }

  /** An exchange that is over; one character is one token where the server did not count. */
  record Ended(StreamedExchange exchange, long admittedNanos) {

    RequestStatus status() {
      return exchange.ending().status();
    }

    Ended assertEnded(RequestStatus status, @Nullable String error) {
      assertThat(exchange.ending())
          .extracting(StreamedExchange.Ending::status, StreamedExchange.Ending::error)
          .containsExactly(status, error);
      return this;
    }

    @Nullable Integer httpStatus() {
      return exchange.ending().httpStatus();
    }

    @Nullable String error() {
      return exchange.ending().error();
    }

    boolean wasResent() {
      return exchange.wasResent();
    }

    String text() {
      return exchange.answer().text();
    }

    Tokens tokens() {
      ReceivedAnswer answer = exchange.answer();
      return answer.needsTokenizer() ? answer.tokensByTokenizer(String::length) : answer.tokens();
    }

    Timing timing() {
      return exchange.timeline().timing(0, null, tokens().streamedTokens());
    }

    Events events() {
      return exchange.timeline().events(true);
    }
  }

  private final class OneRequest implements StreamedExchange.Transport {
    private final Request request;
    private long alone;

    OneRequest(Request request) {
      this.request = request;
    }

    @Override
    public ServerConnections server() {
      return server;
    }

    @Override
    public @Nullable String proxy() {
      ProxyServer proxy = request.getProxyServer();
      return proxy == null ? null : proxy.getHost() + ":" + proxy.getPort();
    }

    @Override
    public void send(HttpListener listener) {
      http.sendRequest(request, 1, loop, listener, null);
    }

    @Override
    public void sendOnNewConnection(HttpListener listener) {
      alone = --lastAlone;
      http.sendRequest(request, alone, loop, listener, null);
    }

    @Override
    public void ended() {
      if (alone != 0) {
        http.flushClientIdChannels(alone, loop);
      }
    }
  }

  /**
   * Notes every timer that an exchange starts; those of an exchange by manual time are due by it.
   */
  private final class NotingLoop extends SingleThreadIoEventLoop {
    NotingLoop() {
      super(null, new DefaultThreadFactory("local"), NioIoHandler.newFactory());
    }

    @Override
    public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
      if (!task.getClass().getName().matches(".*[.]IdleTimer[$].*")) {
        return super.schedule(task, delay, unit);
      }
      ManualTime time = manualTime;
      ScheduledFuture<?> timer =
          time == null ? super.schedule(task, delay, unit) : super.schedule(task, 1, TimeUnit.DAYS);
      if (time != null) {
        time.schedule(timer, task, unit.toNanos(delay));
      }
      timers.add(timer);
      return timer;
    }
  }

  /** Lets everything that the event loop has still to do happen. */
  void settle() {
    onLoop(() -> {});
  }

  void onLoop(Runnable work) {
    assertThat(loop.submit(work).awaitUninterruptibly(LIMIT_SECONDS, TimeUnit.SECONDS)).isTrue();
  }

  @Override
  public void afterEach(ExtensionContext context) throws IOException {
    for (ScriptedServer served : servers) {
      served.close();
    }
    settle();
    http.close();
    settle();
    loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
    assertThat(ends).as("ends of each exchange").allMatch(count -> count.get() == 1);
    assertThat(timers).as("timers of the exchanges").allMatch(Future::isDone);
  }
}
