package io.github.gatlingllm.action;

import static io.gatling.javaapi.core.CoreDsl.ByteArrayBody;
import static io.gatling.javaapi.http.HttpDsl.http;

import io.gatling.core.config.GatlingConfiguration;
import io.gatling.core.session.Session;
import io.gatling.http.cache.SslContextSupport;
import io.gatling.http.client.HttpListener;
import io.gatling.http.client.Request;
import io.gatling.http.cookie.CookieSupport$;
import io.gatling.http.protocol.HttpComponents;
import io.gatling.http.protocol.HttpProtocol;
import io.gatling.http.request.HttpRequestDef;
import io.gatling.http.request.builder.HttpRequestBuilder;
import io.gatling.http.util.SslContexts;
import io.gatling.javaapi.http.HttpRequestActionBuilder;
import io.github.gatlingllm.client.ServerConnections;
import io.github.gatlingllm.client.StreamedExchange;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import scala.Option;

/**
 * The HTTP side of an LLM request: Gatling's own request builder and client, so that proxy, TLS,
 * HTTP/2, DNS, connections and local addresses of the user's {@code http} protocol hold. What that
 * protocol says to the user's own hosts does not go to the model's: no credentials, headers,
 * signature or cookies. What differs from request to request travels in one session attribute.
 */
final class HttpCall {

  private static final String KEY = "gatling.llm.request";

  private static final String COOKIES = CookieSupport$.MODULE$.CookieJarAttributeName();

  /** Below the ids of users, and below -1, which stands for all of them. */
  private static final AtomicLong NOBODY = new AtomicLong(-1);

  private final HttpComponents http;
  private final HttpRequestDef definition;
  private final boolean shared;
  private final @Nullable SslContexts tls;
  private final Map<String, ServerConnections> servers;

  private HttpCall(
      HttpComponents http,
      HttpRequestDef definition,
      boolean shared,
      @Nullable SslContexts tls,
      Map<String, ServerConnections> servers) {
    this.http = http;
    this.servers = servers;
    this.definition = definition;
    this.shared = shared;
    this.tls = tls;
  }

  private record Content(PreparedRequest prepared, String requestId) {}

  static HttpCall of(
      LlmProtocol protocol,
      LlmRequest.RequestDraft request,
      HttpComponents http,
      GatlingConfiguration configuration,
      @Nullable SslContexts tls,
      Map<String, ServerConnections> servers) {
    HttpRequestActionBuilder post =
        http("llm")
            .post(session -> content(session.asScala()).prepared().url())
            .header("Content-Type", "application/json")
            .header("Accept", session -> accept(content(session.asScala()).prepared()))
            .header("X-Request-Id", session -> content(session.asScala()).requestId())
            .body(ByteArrayBody(session -> content(session.asScala()).prepared().body().toJson()))
            .requestTimeout(
                request.requestTimeout == null ? protocol.requestTimeout : request.requestTimeout)
            .disableFollowRedirect();
    if (protocol.apiKey != null || request.apiKey != null) {
      post =
          post.header(
              "Authorization",
              session -> "Bearer " + content(session.asScala()).prepared().apiKey());
    }
    for (Map<String, Dynamic<String>> extra :
        java.util.List.of(protocol.headers, request.headers)) {
      for (Map.Entry<String, Dynamic<String>> header : extra.entrySet()) {
        post = post.header(header.getKey(), s -> header.getValue().resolve(s.asScala()));
      }
    }
    HttpRequestBuilder builder = (HttpRequestBuilder) post.asScala();
    return new HttpCall(
        http,
        builder.build(
            http.httpCaches(),
            connecting(http.httpProtocol(), configuration),
            false,
            configuration),
        protocol.shareConnections,
        tls,
        servers);
  }

  /** How that protocol connects, with the requests of none. */
  private static HttpProtocol connecting(HttpProtocol http, GatlingConfiguration configuration) {
    return http.copy(
        http.baseUrls(),
        http.warmUpUrl(),
        http.enginePart(),
        HttpProtocol.apply(configuration).requestPart(),
        http.responsePart(),
        http.wsPart(),
        http.ssePart(),
        http.proxyPart(),
        http.dnsPart());
  }

  /**
   * The request as it goes over the wire.
   *
   * @throws Dynamic.Unresolved when a header or the URL cannot be computed
   */
  Request build(Session session, PreparedRequest prepared, String requestId) {
    Content content = new Content(prepared, requestId);
    Session asked = session.remove(COOKIES).set(KEY, content);
    return Validations.value(definition.clientRequest().apply(asked));
  }

  /** What sends it, and tells the listener on the session's event loop. */
  StreamedExchange.Transport transport(Request request, Session session) {
    return new OneRequest(request, session);
  }

  private final class OneRequest implements StreamedExchange.Transport {

    private final Request request;
    private final Session session;
    private final ServerConnections server;
    private long alone;

    OneRequest(Request request, Session session) {
      this.request = request;
      this.session = session;
      String address = request.getUri().getHost() + ":" + request.getUri().getExplicitPort();
      this.server = servers.computeIfAbsent(address, ServerConnections::new);
    }

    @Override
    public ServerConnections server() {
      return server;
    }

    @Override
    public void send(HttpListener listener) {
      execute(session.userId(), shared, listener);
    }

    /** Connections are kept for whom they were opened: this one for a user that there is not. */
    @Override
    public void sendAlone(HttpListener listener) {
      alone = NOBODY.decrementAndGet();
      execute(alone, false, listener);
    }

    private void execute(long userId, boolean anyUser, HttpListener listener) {
      http.httpEngine()
          .executeRequest(request, userId, anyUser, session.eventLoop(), listener, tlsOf(session));
    }

    /** The server is given the time to close it first, as it is expected to. */
    @Override
    public void ended() {
      if (alone == 0) {
        return;
      }
      EventLoops.at(
          session.eventLoop(),
          System.nanoTime() + ServerConnections.RIGHT_AFTER_NANOS,
          () -> http.httpEngine().flushClientIdChannels(alone, session.eventLoop()));
    }
  }

  /** None for those of Gatling's client. */
  private Option<SslContexts> tlsOf(Session session) {
    if (tls != null) {
      return Option.apply(tls);
    }
    return shared ? Option.empty() : SslContextSupport.sslContexts(session);
  }

  private static Content content(Session session) {
    return (Content) session.attributes().apply(KEY);
  }

  private static String accept(PreparedRequest prepared) {
    return prepared.body().stream() ? "text/event-stream" : "application/json";
  }
}
