package io.github.gatlingllm.client;

import io.gatling.http.client.HttpListener;
import io.gatling.http.client.Request;
import io.gatling.http.client.impl.PrematureCloseException;
import io.gatling.http.client.impl.RequestTimeoutException;
import io.github.gatlingllm.client.AnswerMemory.TooLarge;
import io.github.gatlingllm.client.BoundedHttp.CutGzip;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.Timeline;
import io.github.gatlingllm.wire.Secrets;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.io.IOException;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One request on the wire: stamps every read ({@link ReadSide}), feeds the {@link ReceivedAnswer},
 * and ends exactly once with a {@link RequestStatus}. Whatever the transport says after that is
 * ignored.
 *
 * <p>Lives on one event loop. Bytes are copied out of the network buffer once, into scratch memory
 * of the event loop, and never kept.
 */
public final class StreamedExchange implements HttpListener {

  /** Ends the error of a request whose pinned output length the server rejects. */
  public static final String PINNING_REMEDY = "; set ignoreEos=false (llm.ignoreEos)";

  static {
    // Loads the classes: that needs a file, and a failure may be that no more can be opened.
    var unused = Secrets.NONE.line(ConnectionFailure.reason(new IOException("none yet")));
  }

  private final Timeline timeline;
  private final ReceivedAnswer answer;
  private final ReadOptions options;
  private final EventLoop eventLoop;
  private final LongSupplier nanoClock;
  private final Consumer<StreamedExchange> whenEnded;
  private final ChunkedBody.Receiver chunks = new Chunks();
  private final IdleTimeout idle;
  private final RequestConnection connection;

  private @Nullable Integer httpStatus;
  private @Nullable ResponseBody body;
  private boolean plainChunks;
  private @Nullable Ending ending;

  /** Why a connection could not be made: one line, the same for every occurrence of one cause. */
  public static String connectionError(Throwable failure) {
    return ConnectionFailure.reason(failure);
  }

  /**
   * What an exchange needs to know of its request.
   *
   * @param streamed whether a stream was asked for
   * @param idleTimeoutNanos longest silence: of a stream from the instant it is asked for, else
   *     from the response headers on, as a whole body may come when all of it is made; 0 for no
   *     limit
   * @param inputs how many texts are to be embedded; 0 where an answer is generated
   * @param secrets never to appear in a message
   * @param transcript of what goes over the wire; null where nobody wants to see it
   */
  public record ReadOptions(
      boolean streamed,
      long idleTimeoutNanos,
      int inputs,
      Secrets secrets,
      @Nullable Transcript transcript) {}

  /** Gatling's client, for one request. To be called on the event loop of its exchange. */
  public interface Transport {

    /** The server that it sends to. */
    ServerConnections server();

    /** The proxy that it sends through, as host and port; null for none. */
    default @Nullable String proxy() {
      return null;
    }

    /** Sends on a connection that was kept alive where there is one, else on a new one. */
    void send(HttpListener listener);

    /** Sends on a new connection, which no other request will use. */
    void sendAlone(HttpListener listener);

    /** The request is over; what it was sent on alone is to be closed. */
    void ended();
  }

  /**
   * How it ended.
   *
   * @param httpStatus null when no response came
   * @param error constant per cause, one line of at most 200 characters; null for a success
   */
  public record Ending(RequestStatus status, @Nullable Integer httpStatus, @Nullable String error) {

    /** What the body or the transport says; the exchange adds the HTTP status. */
    Ending(RequestStatus status, @Nullable String error) {
      this(status, null, error);
    }
  }

  /**
   * @param whenEnded called exactly once, on the event loop
   */
  public StreamedExchange(
      Timeline timeline,
      ReceivedAnswer answer,
      ReadOptions options,
      EventLoop eventLoop,
      LongSupplier nanoClock,
      Consumer<StreamedExchange> whenEnded) {
    this.timeline = timeline;
    this.answer = answer;
    this.options = options;
    this.eventLoop = eventLoop;
    this.nanoClock = nanoClock;
    this.whenEnded = whenEnded;
    idle = new IdleTimeout(options.idleTimeoutNanos(), eventLoop, nanoClock, this::silent);
    connection = new RequestConnection(this, nanoClock);
  }

