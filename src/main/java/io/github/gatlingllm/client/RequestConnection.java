package io.github.gatlingllm.client;

import io.gatling.http.client.HttpListener;
import io.github.gatlingllm.client.StreamedExchange.Transport;
import io.netty.channel.Channel;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import java.io.IOException;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * How one request gets to its server, and its answer back: on a connection that was kept alive or
 * on a new one, and once more on a new one where the kept-alive one was closed before it could
 * carry it. Lives on one event loop.
 */
final class RequestConnection {

  private final HttpListener listener;
  private final LongSupplier nanoClock;

  private @Nullable Transport transport;
  private boolean sending;
  private boolean resent;
  private boolean http2;
  private @Nullable Channel channel;
  private @Nullable ReadSide reads;

  /** With HTTP/2. */
  private @Nullable StreamWatch stream;

  /** With HTTP/1.1. */
  private @Nullable AnswerWatch answer;

  RequestConnection(HttpListener listener, LongSupplier nanoClock) {
    this.listener = listener;
    this.nanoClock = nanoClock;
  }

  /** Sends the request, once. */
  void send(Transport through) {
    transport = through;
    send(through, through.server().closesMost());
  }

  private void send(Transport through, boolean alone) {
    sending = true;
    try {
      if (alone) {
        through.sendAlone(listener);
      } else {
        through.send(listener);
      }
    } finally {
      sending = false;
    }
  }

  /** Whether it is being sent by us, and not by Gatling's client once more. */
  boolean isSending() {
    return sending;
  }

  /** Whether a connection was found, and written to. */
  boolean isThere() {
    return channel != null;
  }

  /** Whether it was sent twice: a kept-alive connection was closed before it had carried it. */
  boolean wasResent() {
    return resent;
  }

  void speaks(boolean isHttp2) {
    http2 = isHttp2;
  }

  String protocol() {
    return http2 ? "HTTP/2" : "HTTP/1.1";
  }

  /**
   * The bytes are about to go out.
   *
   * @param receiver is given a body in plain chunks
   * @param whenStreamClosed what follows when a stream of HTTP/2 goes away
   * @throws FoundClosed stops Gatling's client from writing to what the server has closed
   */
  void writing(
      Channel connected, long now, ChunkedBody.Receiver receiver, Runnable whenStreamClosed) {
    channel = connected;
    reads = ReadSide.of(connected, nanoClock);
    if (http2) {
      stream = StreamWatch.ofNext(connected, whenStreamClosed);
    } else if (transport != null) {
      answer = AnswerWatch.of(connected, nanoClock);
      answer.writing(now, sending, transport.server(), receiver);
      if (sending && AnswerWatch.isClosed(connected)) {
        throw new FoundClosed();
      }
    }
  }

  /** When the bytes that are being handled came out of the socket. */
  long arrival() {
    return reads == null ? nanoClock.getAsLong() : reads.now();
  }

  /** The headers of the answer are in. */
  void headers(HttpHeaders headers, long sent, long now) {
    if (transport != null) {
      transport.server().answered(headers.get(HttpHeaderNames.DATE), sent, now);
    }
    if (answer != null) {
      answer.headers(headers);
    }
  }

  /** The answer is whole. */
  void answered(long now) {
    if (answer != null) {
      answer.answered(now);
    }
  }

  /**
   * Sends the request on a new connection where the kept-alive one was closed before it could carry
   * it; once, as a new one never is in that case.
   *
   * @return whether it did
   */
  boolean sendAgain(long now, Throwable cause) {
    boolean found = cause instanceof FoundClosed;
    if (transport == null
        || answer == null
        || !(found || (cause instanceof IOException && answer.isLost(now)))) {
      return false;
    }
    answer.lost();
    resent = !found;
    channel = null;
    reads = null;
    answer = null;
    send(transport, true);
    return true;
  }

  /** Why reading failed; null where it did not, or the connection was closed in order. */
  @Nullable Throwable failure() {
    return reads == null ? null : reads.failure();
  }

  /** Why we gave a connection of HTTP/2 up; null where we did not. */
  @Nullable String refusal() {
    return stream == null ? null : stream.refusal();
  }

  boolean isActive() {
    return channel != null && channel.isActive();
  }

  /** Whether it shares its connection with others. */
  boolean isStream() {
    return stream != null;
  }

  /** The proxy that no connection could be made through; null where there is none to blame. */
  @Nullable String proxy() {
    return channel == null && transport != null ? transport.proxy() : null;
  }

  /** Makes the server stop: closes the connection, or with HTTP/2 only this stream. */
  void abandon() {
    if (stream != null) {
      stream.reset();
    } else if (channel != null) {
      var unused = channel.close();
    }
  }

  /** The request is over; others may come. */
  void over() {
    if (stream != null) {
      stream.stop();
    }
    if (answer != null) {
      answer.over();
    }
    if (transport != null) {
      transport.ended();
    }
  }

  /** A connection that was kept alive was found closed, before it was written to. */
  private static final class FoundClosed extends RuntimeException {
    FoundClosed() {
      super("kept-alive connection found closed", null, false, false);
    }
  }
}
