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

final class ManualResolver implements InetAddressNameResolver {

  private record Question(Promise<List<InetAddress>> promise, long atNanos) {}

  private final CompletableFuture<Question> question = new CompletableFuture<>();

  @Override
  public Future<List<InetAddress>> resolveAll(
      String host, Promise<List<InetAddress>> promise, HttpListener listener) {
    question.complete(new Question(promise, System.nanoTime()));
    return promise;
  }

  /** {@link System#nanoTime()} of the question. */
  long awaitQuestion() throws Exception {
    return question.get(60, TimeUnit.SECONDS).atNanos();
  }

  void found(InetAddress address) {
    assertThat(question.join().promise().trySuccess(List.of(address))).isTrue();
  }

  @Override
  public void close() {}
}
