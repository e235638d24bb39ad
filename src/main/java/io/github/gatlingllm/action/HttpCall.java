package io.github.gatlingllm.action;

import static io.gatling.javaapi.core.CoreDsl.ByteArrayBody;
import static io.gatling.javaapi.http.HttpDsl.http;

import io.gatling.core.config.GatlingConfiguration;
import io.gatling.core.session.Session;
import io.gatling.core.structure.ScenarioContext;
import io.gatling.http.cache.SslContextSupport;
import io.gatling.http.client.HttpListener;
import io.gatling.http.client.Request;
import io.gatling.http.client.body.bytearray.ByteArrayRequestBody;
import io.gatling.http.client.proxy.HttpProxyServer;
import io.gatling.http.client.proxy.ProxyServer;
import io.gatling.http.client.realm.BasicRealm;
import io.gatling.http.cookie.CookieSupport$;
import io.gatling.http.protocol.HttpComponents;
import io.gatling.http.protocol.HttpProtocol;
import io.gatling.http.request.HttpRequestDef;
import io.gatling.http.request.builder.HttpRequestBuilder;
import io.gatling.http.util.SslContexts;
import io.gatling.javaapi.http.HttpRequestActionBuilder;
import io.github.gatlingllm.client.Api;
import io.github.gatlingllm.client.ServerConnections;
import io.github.gatlingllm.client.StreamedExchange;
import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.record.Proxy;
import io.github.gatlingllm.settings.Setting;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;
import java.net.URI;
import java.net.UnknownHostException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import scala.Option;

/**
 * Builds and sends requests with Gatling's request builder and HTTP client, with the connections of
 * the {@code http} protocol, without its credentials, headers and cookies, which are for other
 * hosts. The builder is called once per URL where its result cannot differ, as it is slow.
 */
final class HttpCall {

  private static final String KEY = "gatling.llm.request";

  private static final String COOKIES = CookieSupport$.MODULE$.CookieJarAttributeName();

  /** Gatling pools connections by client and URL; this client stands for all users. */
  private static final long ALL_USERS = -1;

  /** Ids of clients that are not users. */
  private static final AtomicLong CLIENT_IDS = new AtomicLong(ALL_USERS);

  private static final int MAX_URLS = 64;

  private final HttpComponents http;
  private final HttpRequestDef definition;
  private final List<Header> headers;
  private final boolean isCacheable;
  private final boolean isInside;
  private final Map<String, ProxyServer> proxies;
  private final Map<String, Request> cachedByUrl = new ConcurrentHashMap<>();
  private final boolean isShared;
  private final long sharedClientId;
  private final boolean hasSeveralUrls;
  private final @Nullable SslContexts tls;
  private final Map<String, ServerConnections> servers;

  HttpCall(ScenarioContext context, Target target, LlmRequest request) {
    LlmProtocol protocol = target.protocol;
    GatlingConfiguration configuration = context.coreComponents().configuration();
    http = components(context);
    servers = target.run.totals.servers;
    headers = headers(target, request);
    isInside = isInside(protocol);
    HttpProtocol settings =
        connectionSettings(http.httpProtocol(), configuration, Proxy.isSet() || isInside);
    definition =
        builder(protocol, request).build(http.httpCaches(), settings, false, configuration);
    isCacheable = isCacheable(settings);
    proxies = isInside ? Map.of() : proxies(protocol, request.api);
    isShared = protocol.shareConnections();
    sharedClientId = sharedClientId(protocol.get(Setting.VERIFY_TLS));
    hasSeveralUrls = protocol.baseUrls().size() > 1;
    tls = target.all.tls(protocol, http.httpProtocol().enginePart().enableHttp2(), configuration);
  }

  static HttpComponents components(ScenarioContext context) {
    return context.protocolComponentsRegistry().components(HttpProtocol.HttpProtocolKey());
  }

  /** An engine in this JVM is reached directly, whatever proxy there is for other hosts. */
  private static boolean isInside(LlmProtocol protocol) {
    return protocol.get(ProtocolPart.IN_THIS_JVM)
        || protocol.baseUrls().stream().allMatch(EmbeddedEngine::isAt);
  }

