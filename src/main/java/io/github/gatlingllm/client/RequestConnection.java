package io.github.gatlingllm.client;

import io.gatling.http.client.HttpListener;
import io.github.gatlingllm.client.StreamedExchange.Transport;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RequestStatus.GeneratorLimit;
import io.netty.channel.Channel;
import io.netty.handler.codec.http.HttpHeaders;
import java.io.IOException;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The connection of one request: a kept-alive or a new one; sends the request a second time where
 * the kept-alive one was closed before it carried the request.
 */
final class RequestConnection {

  static {
    // Loads these classes early: loading opens a file, which fails with "too many open files".
    var unused = Secrets.NONE.line(ConnectionFailure.reason(new IOException("none yet")));
  }

  private final HttpListener listener;
  private final LongSupplier nanoClock;

  private @Nullable Transport transport;
  private boolean sending;
  private boolean resent;
  private boolean http2;
  private @Nullable Channel channel;
  private @Nullable ReadTimestamps timestamps;

  private @Nullable StreamWatch stream;

  private @Nullable ConnectionWatch watch;

  RequestConnection(HttpListener listener, LongSupplier nanoClock) {
    this.listener = listener;
    this.nanoClock = nanoClock;
  }

  void send(Transport through) {
    transport = through;
    send(through, through.server().needsNewConnections());
  }

  private void send(Transport through, boolean onNewConnection) {
    sending = true;
    try {
      if (onNewConnection) {
        through.sendOnNewConnection(listener);
      } else {
        through.send(listener);
      }
    } finally {
      sending = false;
    }
  }

  /** Whether this class is sending the request now, rather than Gatling's client on its own. */
  boolean isSending() {
    return sending;
  }

  boolean isConnected() {
    return channel != null;
  }

  boolean wasResent() {
    return resent;
  }

  void protocol(boolean isHttp2) {
    http2 = isHttp2;
  }

  String protocol() {
    return http2 ? "HTTP/2" : "HTTP/1.1";
  }

  /**
   * The request is about to be written.
   *
   * @param receiver receives a body in plain chunks
   * @throws FoundClosed if the server has closed the connection; stops Gatling's client from
   *     writing
   */
  void writing(
      Channel connected, long now, ChunkedBody.Receiver receiver, Runnable whenStreamClosed) {
    channel = connected;
    timestamps = ReadTimestamps.of(connected, nanoClock);
    if (http2) {
      stream = StreamWatch.ofNext(connected, nanoClock, whenStreamClosed);
    } else if (transport != null) {
      watch = ConnectionWatch.of(connected, nanoClock);
      watch.writing(now, sending, transport.server(), receiver);
      if (sending && ConnectionWatch.isClosed(connected)) {
        throw new FoundClosed();
      }
    }
  }

  @Nullable Long roundTripNanos() {
    return timestamps == null ? null : timestamps.roundTripNanos();
  }

  long arrival() {
    return timestamps == null ? nanoClock.getAsLong() : timestamps.now();
  }

  void headers(HttpHeaders headers) {
    if (watch != null) {
      watch.headers(headers);
    }
  }

  void answered(long now) {
    if (watch != null) {
      watch.answered(now);
    }
  }

  /**
   * Sends the request again on a new connection, if the kept-alive one was closed before it carried
   * the request. Happens at most once, as a new connection is never in that state.
   */
  boolean resend(long now, Throwable cause) {
    boolean isFoundClosed = cause instanceof FoundClosed;
    if (transport == null
        || watch == null
        || !(isFoundClosed || (cause instanceof IOException && watch.isClosedUnanswered(now)))) {
      return false;
    }
    watch.foundClosed();
    resent = !isFoundClosed;
    channel = null;
    timestamps = null;
    watch = null;
    send(transport, true);
    return true;
  }

  /** Why it was closed, where that is known. */
  @Nullable Throwable failure() {
    Throwable ofStream = stream == null ? null : stream.failure();
    return ofStream != null || timestamps == null ? ofStream : timestamps.failure();
  }

  boolean isActive() {
    return channel != null && channel.isActive();
  }

  boolean isStream() {
    return stream != null;
  }

  /** The proxy, where no connection was opened; else null. */
  @Nullable String proxy() {
    return channel == null && transport != null ? transport.proxy() : null;
  }

  @Nullable String error(StreamedExchange.Ending end) {
    if (end.error() == null || transport == null || end.status().isCut()) {
      return end.error();
    }
    boolean isUnreachable =
        channel == null
            && end.status() == RequestStatus.CONNECTION_ERROR
            && GeneratorLimit.of(end.error()) == null;
    String variable = isUnreachable ? transport.unusedProxy() : null;
    String hint = variable == null ? "" : "; " + variable + " is set but not used, set proxy=env";
    return transport.named(end.error() + hint);
  }

  /** Makes the server stop: closes the connection, or resets the stream with HTTP/2. */
  void abandon() {
    if (stream != null) {
      stream.reset();
    } else if (channel != null) {
      var unused = channel.close();
    }
  }

  void requestEnded() {
    if (stream != null) {
      stream.stop();
    }
    if (watch != null) {
      watch.requestEnded();
    }
    if (transport != null) {
      transport.ended();
    }
  }

  /** Stops Gatling's client from sending a request a second time. */
  static final class ResendRefused extends RuntimeException {
    static final String MESSAGE = "kept-alive connection closed by the server; not re-sent";

    ResendRefused() {
      super(MESSAGE, null, false, false);
    }
  }

  private static final class FoundClosed extends RuntimeException {
    FoundClosed() {
      super("kept-alive connection found closed", null, false, false);
    }
  }
}