  /** The instants of this exchange. */
  public Timeline timeline() {
    return timeline;
  }

  /** What the server said. */
  public ReceivedAnswer answer() {
    return answer;
  }

  /** What the exchange was told about its request. */
  public ReadOptions options() {
    return options;
  }

  /**
   * How it ended.
   *
   * @throws IllegalStateException before the end
   */
  public Ending ending() {
    if (ending == null) {
      throw new IllegalStateException("the exchange is still under way");
    }
    return ending;
  }

  /** Whether it was sent twice: a kept-alive connection was closed before it had carried it. */
  public boolean wasResent() {
    return connection.wasResent();
  }

  /** Whether it has ended. */
  public boolean isOver() {
    return ending != null;
  }

  /** Sends the request, once. Call on its event loop. */
  public void send(Transport through) {
    connection.send(through);
  }

  /**
   * Ends it now, and closes its connection so that the server stops; does nothing after the end. An
   * answer that is complete but for the end of its connection stays complete. Call on its event
   * loop.
   */
  public void cancel(String reason) {
    if (ending == null) {
      giveUp(nanoClock.getAsLong(), RequestStatus.CANCELLED, reason);
      connection.abandon();
    }
  }

  @Override
  public void onFinalClientRequest(Request request) {}

  /**
   * Gatling's client takes the request up. Where we did not ask for that, it found the kept-alive
   * connection closed and is about to send the request again; throwing stops it before it connects.
   */
  @Override
  public void onSend() {
    if (!connection.isSending()) {
      throw resendRefused();
    }
  }

  /**
   * Comes before the write. Gatling's client re-sends over HTTP/2 without {@link #onSend}, and an
   * exception from {@link #onWrite} would take the connection from its other streams.
   */
  @Override
  public void onProtocolAwareness(boolean isHttp2) {
    if (ending != null || connection.isThere()) {
      throw resendRefused();
    }
    connection.speaks(isHttp2);
  }

  /**
   * The bytes are about to go out; too late when it was cancelled while connecting. A connection
   * that was kept alive is written to at once, a new one only when it is there.
   */
  @Override
  public void onWrite(Channel connected) {
    long now = nanoClock.getAsLong();
    if (ending != null || connection.isThere()) {
      throw resendRefused();
    }
    connection.writing(connected, now, chunks, this::streamClosed);
    timeline.written(now);
    if (options.streamed()) {
      idle.start(now);
    }
  }

  private ResendRefused resendRefused() {
    end(nanoClock.getAsLong(), RequestStatus.CONNECTION_ERROR, ResendRefused.MESSAGE);
    return new ResendRefused();
  }

  @Override
  public void onHttpResponse(HttpResponseStatus status, HttpHeaders headers) {
    long now = connection.arrival();
    if (ending != null) {
      return;
    }
    if (options.transcript() != null) {
      options.transcript().response(connection.protocol() + " " + status, headers);
    }
    timeline.headers(now);
    idle.start(now);
    new AnswerHeaders(headers).read(answer.timings());
    connection.headers(headers, timeline.written(), now);
    httpStatus = status.code();
    body = ResponseBody.of(status.code(), headers, this);
    plainChunks =
        body instanceof ResponseBody.Stream
            && !headers.contains(HttpHeaderNames.CONTENT_ENCODING)
            && HttpHeaderValues.CHUNKED.contentEqualsIgnoreCase(
                headers.get(HttpHeaderNames.TRANSFER_ENCODING));
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
    idle.heard(now);
    if (options.transcript() != null) {
      options.transcript().body(bytes, from, length);
    }
    try {
      body.bytes(now, bytes, from, length);
    } catch (TooLarge beyond) {
      giveUp(now, RequestStatus.INVALID_RESPONSE, beyond.getMessage());
      if (!connection.isStream()) {
        connection.abandon();
      } else {
        // Not now: Netty unzips what it has read to the end, and for a stream that is gone by then
        // it would close the connection, with all other streams.
        eventLoop.execute(connection::abandon);
      }
    }
  }

  /** A body in plain chunks of HTTP/1.1, on the short way. */
  private final class Chunks implements ChunkedBody.Receiver {

