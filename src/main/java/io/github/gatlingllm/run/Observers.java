package io.github.gatlingllm.run;

import io.github.gatlingllm.load.DataFile;
import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.run.RunView.Stage;
import io.github.gatlingllm.storage.S3Location;
import io.netty.util.concurrent.EventExecutor;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The observers of a run, by the settings of the process. A run without one of the lines in {@link
 * #of} completes, with all its records.
 *
 * @param page address of the live page; null for none
 * @param otlp URL to which meters are sent; null for none
 * @param otlpTraces URL to which spans are sent; null for none
 */
public record Observers(
    @Nullable InetSocketAddress page,
    @Nullable String otlp,
    @Nullable URI otlpTraces,
    @Nullable S3Location upload) {

  private static final Pattern ADDRESS =
      Pattern.compile("(?:([\\d.]+|\\[[\\da-fA-F:]+\\]):)?(\\d{1,5})");

  /** Reads {@code 8088}, {@code 0.0.0.0:8088}, {@code [::]:8088}. */
  public static InetSocketAddress address(String text) {
    Matcher form = ADDRESS.matcher(text);
    if (!form.matches() || Integer.parseInt(form.group(2)) > 65_535) {
      throw new IllegalArgumentException(
          "expected a port, or <IP address>:<port>; port 0 takes any free port");
    }
    return InetSocketAddress.createUnresolved(
        Objects.requireNonNullElse(form.group(1), "127.0.0.1"), Integer.parseInt(form.group(2)));
  }

  /** Throws with a one-line message if the upload cannot work, as far as can be known. */
  public Observers checked() {
    try {
      if (upload != null) {
        upload.check();
      }
      return this;
    } catch (IOException e) {
      throw new IllegalArgumentException("llm.upload: " + e.getMessage() + "; no load is sent", e);
    }
  }

  List<RunObserver> of(Run run, Iterable<? extends EventExecutor> eventLoops) {
    GenAiMeters meters = meters(run);
    LiveView live = page == null ? null : new LiveView(run, page, meters);
    return Stream.of(
            new RunConsole(run),
            new GeneratorLog(run, eventLoops),
            new ServerWatch(run),
            live,
            meters,
            otlpTraces == null ? null : TraceSpans.of(run.id(), otlpTraces),
            upload == null ? null : new Upload(run, upload))
        .filter(Objects::nonNull)
        .toList();
  }

  /** Null without Micrometer too, an optional dependency that the class of the meters needs. */
  private @Nullable GenAiMeters meters(Run run) {
    try {
      return GenAiMeters.open(run.id(), run::inFlight, this, PrintableText::print);
    } catch (NoClassDefFoundError noMicrometer) {
      if (otlp != null) {
        PrintableText.print(
            "LLM otlp: no meters are sent; add io.micrometer:micrometer-registry-otlp to the class"
                + " path");
      }
      return null;
    }
  }

  /**
   * The W3C trace context of a request, by which a server's spans are below its own. Both ids are
   * parts of a hash of the request's id, so that the trace id in a record is enough for the span.
   */
  public record TraceContext(String traceId, String spanId) {

    private static final int TRACE_DIGITS = 32;
    private static final int DIGITS = TRACE_DIGITS + 16;

    /** As in OpenTelemetry's consistent sampling: the last 56 bits of a trace id are its draw. */
    private static final int DRAW_DIGITS = 14;

    private static final Pattern PERCENT = Pattern.compile("(\\d{1,3}(?:\\.\\d{1,9})?) ?%");

    public static TraceContext of(String requestId) {
      String digits = DataFile.sha256(requestId);
      return new TraceContext(
          digits.substring(0, TRACE_DIGITS), digits.substring(TRACE_DIGITS, DIGITS));
    }

    /** Reads {@code 1%}; 0 to 1. */
    public static Double share(String text) {
      Matcher percent = PERCENT.matcher(text);
      double share = percent.matches() ? Double.parseDouble(percent.group(1)) / 100 : 0;
      if (!(share > 0 && share <= 1)) {
        throw new IllegalArgumentException("expected a percentage above 0 % and up to 100 %");
      }
      return share;
    }

    /** Whether it is an address that OTLP is posted to, which has a path. */
    static boolean isCollector(String url) {
      return url.matches("https?://[^/]+/.*");
    }

    /** Reads the URL of a collector. */
    public static URI url(String text) {
      if (!isCollector(text)) {
        throw new IllegalArgumentException(
            "expected a URL such as http://localhost:4318/v1/traces");
      }
      return URI.create(text);
    }

    /** Whether it is one of that share of all traces, 0 to 1. */
    public boolean isSampled(double share) {
      String draw = traceId.substring(TRACE_DIGITS - DRAW_DIGITS);
      return Long.parseLong(draw, 16) < share * (1L << (4 * DRAW_DIGITS));
    }

    /** The header {@code traceparent}; servers record no spans of a trace that is not sampled. */
    public String header(boolean isSampled) {
      return "00-%s-%s-0%s".formatted(traceId, spanId, isSampled ? 1 : 0);
    }
  }

  /** Uploads the records as soon as they are complete, and the report when it is made. */
  private static final class Upload implements RunObserver {

    private final Run run;
    private final S3Location place;
    private Stage sent = Stage.RUNNING;
    private volatile boolean isFailed;

    Upload(Run run, S3Location place) {
      this.run = run;
      this.place = place;
    }

    @Override
    public String name() {
      return "upload";
    }

    /** Long enough for large files: the machine may not exist any more after the run. */
    @Override
    public Duration patience() {
      return Duration.ofHours(1);
    }

    @Override
    public void tick(RunView view) {
      if (view.stage == sent || isFailed) {
        return;
      }
      sent = view.stage;
      S3Location ofRun = place.of(run.info());
      try {
        if (sent == Stage.REPORTED) {
          ofRun.uploadReport(run.files());
        } else {
          ofRun.uploadRecords(run.files());
          PrintableText.print("LLM upload: " + ofRun);
        }
      } catch (IOException | RuntimeException | LinkageError e) {
        isFailed = true;
        PrintableText.print(
            "LLM upload failed: %s; the files are kept, copy them with: aws s3 cp --recursive %s %s"
                .formatted(e.getMessage(), run.files().folder(), ofRun.at("llm")));
      }
    }

    @Override
    public boolean isOutputLost() {
      return isFailed;
    }
  }
}
