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
 * Drops one misleading stack trace from the log. After a reset of an HTTP/2 stream with a
 * compressed body, Netty passes the rest of the decompressor to Gatling's client. The client does
 * not know the stream any more and throws, and Netty logs that as an error, although the request
 * has ended and no other one is affected. All other events of this logger go to the usual
 * appenders.
 *
 * <p>With another logging library than Logback, the stack trace is logged.
 */
final class ResetStreamLog extends AppenderBase<ILoggingEvent> {

  private static final String PACKAGE = "io.netty.handler.codec.http2";

  private final Logger parent;

  private ResetStreamLog(Logger parent) {
    this.parent = parent;
  }

  /** Installs the appender; further calls do nothing. */
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