    @Override
    public ChunkedBody.Headers headers() {
      if (ending == null && httpStatus == null) {
        return ChunkedBody.Headers.NONE_YET;
      }
      return ending == null && plainChunks
          ? ChunkedBody.Headers.CHUNKED
          : ChunkedBody.Headers.OTHER;
    }

    @Override
    public void body(byte[] bytes, int from, int length) {
      if (ending == null && body != null) {
        bytes(connection.arrival(), bytes, from, length, body);
      }
    }
  }

  /** Where no socket can be made, Gatling's client tells it on a thread that is not ours. */
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
    if (ending != null) {
      return;
    }
    if (connection.sendAgain(now, cause)) {
      return;
    }
    if (cause instanceof RequestTimeoutException) {
      giveUp(now, RequestStatus.TIMEOUT, "no end within the request timeout");
      if (connection.isStream()) {
        // Gatling's client resets it too, but does not flush that.
        connection.abandon();
      }
    } else if (cause instanceof PrematureCloseException
        || cause instanceof AnswerWatch.Unanswered) {
      closed(now);
    } else if (body != null && ConnectionFailure.find(CutGzip.class, cause) != null) {
      cutGzip(now, body);
    } else {
      broken(now, ConnectionFailure.reason(cause, connection.proxy()));
    }
  }

  /** What the answer said of its end does not count: nothing vouches for data that was cut. */
  private void cutGzip(long now, ResponseBody cut) {
    Throwable failure = connection.failure();
    if (failure != null) {
      broken(now, ConnectionFailure.reason(failure));
      return;
    }
    Ending how = cut.end(now, true);
    end(
        now,
        switch (how.status()) {
          case COMPLETE, TRUNCATED, EMPTY ->
              new Ending(RequestStatus.TRUNCATED, "gzip data ended before it was whole");
          default -> how;
        });
  }

  /** A stream that ended well is never closed before its last bytes came. */
  private void streamClosed() {
    long now = nanoClock.getAsLong();
    if (ending != null) {
      return;
    }
    String refusal = connection.refusal();
    if (refusal != null) {
      broken(now, refusal);
    } else if (connection.isActive()) {
      broken(now, "stream reset by the server");
    } else {
      closed(now);
    }
  }

  private void closed(long now) {
    Throwable failure = connection.failure();
    if (failure != null) {
      broken(now, ConnectionFailure.reason(failure));
    } else if (body != null) {
      end(now, body.end(now, true));
    } else {
      end(
          now,
          RequestStatus.CONNECTION_ERROR,
          "connection closed by the server before any response");
    }
  }

  private void broken(long now, String reason) {
    if (body != null) {
      end(now, body.broken(now, reason));
    } else {
      end(now, RequestStatus.CONNECTION_ERROR, reason);
    }
  }

  /** We end it: what the server has said already counts, though its connection is still open. */
  private void giveUp(long now, RequestStatus status, String error) {
    if (body != null && body.isSettled()) {
      end(now, body.end(now, true));
    } else {
      end(now, status, error);
    }
  }

  private static String time(long nanos) {
    return nanos % 1_000_000_000 == 0 ? nanos / 1_000_000_000 + " s" : nanos / 1_000_000 + " ms";
  }

  private void silent(long now) {
    giveUp(
        now,
        RequestStatus.STALLED,
        "no %s for %s (idle timeout)"
            .formatted(
                body == null ? "response headers" : "byte", time(options.idleTimeoutNanos())));
    connection.abandon();
  }

  private void end(long now, RequestStatus status, @Nullable String error) {
    end(now, new Ending(status, error));
  }

  private void end(long now, Ending how) {
    if (ending == null) {
      String error = how.error() == null ? null : options.secrets().line(how.error());
      ending = new Ending(how.status(), httpStatus, error);
      timeline.closed(now);
      answer.memory().release();
      idle.stop();
      connection.over();
      whenEnded.accept(this);
    }
  }

  /** Stops Gatling's client from sending a request a second time. */
  private static final class ResendRefused extends RuntimeException {
    static final String MESSAGE = "kept-alive connection closed by the server; not re-sent";

    ResendRefused() {
      super(MESSAGE, null, false, false);
    }
  }
}
