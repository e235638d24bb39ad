package io.github.gatlingllm.client;

import io.gatling.http.client.HttpListener;
import io.gatling.http.client.Request;
import io.gatling.http.client.impl.PrematureCloseException;
import io.gatling.http.client.impl.RequestTimeoutException;
import io.github.gatlingllm.client.AnswerMemory.TooLarge;
import io.github.gatlingllm.figures.metric.Sentence;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.Timeline;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.compression.DecompressionException;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One request and its response: takes a timestamp of every read ({@link ReadTimestamps}), feeds the
 * {@link ReceivedAnswer}, and ends exactly once with a {@link RequestStatus}. Calls of the
 * transport after the end are ignored.
 *
 * <p>Belongs to one event loop. Bytes are copied once from the network buffer into scratch memory
 * of the event loop; buffers are not retained.
 */
public final class StreamedExchange implements HttpListener {

  private final Timeline timeline;
  private final boolean streamed;
  private final ReceivedAnswer answer;
  private final long idleTimeoutNanos;
  private final Secrets secrets;
  private final EventLoop eventLoop;
  private final LongSupplier nanoClock;
  private final Consumer<StreamedExchange> whenEnded;
  private final IdleTimer idle;
  private final IdleTimer openEnd;
  private final RequestConnection connection;
  private final @Nullable Transcript transcript;

  private @Nullable Integer httpStatus;
  private @Nullable ResponseBody body;
  private boolean plainChunks;
  private @Nullable Ending ending;
  private boolean leftOpen;

  /** Sends one request with Gatling's client. Called on the event loop of its exchange. */
  public interface Transport {

    ServerConnections server();

    /** The proxy, as host and port; null for none. */
    default @Nullable String proxy() {
      return null;
    }

    /** The variable of the environment that names a proxy for the URL, which is not used. */
    default @Nullable String unusedProxy() {
      return null;
    }

    /** Sends on a kept-alive connection if there is one, else on a new one. */
    void send(HttpListener listener);

    /** Sends on a new connection that no other request uses. */
    void sendOnNewConnection(HttpListener listener);

    /** An error of the request, which names the server where the target has several. */
    default String named(String error) {
      return error;
    }

    /** The request has ended; closes a connection from {@link #sendOnNewConnection}. */
    void ended();
  }

  /**
   * The end of a request.
   *
   * @param httpStatus null where no response arrived
   * @param error constant per cause and server, one line of at most 200 characters; null for a
   *     success
   */
  public record Ending(RequestStatus status, @Nullable Integer httpStatus, @Nullable String error) {

    Ending(RequestStatus status, @Nullable String error) {
      this(status, null, error);
    }
  }

  /**
   * @param idleTimeoutNanos longest time without a byte; counted from the request for a stream,
   *     else from the response headers, as a body that is not streamed may be sent when it is
   *     complete; 0 for no limit
   * @param secrets removed from messages
   * @param logged the request, for a log of failed requests; null for no log
   * @param whenEnded called exactly once, on the event loop
   */
  public StreamedExchange(
      Timeline timeline,
      GenerationRequest request,
      long idleTimeoutNanos,
      Secrets secrets,
      @Nullable Request logged,
      EventLoop eventLoop,
      LongSupplier nanoClock,
      Consumer<StreamedExchange> whenEnded) {
    this.timeline = timeline;
    this.streamed = request.stream();
    this.answer = new ReceivedAnswer(timeline, request);
    this.idleTimeoutNanos = idleTimeoutNanos;
    this.secrets = secrets;
    this.eventLoop = eventLoop;
    this.nanoClock = nanoClock;
    this.whenEnded = whenEnded;
    idle = new IdleTimer(eventLoop, nanoClock, lastByte -> idleTimedOut());
    openEnd = new IdleTimer(eventLoop, nanoClock, this::leftOpen);
    connection = new RequestConnection(this, nanoClock);
    transcript = logged == null ? null : Transcript.ifEnabled(logged, secrets);
  }

  public Timeline timeline() {
    return timeline;
  }

  public ReceivedAnswer answer() {
    return answer;
  }

  Secrets secrets() {
    return secrets;
  }

  /** The end of the request; throws {@link IllegalStateException} before it. */
  public Ending ending() {
    if (ending == null) {
      throw new IllegalStateException("the exchange has not ended yet");
    }
    return ending;
  }

  /** Whether it was sent twice, as a kept-alive connection was closed before it carried it. */
  public boolean wasResent() {
    return connection.wasResent();
  }

  /** Whether the answer was complete, and the server did not end its body. */
  public boolean wasLeftOpen() {
    return leftOpen;
  }

  public boolean isOver() {
    return ending != null;
  }

