package io.github.gatlingllm.client;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.core.AppenderBase;
import io.netty.handler.codec.http2.Http2Exception;
import org.slf4j.ILoggerFactory;
import org.slf4j.LoggerFactory;

/**
 * Leaves one stack trace out of the log. Where we reset an HTTP/2 stream whose body is compressed,
 * Netty hands what its decompressor still holds to Gatling's client, which does not know the stream
 * any more and says so by an exception; Netty logs it as an error. The request has ended by then,
 * and no other one is touched. All else that this logger says goes where it would have gone.
 *
 * <p>Where another library than Logback does the logging, the trace is shown.
 */
final class ResetStreamLog extends AppenderBase<ILoggingEvent> {

  private static final String PACKAGE = "io.netty.handler.codec.http2";

  private final Logger above;

  private ResetStreamLog(Logger above) {
    this.above = above;
  }

  /** Installs it, once. */
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
      above.callAppenders(event);
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
