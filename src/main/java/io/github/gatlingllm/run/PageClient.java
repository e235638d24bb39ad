package io.github.gatlingllm.run;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.github.gatlingllm.client.ServerConnections;
import io.github.gatlingllm.record.Proxy;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.io.ByteArrayOutputStream;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpResponse.BodySubscribers;
import java.nio.channels.UnresolvedAddressException;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;

/**
 * Requests metrics pages on separate connections: no redirects, and the proxy of the setting except
 * for pages of this machine. A response that takes longer than the timeout or is larger than
 * {@value #MAX_BYTES} bytes is an error.
 */
final class PageClient {

  static final int MAX_BYTES = 8 << 20;

  private static final String ACCEPT =
      "text/plain;version=0.0.4, application/openmetrics-text;q=0.5, */*;q=0.1";

  private final Duration timeout;
  private final HttpClient.Version version;

  private final Map<List<Object>, HttpClient> clients = new ConcurrentHashMap<>();

  PageClient(Duration timeout) {
    this(timeout, HttpClient.Version.HTTP_1_1);
  }

  PageClient(Duration timeout, HttpClient.Version version) {
    this.timeout = timeout;
    this.version = version;
  }

  CompletableFuture<String> get(MetricsPage page) {
    return text(send("GET", page));
  }

  CompletableFuture<String> post(MetricsPage page, String json) {
    return text(send("POST", page, BodyPublishers.ofString(json)));
  }

  private static CompletableFuture<String> text(CompletableFuture<HttpResponse<byte[]>> sent) {
    return sent.thenApply(
        response -> {
          if (response.statusCode() != 200) {
            throw new CompletionException("HTTP " + response.statusCode(), null);
          }
          return new String(response.body(), UTF_8);
        });
  }

  CompletableFuture<HttpResponse<byte[]>> send(String method, MetricsPage page) {
    return send(method, page, BodyPublishers.noBody());
  }

  private CompletableFuture<HttpResponse<byte[]>> send(
      String method, MetricsPage page, BodyPublisher body) {
    CompletableFuture<HttpResponse<byte[]>> answer;
    try {
      HttpRequest.Builder request =
          HttpRequest.newBuilder(page.uri()).method(method, body).header("Accept", ACCEPT);
      if (body.contentLength() > 0) {
        request.header("Content-Type", "application/json");
      }
      page.headers().forEach(request::setHeader);
      answer = client(page).sendAsync(request.build(), response -> bounded());
    } catch (GeneralSecurityException | IllegalArgumentException e) {
      // The exception's message may contain a secret header.
      return CompletableFuture.failedFuture(
          new CompletionException("the request cannot be built", e));
    }
    return answer
        .copy()
        .orTimeout(timeout.toMillis(), TimeUnit.MILLISECONDS)
        .handle(
            (response, failure) -> {
              if (failure != null) {
                answer.cancel(true);
                throw new CompletionException(why(failure), failure);
              }
              return response;
            });
  }

  private HttpClient client(MetricsPage page) throws GeneralSecurityException {
    boolean checks = page.verifyTls() || !"https".equals(page.uri().getScheme());
    boolean isHere = String.valueOf(page.uri().getHost()).matches("localhost|127\\..*|\\[::1]");
    URI proxy = isHere ? null : Proxy.of(page.uri());
    List<Object> key = List.of(checks, String.valueOf(proxy));
    HttpClient client = clients.get(key);
    if (client == null) {
      HttpClient.Builder builder =
          HttpClient.newBuilder()
              .version(version)
              .followRedirects(HttpClient.Redirect.NEVER)
              .connectTimeout(timeout)
              .executor(Runnable::run); // on the selector thread, which only copies bytes
      Proxy.use(builder, proxy);
      if (!checks) {
        SSLContext context = SSLContext.getInstance("TLS");
        // Like the requests of the load, unless certificates are verified.
        context.init(null, InsecureTrustManagerFactory.INSTANCE.getTrustManagers(), null);
        builder.sslContext(context);
      }
      client = builder.build();
      clients.put(key, client);
    }
    return client;
  }

  private String why(Throwable failure) {
    Throwable cause = failure;
    while (cause instanceof CompletionException && cause.getCause() != null) {
      cause = cause.getCause();
    }
    for (Throwable each = cause; each != null; each = each.getCause()) {
      if (each instanceof TooLarge) {
        return "larger than " + (MAX_BYTES >> 20) + " MiB";
      }
      if (each instanceof SSLException) {
        return ServerConnections.reasonOf(each);
      }
      if (each instanceof UnresolvedAddressException) {
        return "unknown host: check its name";
      }
    }
    if (cause instanceof TimeoutException || cause instanceof java.net.http.HttpTimeoutException) {
      return "no complete response within " + timeout.toMillis() + " ms";
    }
    return cause instanceof ConnectException ? "no connection" : "response incomplete or not HTTP";
  }

  private static final class TooLarge extends RuntimeException {
    private static final long serialVersionUID = 1;
  }

  /** Collects a body of at most {@link #MAX_BYTES}; an exception ends the exchange. */
  private static BodySubscriber<byte[]> bounded() {
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    return BodySubscribers.mapping(
        BodySubscribers.ofByteArrayConsumer(
            part -> {
              part.ifPresent(body::writeBytes);
              if (body.size() > MAX_BYTES) {
                throw new TooLarge();
              }
            }),
        done -> body.toByteArray());
  }
}
