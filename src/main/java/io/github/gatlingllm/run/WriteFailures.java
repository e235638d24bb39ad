package io.github.gatlingllm.run;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.ThrowableProxy;
import ch.qos.logback.core.filter.Filter;
import ch.qos.logback.core.spi.FilterReply;
import io.github.gatlingllm.record.RunFiles;
import java.io.EOFException;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.slf4j.LoggerFactory;

/**
 * Files of a run that cannot be written: a line per cause, whichever file meets it first. {@code
 * simulation.log} too, for which Gatling logs a stack trace per request. Thread-safe.
 */
final class WriteFailures extends Filter<ILoggingEvent> {

  private static final String WRITERS = "io.gatling.core.stats.writer.";
  private static final String READERS = "io.gatling.charts.stats.";

  private final Path folder;
  private final Consumer<String> print;
  private final Set<String> causes = ConcurrentHashMap.newKeySet();

  WriteFailures(Path folder, Consumer<String> print) {
    this.folder = folder;
    this.print = print;
  }

  void add(String file, IOException why) {
    String cause = RunFiles.reason(why);
    if (causes.add(cause)) {
      print.accept(
          why instanceof NoSuchFileException
              ? "LLM: "
                  + folder
                  + " was deleted while the run wrote to it: records are lost, and there will be no"
                  + " report; leave the results alone until the run has ended"
              : "LLM: "
                  + file
                  + " cannot be written ("
                  + cause
                  + "): the report will miss what is lost; free the disk, later lines are still"
                  + " tried");
    }
  }

  void print(String line) {
    print.accept(line);
  }

  /** Takes the place of Gatling's stack traces; only with Logback. */
  void replaceTraces() {
    if (LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME) instanceof Logger root) {
      root.iteratorForAppenders().forEachRemaining(appender -> appender.addFilter(this));
    }
  }

  @Override
  public FilterReply decide(ILoggingEvent event) {
    if (event.getThrowableProxy() instanceof ThrowableProxy proxy
        && proxy.getThrowable() instanceof IOException why) {
      if (isFrom(proxy, WRITERS)) {
        add(RunDirectory.LOG, why);
        return FilterReply.DENY;
      }
      if (!causes.isEmpty() && why instanceof EOFException && isFrom(proxy, READERS)) {
        return FilterReply.DENY; // the log is cut off, which was printed
      }
    }
    return FilterReply.NEUTRAL;
  }

  private static boolean isFrom(IThrowableProxy failure, String prefix) {
    return Arrays.stream(failure.getStackTraceElementProxyArray())
        .anyMatch(frame -> frame.getStackTraceElement().getClassName().startsWith(prefix));
  }
}
