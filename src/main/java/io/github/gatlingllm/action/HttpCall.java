package io.github.gatlingllm.action;

import static io.gatling.javaapi.core.CoreDsl.ByteArrayBody;
import static io.gatling.javaapi.http.HttpDsl.http;

import io.gatling.core.config.GatlingConfiguration;
import io.gatling.core.session.Session;
import io.gatling.http.cache.SslContextSupport;
import io.gatling.http.client.HttpListener;
import io.gatling.http.client.Request;
import io.gatling.http.protocol.HttpComponents;
import io.gatling.http.request.HttpRequestDef;
import io.gatling.http.request.builder.HttpRequestBuilder;
import io.gatling.http.util.SslContexts;
import io.gatling.javaapi.http.HttpRequestActionBuilder;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import scala.Option;

/**
 * The HTTP side of an LLM request: Gatling's own request builder and client, so that proxy, TLS,
 * HTTP/2, DNS and headers of the user's {@code http} protocol hold. What differs from request to
 * request travels in one session attribute.
 */
final class HttpCall {

  private static final String KEY = "gatling.llm.request";

  private final HttpComponents http;
  private final HttpRequestDef definition;
  private final boolean shared;
  private final @Nullable SslContexts tls;

  private HttpCall(
      HttpComponents http, HttpRequestDef definition, boolean shared, @Nullable SslContexts tls) {
    this.http = http;
    this.definition = definition;
    this.shared = shared;
    this.tls = tls;
  }

  private record Content(PreparedRequest prepared, String requestId) {}

  static HttpCall of(
      LlmProtocol protocol,
      Map<String, Dynamic<String>> headers,
      HttpComponents http,
      GatlingConfiguration configuration,
      @Nullable SslContexts tls) {
    HttpRequestActionBuilder post =
        http("llm")
            .post(session -> content(session.asScala()).prepared().url())
            .header("Content-Type", "application/json")
            .header("Accept", session -> accept(content(session.asScala()).prepared()))
            .header("X-Request-Id", session -> content(session.asScala()).requestId())
            .body(ByteArrayBody(session -> content(session.asScala()).prepared().body().toJson()))
            .requestTimeout(protocol.requestTimeout)
            .disableFollowRedirect();
    if (protocol.apiKey != null) {
      post =
          post.header(
              "Authorization",
              session -> "Bearer " + content(session.asScala()).prepared().apiKey());
    }
    for (Map<String, Dynamic<String>> extra : java.util.List.of(protocol.headers, headers)) {
      for (Map.Entry<String, Dynamic<String>> header : extra.entrySet()) {
        post = post.header(header.getKey(), s -> header.getValue().resolve(s.asScala()));
      }
    }
    HttpRequestBuilder builder = (HttpRequestBuilder) post.asScala();
    return new HttpCall(
        http,
        builder.build(http.httpCaches(), http.httpProtocol(), false, configuration),
        protocol.shareConnections,
        tls);
  }

  /**
   * The request as it goes over the wire.
   *
   * @throws Dynamic.Unresolved when a header or the URL cannot be computed
   */
  Request build(Session session, PreparedRequest prepared, String requestId) {
    Content content = new Content(prepared, requestId);
    return Validations.value(definition.clientRequest().apply(session.set(KEY, content)));
  }

  /** Sends it; the listener is called on the session's event loop. */
  void execute(Request request, Session session, HttpListener listener) {
    http.httpEngine()
        .executeRequest(
            request, session.userId(), shared, session.eventLoop(), listener, tlsOf(session));
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
