package io.github.gatlingllm.action;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.turbo.TurboFilter;
import ch.qos.logback.core.spi.FilterReply;
import io.gatling.core.structure.ScenarioContext;
import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.record.StartCommand;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.ILoggerFactory;
import org.slf4j.LoggerFactory;
import org.slf4j.Marker;

/** A mistake in a simulation or its settings, found before any load; users read its message. */
public final class InvalidSimulation extends IllegalArgumentException {

  private static final long serialVersionUID = 1L;
  private static final int LONGEST = 200;
  private static final String OURS = "io.github.gatlingllm.";
  private static final String LAUNCHER = "io.gatling.app.Gatling";
  private static final int EXIT_CODE = 1;

  static final String TWO_PROTOCOLS =
      "protocols(…) has two llm protocols; give each scenario one, or each target:"
          + " closedLoop(8).target(\"A\", llm.baseUrl(…)).inject(chat)";

  private static boolean coversCrashes;

  private InvalidSimulation(String message) {
    super(message);
  }

  public static InvalidSimulation because(String message) {
    String line = oneLine(message);
    return failed(List.of(line.length() <= LONGEST ? line : line.substring(0, LONGEST - 1) + "…"));
  }

  /**
   * A line for each server that failed: what it answered, which has its own limit, and then what to
   * do, so that a cut of the line would drop the advice.
   */
  static InvalidSimulation failed(Collection<String> servers) {
    installFilter();
    return new InvalidSimulation(
        servers.stream().map(InvalidSimulation::oneLine).collect(Collectors.joining("\n")));
  }

  private static String oneLine(String message) {
    return message.replaceAll("\\s*\\R\\s*", " ");
  }

  /** All code of this simulation is ours: whatever crashes its start is one line. */
  public static void coverCrashes() {
    coversCrashes = true;
    installFilter();
  }

  /** Ends the process with one line about a start that crashed. */
  @SuppressWarnings("SystemExitOutsideMain") // the mains are Gatling's and the benchmark's
  public static void end(Throwable crash) {
    String line = line(crash);
    line = line == null ? unexpected(crash) : line;
    PrintableText.print(StartCommand.typed(line));
    LoggerFactory.getLogger(OURS).debug(line, crash);
    System.exit(EXIT_CODE);
  }

  /** Prints a text and ends the process, because Gatling refuses a simulation without load. */
  @SuppressWarnings("SystemExitOutsideMain") // main is Gatling's
  public static void endAfter(String text) {
    System.out.print(text);
    System.out.flush();
    System.exit(0);
  }

  /** Ends the process whose plan has been printed. */
  public static void endAfterDryRun() {
    endAfter("Dry run: nothing was sent\n");
  }

  public static <T> T checked(Supplier<T> validated) {
    try {
      return validated.get();
    } catch (InvalidSimulation e) {
      throw e;
    } catch (IllegalArgumentException e) {
      throw because(String.valueOf(e.getMessage()));
    }
  }

  /** As {@link #checked(Supplier)}; the message begins with the method and what it was given. */
  public static <T> T checked(String method, Object given, Supplier<T> validated) {
    try {
      return validated.get();
    } catch (IllegalArgumentException e) {
      throw because("%s(%s): %s".formatted(method, given, e.getMessage()));
    }
  }

  public static int requireMin(int min, String method, int value, String noun) {
    if (value < min) {
      throw because("%s(%s): expected %s %s or more".formatted(method, value, min, noun));
    }
    return value;
  }

  public static double above0(String method, double value) {
    if (value > 0 && value < Double.POSITIVE_INFINITY) {
      return value;
    }
    throw because(method + "(" + value + "): expected a number above 0");
  }

  public static Duration above0(String method, Duration value) {
    if (value.isNegative() || value.isZero()) {
      throw because(method + "(" + value + "): expected more than zero");
    }
    return value;
  }

  /** For a scenario without LLM protocol; Gatling does not tell an action which one it is. */
  static InvalidSimulation withoutProtocol(ScenarioContext context) {
    String names =
        InjectionPlans.populations(context.coreComponents()).stream()
            .filter(each -> !each.scenarioProtocols().contains(LlmProtocol.class))
            .map(each -> "'" + each.scenarioBuilder().name() + "'")
            .collect(Collectors.joining(" or "));
    return because(
        (names.isEmpty() ? "a scenario" : "scenario " + names)
            + " sends llm requests but has no llm protocol; add"
            + " .protocols(llm.baseUrl(\"http://localhost:8000/v1\"))");
  }

  /** Installs the filter, once and only where Gatling's main class is on the stack. */
  static synchronized void installFilter() {
    ILoggerFactory log = LoggerFactory.getILoggerFactory();
    boolean starting =
        StackWalker.getInstance()
            .walk(frames -> frames.anyMatch(frame -> frame.getClassName().equals(LAUNCHER)));
    if (starting && log.getClass().getName().equals("ch.qos.logback.classic.LoggerContext")) {
      LoggerContext context = (LoggerContext) log;
      if (context.getTurboFilterList().stream().noneMatch(StartFilter.class::isInstance)) {
        context.addTurboFilter(new StartFilter());
      }
    }
  }

  /** The message of an {@link InvalidSimulation} among the causes; null where there is none. */
  static @Nullable String line(@Nullable Throwable crash) {
    for (Throwable cause = crash; cause != null; cause = cause.getCause()) {
      if (cause instanceof InvalidSimulation) {
        return cause.getMessage();
      }
      if (String.valueOf(cause.getMessage()).startsWith("Duplicate key " + LlmProtocol.class)) {
        return TWO_PROTOCOLS;
      }
    }
    return null;
  }

  /** A line for an unforeseen cause. */
  static String unexpected(Throwable crash) {
    Throwable first = crash;
    for (Throwable cause = crash; cause != null; cause = cause.getCause()) {
      first = cause;
    }
    if (first instanceof OutOfMemoryError) {
      return "LLM: the heap is too small to prepare this run; give Java more (-Xmx), or ask for"
          + " fewer or smaller prompts";
    }
    StackTraceElement[] at = first.getStackTrace();
    String what = first.toString().replaceAll("\\s+", " ");
    return "LLM: failed at %s: %s; please report it, with the log of level debug"
        .formatted(
            at.length == 0 ? "?" : at[0].getFileName() + ":" + at[0].getLineNumber(),
            what.length() <= 100 ? what : what.substring(0, 99) + "…");
  }

  /** Prints the message in place of Gatling's stack trace and ends the JVM; only with Logback. */
  private static final class StartFilter extends TurboFilter {

    @Override
    public FilterReply decide(
        @Nullable Marker marker,
        Logger logger,
        Level level,
        @Nullable String format,
        Object @Nullable [] params,
        @Nullable Throwable crash) {
      boolean isStart = crash != null && logger.getName().startsWith(LAUNCHER);
      if (isStart && (coversCrashes || line(crash) != null)) {
        end(crash);
      }
      return FilterReply.NEUTRAL;
    }
  }
}