  /**
   * Logs request and response, as Gatling's HTTP protocol does; the error is null for a success.
   * How many tokens a broken stream had is stated here only: Gatling groups errors by their text.
   */
  public void log(String name, Supplier<Object> session, @Nullable String error) {
    if (transcript != null) {
      int tokens = ending().status() == RequestStatus.COMPLETE ? 0 : timeline.count();
      transcript.log(
          name,
          session.get(),
          error == null || tokens == 0 ? error : Sentence.text("after_tokens", error, tokens));
    }
  }

  /** Sends the request. Call once, on its event loop. */
  public void send(Transport through) {
    connection.send(through);
  }

  /**
   * Ends the request from this side and closes its connection, so that the server stops; does
   * nothing after the end. An answer that has its final status retains it. Call on its event loop.
   */
  public void cut(RequestStatus status, String reason) {
    if (ending == null) {
      endEarly(nanoClock.getAsLong(), status, reason);
      connection.abandon();
    }
  }

  @Override
  public void onFinalClientRequest(Request request) {}

  /**
   * Gatling's client begins to send the request. If this exchange did not ask for it, the client
   * found the kept-alive connection closed and is sending the request again: the exception stops it
   * before it connects.
   */
  @Override
  public void onSend() {
    if (!connection.isSending()) {
      throw resendRefused();
    }
  }

  /**
   * Called before the write. Gatling's client re-sends over HTTP/2 without calling {@link #onSend},
   * and an exception from {@link #onWrite} would close the connection with its other streams.
   */
  @Override
  public void onProtocolAwareness(boolean isHttp2) {
    if (ending != null || connection.isConnected()) {
      throw resendRefused();
    }
    connection.protocol(isHttp2);
  }

  /**
   * The request is about to be written: immediately on a kept-alive connection, else when the new
   * connection is open. Stops a request that was cancelled while connecting.
   */
  @Override
  public void onWrite(Channel connected) {
    long now = nanoClock.getAsLong();
    if (ending != null || connection.isConnected()) {
      throw resendRefused();
    }
    connection.writing(connected, now);
    timeline.written(now);
    timeline.roundTrip(connection.roundTripNanos());
    if (streamed) {
      restartIdle(now);
    }
  }

  private void restartIdle(long now) {
    if (idleTimeoutNanos > 0) {
      idle.restart(now, idleTimeoutNanos);
    }
  }

  private RuntimeException resendRefused() {
    long now = nanoClock.getAsLong();
    if (ending == null && body != null) {
      connectionClosed(now);
    }
    if (ending == null) {
      connectionFailed(now, Sentence.text("unconnected", "not_resent", null, false));
    }
    return RequestConnection.resendRefused();
  }

  @Override
  public void onHttpResponse(HttpResponseStatus status, HttpHeaders headers) {
    long now = connection.arrival();
    if (ending != null) {
      return;
    }
    if (transcript != null) {
      transcript.response(connection.protocol() + " " + status, headers);
    }
    timeline.headers(now);
    restartIdle(now);
    answer.timings().headers(headers, secrets);
    connection.headers(headers);
    httpStatus = status.code();
    body = ResponseBody.of(status.code(), headers, this, streamed);
    plainChunks = body.isEventStream() && ChunkedBody.isPlain(headers);
  }

  @Override
  public void onHttpResponseBodyChunk(ByteBuf chunk, boolean last) {
    long now = connection.arrival();
    if (ending != null || body == null) {
      return;
    }
    byte[] scratch = ChunkedBody.SCRATCH.get();
    int end = chunk.writerIndex();
    for (int at = chunk.readerIndex(); at < end && ending == null; at += scratch.length) {
      int length = Math.min(scratch.length, end - at);
      chunk.getBytes(at, scratch, 0, length);
      bytes(now, scratch, 0, length, body);
    }
    if (last && ending == null) {
      connection.answered(now);
      end(now, body.end(now, false));
    }
  }

  private void bytes(long now, byte[] bytes, int from, int length, ResponseBody body) {
    restartIdle(now);
    if (transcript != null) {
      transcript.body(bytes, from, length);
    }
    try {
      body.bytes(now, bytes, from, length);
      long maxOpenNanos = body.maxOpenNanos();
      if (maxOpenNanos > 0) {
        openEnd.restart(body.answeredAt(now), maxOpenNanos);
      } else {
        openEnd.pause();
      }
    } catch (TooLarge tooLarge) {
      endEarly(now, RequestStatus.INVALID_RESPONSE, tooLarge.getMessage());
      if (!connection.isStream()) {
        connection.abandon();
      } else {
        // Later: Netty first decompresses all it has read, and closes the connection with all other
        // streams if this stream does not exist any more.
        eventLoop.execute(connection::abandon);
      }
    }
  }