  /** By URL, where the setting {@code proxy} names one. */
  private static Map<String, ProxyServer> proxies(LlmProtocol protocol, Api api) {
    Map<String, ProxyServer> proxies = new HashMap<>();
    for (int user = 0; user < protocol.baseUrls().size() && !LlmProtocol.isDryRun(); user++) {
      String url = protocol.url(user, api);
      URI proxy = InvalidSimulation.checked(() -> Proxy.of(URI.create(url)));
      if (proxy != null) {
        String[] logIn = String.valueOf(proxy.getUserInfo()).split(":", 2);
        BasicRealm realm =
            proxy.getUserInfo() == null
                ? null
                : new BasicRealm(logIn[0], logIn.length < 2 ? "" : logIn[1]);
        try {
          proxies.put(
              url,
              new HttpProxyServer(
                  proxy.getHost(), proxy.getPort(), realm, false, new DefaultHttpHeaders()));
        } catch (UnknownHostException e) {
          throw InvalidSimulation.because(
              "proxy " + proxy.getHost() + ": unknown host; check llm.proxy, or set none");
        }
      }
    }
    return proxies;
  }

  /** Requests that verify certificates use no connection that was opened without. */
  private static long sharedClientId(@Nullable Boolean verifyTls) {
    return verifyTls == null ? ALL_USERS : Long.MIN_VALUE + (verifyTls ? 1 : 0);
  }

  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Content(PreparedRequest prepared, String[] values) {}

  private record Header(String name, Value value) {}

  @FunctionalInterface
  private interface Value {
    String of(PreparedRequest prepared, String requestId, Session session);
  }

  /** Whether the result of Gatling's builder depends on neither session nor earlier responses. */
  private static boolean isCacheable(HttpProtocol http) {
    return !http.enginePart().enableHttp2()
        && http.enginePart().localAddresses().isEmpty()
        && http.proxyPart().proxy().isEmpty()
        && http.proxyPart().proxyProtocolSourceIpV4Address().isEmpty()
        && http.proxyPart().proxyProtocolSourceIpV6Address().isEmpty();
  }

  private HttpRequestBuilder builder(LlmProtocol protocol, LlmRequest request) {
    HttpRequestActionBuilder post =
        http("llm")
            .post(session -> content(session.asScala()).prepared().url())
            .body(ByteArrayBody(session -> content(session.asScala()).prepared().body().toJson()))
            .requestTimeout(
                request.requestTimeout == null
                    ? protocol.get(Setting.TIMEOUT)
                    : request.requestTimeout)
            .disableFollowRedirect();
    for (int i = 0; i < headers.size(); i++) {
      int index = i;
      post = post.header(headers.get(i).name(), s -> content(s.asScala()).values()[index]);
    }
    return (HttpRequestBuilder) post.asScala();
  }

  /** Of two headers of the same name the later one counts. */
  private static List<Header> headers(Target target, LlmRequest request) {
    LlmProtocol protocol = target.protocol;
    Map<String, Value> all = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    all.put("Content-Type", (prepared, requestId, session) -> "application/json");
    all.put("Accept", (prepared, requestId, session) -> accept(prepared));
    all.put("X-Request-Id", (prepared, requestId, session) -> requestId);
    if (protocol.get(Setting.CONVERSATION_HEADER) != null) {
      all.put(protocol.get(Setting.CONVERSATION_HEADER), HttpCall::conversation);
    }
    if (protocol.apiKey() != null || request.apiKey != null) {
      all.put("Authorization", (prepared, requestId, session) -> "Bearer " + prepared.apiKey());
    }
    request
        .api
        .headers()
        .forEach(
            (name, value) -> {
              if (!value.isEmpty()) {
                all.put(name, (prepared, requestId, session) -> value);
              } else if (all.containsKey("Authorization")) {
                all.put(name, (prepared, requestId, session) -> String.valueOf(prepared.apiKey()));
              }
            });
    for (Map<String, Dynamic<String>> some : List.of(protocol.headers(), request.headers)) {
      some.forEach(
          (name, value) -> all.put(name, (prepared, id, session) -> value.resolve(session)));
    }
    if (protocol.get(Setting.TRACE)) { // last, as the record has its id
      all.put("traceparent", (prepared, id, session) -> target.traceParent(id, !request.isSilent));
    }
    return all.entrySet().stream().map(one -> new Header(one.getKey(), one.getValue())).toList();
  }

  /** The same for all requests of a conversation, and for no others of the load test. */
  private static String conversation(PreparedRequest prepared, String requestId, Session session) {
    Long number = SessionReplay.numberOf(session, prepared.conversation());
    return number == null
        ? requestId
        : requestId.substring(0, requestId.lastIndexOf('-') + 1) + "c" + number;
  }

  /** The protocol's settings of connections, without those of requests. */
  private static HttpProtocol connectionSettings(
      HttpProtocol http, GatlingConfiguration configuration, boolean withoutProxy) {
    HttpProtocol byDefault = HttpProtocol.apply(configuration);
    return http.copy(
        http.baseUrls(),
        http.warmUpUrl(),
        http.enginePart(),
        byDefault.requestPart(),
        http.responsePart(),
        http.wsPart(),
        http.ssePart(),
        withoutProxy ? byDefault.proxyPart() : http.proxyPart(),
        http.dnsPart());
  }

