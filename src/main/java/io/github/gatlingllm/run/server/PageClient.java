package io.github.gatlingllm.run.server;

import io.github.gatlingllm.run.server.ServerWatch.MetricsPage;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.zip.GZIPInputStream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * Requests metrics pages on connections of its own: HTTP/1.1, no proxy, no redirects. A response
 * that takes longer than the timeout or is larger than {@value #MAX_BYTES} bytes is an error.
 */
final class PageClient {

  static final int MAX_BYTES = 8 << 20;

  private static final String ACCEPT =
      "text/plain;version=0.0.4, application/openmetrics-text;q=0.5, */*;q=0.1";

  private final Duration timeout;
  private @Nullable HttpClient checking;
  private @Nullable HttpClient trusting;

  PageClient(Duration timeout) {
    this.timeout = timeout;
  }

  private HttpClient.Builder builder() {
    return HttpClient.newBuilder()
        .version(HttpClient.Version.HTTP_1_1)
        .followRedirects(HttpClient.Redirect.NEVER)
        .connectTimeout(timeout)
        .executor(Runnable::run); // on the selector thread, which only copies bytes
  }

  CompletableFuture<String> get(MetricsPage page) {
    CompletableFuture<HttpResponse<byte[]>> answer;
    try {
      HttpRequest.Builder request =
          HttpRequest.newBuilder(page.uri())
              .header("Accept", ACCEPT)
              .header("Accept-Encoding", "gzip");
      page.headers().forEach(request::setHeader);
      answer = client(page).sendAsync(request.build(), response -> new Bounded());
    } catch (GeneralSecurityException | IllegalArgumentException e) {
      // The exception's message may contain a secret header.
      return CompletableFuture.failedFuture(new IOException("the request cannot be built", e));
    }
    CompletableFuture<String> text = new CompletableFuture<>();
    var unused =
        answer
            .copy()
            .orTimeout(timeout.toMillis(), TimeUnit.MILLISECONDS)
            .whenComplete(
                (response, failure) -> {
                  if (failure == null) {
                    complete(text, response);
                  } else {
                    answer.cancel(true);
                    text.completeExceptionally(new IOException(why(failure), failure));
                  }
                });
    return text;
  }

  private HttpClient client(MetricsPage page) throws GeneralSecurityException {
    if (page.verifyTls() || !"https".equals(page.uri().getScheme())) {
      checking = checking == null ? builder().build() : checking;
      return checking;
    }
    HttpClient client = trusting;
    if (client == null) {
      SSLContext context = SSLContext.getInstance("TLS");
      // Like the requests of the load, unless certificates are verified.
      context.init(null, InsecureTrustManagerFactory.INSTANCE.getTrustManagers(), null);
      client = builder().sslContext(context).build();
      trusting = client;
    }
    return client;
  }

  private static void complete(CompletableFuture<String> text, HttpResponse<byte[]> response) {
    try {
      if (response.statusCode() != 200) {
        throw new IOException("HTTP " + response.statusCode());
      }
      byte[] body = response.body();
      if (response.headers().firstValue("Content-Encoding").orElse("").contains("gzip")) {
        try (InputStream in = new GZIPInputStream(new ByteArrayInputStream(body))) {
          body = in.readNBytes(MAX_BYTES + 1);
        } catch (IOException e) {
          throw new IOException("damaged gzip data", e);
        }
      }
      if (body.length > MAX_BYTES) {
        throw tooLarge();
      }
      text.complete(new String(body, StandardCharsets.UTF_8));
    } catch (IOException e) {
      text.completeExceptionally(e);
    }
  }

  private static IOException tooLarge() {
    return new IOException("larger than " + (MAX_BYTES >> 20) + " MiB");
  }

  private String why(Throwable failure) {
    Throwable cause = failure;
    while (cause instanceof CompletionException && cause.getCause() != null) {
      cause = cause.getCause();
    }
    for (Throwable each = cause; each != null; each = each.getCause()) {
      if (each instanceof TooLarge) {
        return String.valueOf(tooLarge().getMessage());
      }
      if (each instanceof SSLException) {
        return "TLS certificate or handshake failed";
      }
    }
    if (cause instanceof TimeoutException || cause instanceof java.net.http.HttpTimeoutException) {
      return "no complete response within " + timeout.toMillis() + " ms";
    }
    return cause instanceof ConnectException ? "no connection" : "response incomplete or not HTTP";
  }

  private static final class TooLarge extends IOException {
    private static final long serialVersionUID = 1;
  }

  /** Collects a body up to {@link #MAX_BYTES}, and cancels the exchange beyond. */
  private static final class Bounded implements HttpResponse.BodySubscriber<byte[]> {

    private final CompletableFuture<byte[]> body = new CompletableFuture<>();
    private final List<ByteBuffer> parts = new ArrayList<>();
    private Optional<Flow.Subscription> subscription = Optional.empty();
    private int size;

    @Override
    public CompletionStage<byte[]> getBody() {
      return body;
    }

    @Override
    public void onSubscribe(Flow.Subscription subscribed) {
      subscription = Optional.of(subscribed);
      subscribed.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(List<ByteBuffer> buffers) {
      if (body.isDone()) {
        return;
      }
      buffers.forEach(part -> size += part.remaining());
      parts.addAll(buffers);
      if (size > MAX_BYTES) {
        parts.clear();
        subscription.ifPresent(Flow.Subscription::cancel);
        body.completeExceptionally(new TooLarge());
      }
    }

    @Override
    public void onError(Throwable failure) {
      body.completeExceptionally(failure);
    }

    @Override
    public void onComplete() {
      ByteBuffer all = ByteBuffer.allocate(size);
      parts.forEach(all::put);
      body.complete(all.array());
    }
  }
}