  /** Whether the response whose headers have just been decoded is a stream in plain chunks. */
  boolean hasPlainChunks() {
    return ending == null && plainChunks;
  }

  /** Takes bytes of a body in plain chunks; they are valid during the call only. */
  void chunk(byte[] bytes, int from, int length) {
    if (ending == null && body != null) {
      bytes(connection.arrival(), bytes, from, length, body);
    }
  }

  /** If no socket can be opened, Gatling's client calls this on another thread. */
  @Override
  public void onThrowable(Throwable cause) {
    if (eventLoop.inEventLoop()) {
      failed(cause);
    } else {
      eventLoop.execute(() -> failed(cause));
    }
  }

  private void failed(Throwable cause) {
    long now = nanoClock.getAsLong();
    if (ending != null || connection.resend(now, cause)) {
      return;
    }
    if (cause instanceof RequestTimeoutException) {
      endEarly(now, RequestStatus.TIMEOUT, ConnectionFailure.timeout(cause));
      if (connection.isStream()) {
        // Gatling's client resets the stream too, but does not flush the reset.
        connection.abandon();
      }
    } else if (cause instanceof PrematureCloseException) {
      connectionClosed(now);
    } else if (body != null && BoundedHttp.isTruncatedGzip(cause)) {
      gzipTruncated(now, body);
    } else if (ConnectionFailure.find(DecompressionException.class, cause) != null) {
      // How much was decoded before depends on where the reads were cut.
      end(now, RequestStatus.CONNECTION_ERROR, ConnectionFailure.reason(cause));
    } else {
      connectionFailed(now, ConnectionFailure.reason(cause, connection.proxy(), secrets));
    }
  }

  /** Incomplete gzip data is truncated, even if the decoded part looks complete. */
  private void gzipTruncated(long now, ResponseBody cut) {
    Throwable failure = connection.failure();
    if (failure != null && !BoundedHttp.isTruncatedGzip(failure)) {
      connectionFailed(now, ConnectionFailure.reason(failure));
      return;
    }
    Ending end = cut.end(now, true);
    end(
        now,
        switch (end.status()) {
          case COMPLETE, TRUNCATED, EMPTY ->
              new Ending(RequestStatus.TRUNCATED, Sentence.text("truncated", "gzip", null));
          default -> end;
        });
  }

  /** Netty closes a complete stream only after its last bytes were read. */
  void streamClosed() {
    long now = nanoClock.getAsLong();
    if (ending != null) {
      return;
    }
    Throwable failure = connection.failure();
    if (failure != null) {
      failed(failure);
    } else if (connection.isActive()) {
      connectionFailed(now, Sentence.text("unconnected", "stream_reset", null, false));
    } else {
      connectionClosed(now);
    }
  }

  private void connectionClosed(long now) {
    Throwable failure = connection.failure();
    if (failure != null) {
      connectionFailed(now, ConnectionFailure.reason(failure));
    } else if (body != null) {
      end(now, body.end(now, true));
    } else {
      connectionFailed(now, Sentence.text("unconnected", "closed", null, false));
    }
  }

  private void connectionFailed(long now, String reason) {
    if (body != null) {
      end(now, body.connectionFailed(now, reason));
    } else {
      end(now, RequestStatus.CONNECTION_ERROR, reason);
    }
  }

  /** Ends the request from this side; an answer that already has its final status retains it. */
  private void endEarly(long now, RequestStatus status, String error) {
    end(
        now,
        body != null && body.hasFinalStatus() ? body.end(now, true) : new Ending(status, error));
  }

  private void leftOpen(long answered) {
    if (body != null) {
      leftOpen = true;
      answer.leftOpen();
      end(answered, body.end(answered, false));
      connection.abandon();
    }
  }

  private void idleTimedOut() {
    String awaited = body == null ? "headers" : "byte";
    endEarly(
        nanoClock.getAsLong(),
        RequestStatus.STALLED,
        Sentence.text("too_late", awaited, idleTimeoutNanos / 1_000_000));
    connection.abandon();
  }

  private void end(long now, RequestStatus status, @Nullable String error) {
    end(now, new Ending(status, error));
  }

  private void end(long now, Ending end) {
    if (ending == null) {
      String found = connection.error(end);
      String error = found == null ? null : secrets.line(found);
      ending = new Ending(end.status(), httpStatus, error);
      timeline.closed(now);
      answer.memory().release();
      idle.stop();
      openEnd.stop();
      connection.requestEnded();
      whenEnded.accept(this);
    }
  }
}