  Request build(Session session, PreparedRequest prepared, String requestId) {
    String[] values = new String[headers.size()];
    for (int i = 0; i < values.length; i++) {
      // A line break, with which files of secrets end, would end the header.
      values[i] = headers.get(i).value().of(prepared, requestId, session).strip();
    }
    Request cached = cachedByUrl.get(prepared.url());
    if (cached != null) {
      return copy(cached, session, prepared, values, cached.getProxyServer());
    }
    Session withContent = session.remove(COOKIES).set(KEY, new Content(prepared, values));
    Request built = Dynamic.value(definition.clientRequest().apply(withContent));
    ProxyServer proxy = proxies.get(prepared.url());
    if (proxy instanceof HttpProxyServer http
        && http.getRealm() != null
        && !built.getUri().isSecured()) {
      built.getHeaders().set("Proxy-Authorization", http.getRealm().getAuthorizationHeader());
    }
    Request first = proxy == null ? built : copy(built, session, prepared, values, proxy);
    if (isCacheable && cachedByUrl.size() < MAX_URLS) {
      cachedByUrl.put(prepared.url(), first.copyWithCopiedHeaders());
    }
    return first;
  }

  private Request copy(
      Request cached,
      Session session,
      PreparedRequest prepared,
      String[] values,
      @Nullable ProxyServer proxy) {
    HttpHeaders sent = cached.getHeaders().copy();
    for (int i = 0; i < values.length; i++) {
      sent.set(headers.get(i).name(), values[i]);
    }
    return new Request(
        cached.getName(),
        cached.getMethod(),
        cached.getUri(),
        sent,
        cached.getCookies(),
        new ByteArrayRequestBody(
            prepared.body().toJson(), null, ((ByteArrayRequestBody) cached.getBody()).getCharset()),
        cached.getRequestTimeout(),
        cached.isAutoOrigin(),
        cached.getLocalAddresses(),
        cached.getRealm(),
        proxy,
        cached.getProxyProtocolSourceIpV4Address(),
        cached.getProxyProtocolSourceIpV6Address(),
        cached.getSignatureCalculator(),
        Dynamic.value(http.httpCaches().nameResolver(session)),
        cached.isHttp2Enabled(),
        cached.getHttp2PriorKnowledge(),
        cached.getWsSubprotocol());
  }

  StreamedExchange.Transport transport(Request request, Session session) {
    return new OneRequest(request, session);
  }

  private final class OneRequest implements StreamedExchange.Transport {

    private final Request request;
    private final Session session;
    private final ServerConnections server;
    private long ownClientId;

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
    public @Nullable String proxy() {
      ProxyServer proxy = request.getProxyServer();
      return proxy == null ? null : proxy.getHost() + ":" + proxy.getPort();
    }

    @Override
    public @Nullable String unusedProxy() {
      return isInside || Proxy.isSet() || request.getProxyServer() != null
          ? null
          : Proxy.variable(URI.create(request.getUri().toUrl()), System.getenv());
    }

    @Override
    public String named(String error) {
      return hasSeveralUrls ? server.address() + ": " + error : error;
    }

    @Override
    public void send(HttpListener listener) {
      execute(isShared ? sharedClientId : session.userId(), listener);
    }

    /** Connections belong to the client that opened them: this one has no other requests. */
    @Override
    public void sendOnNewConnection(HttpListener listener) {
      ownClientId = CLIENT_IDS.decrementAndGet();
      execute(ownClientId, listener);
    }

    private void execute(long clientId, HttpListener listener) {
      http.httpEngine()
          .executeRequest(request, clientId, false, session.eventLoop(), listener, tlsOf(session));
    }

    /** Closes the connection of {@link #sendOnNewConnection}, unless the server does it first. */
    @Override
    public void ended() {
      if (ownClientId == 0) {
        return;
      }
      EventLoops.at(
          session.eventLoop(),
          System.nanoTime() + ServerConnections.RIGHT_AFTER_NANOS,
          () -> http.httpEngine().flushClientIdChannels(ownClientId, session.eventLoop()));
    }
  }

  private Option<SslContexts> tlsOf(Session session) {
    if (tls != null) {
      return Option.apply(tls);
    }
    return isShared ? Option.empty() : SslContextSupport.sslContexts(session);
  }

  private static Content content(Session session) {
    return (Content) session.attributes().apply(KEY);
  }

  private static String accept(PreparedRequest prepared) {
    return prepared.body().stream() ? "text/event-stream" : "application/json";
  }
}
