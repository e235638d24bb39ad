package io.github.gatlingllm.action;

import io.github.gatlingllm.client.Api;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.run.MetricsPage;
import io.github.gatlingllm.settings.Setting;
import java.net.URI;
import java.security.cert.CertificateException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Waits for a server that still starts, as long as {@code waitReady} allows: for its pages {@code
 * /health} and {@code …/models}, then for the first request. An answer below HTTP 500 is one of a
 * server that is up, as not all have both pages.
 */
final class ReadyWait {

  private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final long REPEAT_NANOS = TimeUnit.SECONDS.toNanos(15);
  private static final Duration POLL = Duration.ofSeconds(5);

  /** Since when servers were waited for, by their URLs, until one answers a request. */
  private static final Map<List<String>, Long> SINCE = new ConcurrentHashMap<>();

  private final LlmProtocol protocol;
  private final LongSupplier nanoClock;
  private final LongConsumer pause;
  private final long startNanos;

  private String printed = "";
  private long printedNanos;

  ReadyWait(LlmProtocol protocol) {
    this(protocol, System::nanoTime, LockSupport::parkNanos);
  }

  ReadyWait(LlmProtocol protocol, LongSupplier nanoClock, LongConsumer pause) {
    this.protocol = protocol;
    this.nanoClock = nanoClock;
    this.pause = pause;
    startNanos = nanoClock.getAsLong();
  }

  /**
   * Returns once the pages of all its base URLs answer; immediately where there is nothing to wait
   * for.
   */
  void untilUp() {
    Duration max = protocol.get(Setting.WAIT_READY);
    for (MetricsPage page : max == null ? List.<MetricsPage>of() : pages(protocol)) {
      for (String why = missing(page); why != null; why = missing(page)) {
        if (!again(page.toString(), why)) {
          throw InvalidSimulation.because(
              "LLM: %s is not ready after %s: %s. No load was sent; look at the server's log, or raise waitReady"
                  .formatted(page, time(nanoClock.getAsLong() - startNanos), why));
        }
      }
    }
  }

  /** The pages that answer once a server is up. */
  static List<MetricsPage> pages(LlmProtocol protocol) {
    List<String> urls = new ArrayList<>();
    for (String base : protocol.baseUrls()) {
      String path = base.split("\\?", 2)[0];
      Api api = Api.ofPath(path);
      int end = path.length() - (api == null ? 0 : api.path().length());
      urls.add(URI.create(path).resolve("/health").toString());
      urls.add(path.substring(0, end) + "/models");
    }
    return protocol.pages(urls);
  }

  private static @Nullable String missing(MetricsPage page) {
    try {
      String text = page.text(POLL).join();
      boolean isEmpty = text.matches("(?s)\\s*\\{.*\"data\"\\s*:\\s*\\[\\s*].*");
      return isEmpty && page.uri().getPath().endsWith("/models") ? "no model yet" : null;
    } catch (CompletionException e) {
      String why = String.valueOf(e.getMessage());
      if (isLasting(e)) {
        throw InvalidSimulation.because(
            "LLM: %s cannot be read, which waiting does not change: %s. No load was sent"
                .formatted(page, why));
      }
      return why.matches("HTTP [1-4]\\d\\d") ? null : why;
    }
  }

  /** A certificate, or a request that cannot be built; a host that is not known yet may start. */
  private static boolean isLasting(Throwable failure) {
    Throwable cause = failure;
    while (cause != null && !(cause instanceof CertificateException)) {
      cause = cause.getCause();
    }
    Throwable first = failure.getCause();
    return cause != null || first instanceof IllegalArgumentException;
  }

  /**
   * Since when this run waits for the server that now answers: since its first request unless
   * before.
   */
  long waitedSince(long firstRequestNanos) {
    Long since = SINCE.remove(protocol.baseUrls());
    return since == null ? firstRequestNanos : since;
  }

  /** Pauses before the next try, and prints that now and then; false if the time is over. */
  boolean again(String what, String why) {
    long now = nanoClock.getAsLong();
    Duration max = protocol.get(Setting.WAIT_READY);
    if (max == null || now + PAUSE_NANOS - startNanos > max.toNanos()) {
      return false;
    }
    String cause = what + " (" + why + ")";
    if (!cause.equals(printed) || now - printedNanos >= REPEAT_NANOS) {
      printed = cause;
      printedNanos = now;
      PrintableText.print(
          "LLM: waiting for %s, %s of at most %s"
              .formatted(cause, time(now - startNanos), time(max.toNanos())));
    }
    SINCE.putIfAbsent(protocol.baseUrls(), startNanos);
    pause.accept(PAUSE_NANOS);
    return !Thread.currentThread().isInterrupted();
  }

  private static String time(long nanos) {
    return NumberText.duration(nanos / 1e9);
  }
}
