package io.github.gatlingllm.client;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.core.AppenderBase;
import io.gatling.http.client.impl.Http2AppHandler;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2ConnectionAdapter;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Stream;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.slf4j.ILoggerFactory;
import org.slf4j.LoggerFactory;

/**
 * Watches the HTTP/2 stream of one request from its write to its end. Gatling's client does not
 * report a stream reset by the server, nor a connection closed with open streams. Both close the
 * stream, which this class reports. Belongs to the event loop of the connection.
 */
final class StreamWatch extends Http2ConnectionAdapter {

  static {
    ResetStreamLog.install();
  }

  private final Channel channel;
  private final Http2Connection connection;
  private final Runnable whenClosed;
  private @Nullable Integer stream;
  private @Nullable String refusal;

  private StreamWatch(Channel channel, Http2Connection connection, Runnable whenClosed) {
    this.channel = channel;
    this.connection = connection;
    this.whenClosed = whenClosed;
  }

  /** Watches the next stream to be opened; call just before the request is written. */
  static StreamWatch ofNext(Channel channel, Runnable whenClosed) {
    Http2Connection connection = channel.pipeline().get(Http2ConnectionHandler.class).connection();
    StreamWatch watch = new StreamWatch(channel, connection, whenClosed);
    connection.addListener(watch);
    return watch;
  }

  @Override
  public void onStreamAdded(Http2Stream added) {
    if (stream == null && connection.local().isValidStreamId(added.id())) {
      stream = added.id();
    }
  }

  @Override
  public void onStreamClosed(Http2Stream closed) {
    if (stream != null && stream == closed.id()) {
      whenClosed.run();
    }
  }

  /** Netty closes a connection on an invalid frame, or on headers of more than 10 KiB. */
  @Override
  public void onGoAwaySent(int lastStreamId, long errorCode, ByteBuf why) {
    if (errorCode != Http2Error.NO_ERROR.code()) {
      refusal = "HTTP/2 connection given up: " + why.toString(StandardCharsets.UTF_8);
    }
  }

  @Nullable String refusal() {
    return refusal;
  }

  void stop() {
    connection.removeListener(this);
  }

  /** Resets the stream, so that the server stops; the connection stays open for other streams. */
  void reset() {
    if (stream != null) {
      channel.pipeline().fireUserEventTriggered(new Http2AppHandler.StreamTimeout(stream));
      channel.flush();
    }
  }

  /**
   * Drops one misleading stack trace from the log. After a reset of an HTTP/2 stream with a
   * compressed body, Netty passes the rest of the decompressor to Gatling's client. The client does
   * not know the stream any more and throws, and Netty logs that as an error, although the request
   * has ended and no other one is affected. All other events of this logger go to the usual
   * appenders.
   *
   * <p>With another logging library than Logback, the stack trace is logged.
   */
  private static final class ResetStreamLog extends AppenderBase<ILoggingEvent> {

    private static final String PACKAGE = "io.netty.handler.codec.http2";

    private final Logger parent;

    private ResetStreamLog(Logger parent) {
      this.parent = parent;
    }

    static synchronized void install() {
      ILoggerFactory log = LoggerFactory.getILoggerFactory();
      if (!log.getClass().getName().equals("ch.qos.logback.classic.LoggerContext")) {
        return;
      }
      LoggerContext context = (LoggerContext) log;
      Logger logger = context.getLogger(PACKAGE + ".DefaultHttp2Connection");
      String name = ResetStreamLog.class.getName();
      if (logger.getAppender(name) == null && logger.isAdditive()) {
        ResetStreamLog appender = new ResetStreamLog(context.getLogger(PACKAGE));
        appender.setName(name);
        appender.setContext(context);
        appender.start();
        logger.addAppender(appender);
        logger.setAdditive(false);
      }
    }

    @Override
    protected void append(ILoggingEvent event) {
      if (!isOfResetStream(event)) {
        parent.callAppenders(event);
      }
    }

    private static boolean isOfResetStream(ILoggingEvent event) {
      IThrowableProxy thrown = event.getThrowableProxy();
      return thrown != null
          && thrown.getClassName().equals(Http2Exception.class.getName())
          && event.getFormattedMessage().contains("onStreamRemoved")
          && String.valueOf(thrown.getMessage())
              .startsWith("Data Frame received for unknown stream id");
    }
  }
}
