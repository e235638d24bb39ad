package io.github.gatlingllm.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.gatling.http.client.HttpListener;
import io.gatling.http.client.resolver.InetAddressNameResolver;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import java.net.InetAddress;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

final class HeldResolver implements InetAddressNameResolver {

  private record Question(Promise<List<InetAddress>> promise, long askedNanos) {}

  private final CompletableFuture<Question> question = new CompletableFuture<>();

  @Override
  public Future<List<InetAddress>> resolveAll(
      String host, Promise<List<InetAddress>> promise, HttpListener listener) {
    question.complete(new Question(promise, System.nanoTime()));
    return promise;
  }

  /** {@link System#nanoTime()} when the client asked. */
  long awaitAsked() throws Exception {
    return question.get(60, TimeUnit.SECONDS).askedNanos();
  }

  void found(InetAddress address) {
    assertThat(question.join().promise().trySuccess(List.of(address))).isTrue();
  }

  @Override
  public void close() {}
}
