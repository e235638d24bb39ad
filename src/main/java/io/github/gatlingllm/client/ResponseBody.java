package io.github.gatlingllm.client;

import io.github.gatlingllm.client.AnswerMemory.TooLarge;
import io.github.gatlingllm.client.StreamedExchange.Ending;
import io.github.gatlingllm.figures.metric.Sentence;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.Timeline;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The body of a response: reads its bytes, and decides how the request ended. */
abstract sealed class ResponseBody {

  /** Size limit of a body that is not a stream: 16 MiB. */
  static final int MAX_BYTES = 16 * 1024 * 1024;

  /**
   * After the last mark of the API, or an error, a body has this time to end, so that a connection
   * can be used again.
   */
  private static final long AFTER_MARK_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

  /** Where every choice is finished without a mark, token counts may still come. */
  private static final long AFTER_FINISH_NANOS = TimeUnit.MILLISECONDS.toNanos(1_500);

  /** Longer bodies are not searched for their end while they arrive: 64 KiB. */
  private static final int MAX_LEFT_OPEN = 64 * 1024;

  abstract void bytes(long now, byte[] bytes, int offset, int length);

  abstract Ending end(long now, boolean cut);

  /** Whether the rest of the body cannot change the status. */
  boolean hasFinalStatus() {
    return true;
  }

  /** How long the body may stay open because its answer has ended; 0 if it has not. */
  long maxOpenNanos() {
    return 0;
  }

  /** When the answer had come that far; {@code now} is the instant of the last read. */
  long answeredAt(long now) {
    return now;
  }

  Ending connectionFailed(long now, String reason) {
    Ending ending = end(now, true);
    return ending.status() == RequestStatus.TRUNCATED
        ? new Ending(RequestStatus.CONNECTION_ERROR, reason)
        : ending;
  }

  /** Whether it has been an event stream from its first byte, as its headers state. */
  boolean isEventStream() {
    return false;
  }

  static ResponseBody ofEvents(ReceivedAnswer answer) {
    return new Stream(answer);
  }

  static ResponseBody of(
      int httpStatus, HttpHeaders headers, StreamedExchange exchange, boolean streamed) {
    String encoding = headers.get(HttpHeaderNames.CONTENT_ENCODING);
    if (encoding != null && !BoundedHttp.isDecoded(encoding)) {
      return new Encoded(httpStatus, encoding);
    }
    if (httpStatus / 100 != 2) {
      return new Failed(httpStatus, headers, exchange);
    }
    String contentType = headers.get(HttpHeaderNames.CONTENT_TYPE);
    return contentType != null
            && contentType.toLowerCase(Locale.ROOT).startsWith("text/event-stream")
        ? ofEvents(exchange.answer())
        : new SingleBody(contentType, exchange, streamed);
  }

  /** An event stream with status 2xx. */
  private static final class Stream extends ResponseBody {

    private final ReceivedAnswer answer;
    private final ChunkParser parser;
    private final SseDecoder decoder;

    Stream(ReceivedAnswer answer) {
      this.answer = answer;
      parser = answer.request().api().parser(answer.listener());
      decoder = new SseDecoder(parser, answer.memory());
    }

    @Override
    void bytes(long now, byte[] bytes, int offset, int length) {
      answer.stream(now);
      decoder.feed(bytes, offset, length);
    }

    @Override
    boolean isEventStream() {
      return true;
    }

    @Override
    boolean hasFinalStatus() {
      return answer.isSettled() || answer.error() != null;
    }

    @Override
    long maxOpenNanos() {
      return answer.hasLastMark()
          ? AFTER_MARK_NANOS
          : answer.isFinished() || (decoder.hasIgnored() && decoder.ignoredJson().length > 0)
              ? AFTER_FINISH_NANOS
              : 0;
    }

    @Override
    long answeredAt(long now) {
      return answer.hasLastMark() || answer.isFinished() ? answer.endedAt() : now;
    }

    @Override
    Ending end(long now, boolean cut) {
      endOfStream();
      if (answer.error() != null) {
        return reported(answer);
      }
      if (answer.malformed() != null) {
        return quoting(RequestStatus.INVALID_RESPONSE, answer.malformed());
      }
      if (!(cut ? answer.isSettled() : answer.isOver())) {
        String terminal = answer.terminalEvent();
        String ended = answer.events() == 0 ? "no_event" : terminal == null ? "choices" : "typed";
        String mark = Objects.requireNonNullElse(terminal, "[DONE]");
        return quoting(RequestStatus.TRUNCATED, Sentence.text("truncated", ended, mark));
      }
      return answer.hasTokens()
          ? new Ending(RequestStatus.COMPLETE, null)
          : quoting(RequestStatus.EMPTY, Sentence.text("no_token", true));
    }

    /** A last event without its blank line has the timestamp of its bytes. */
    private void endOfStream() {
      try {
        decoder.endOfStream();
        answer.endOfStream(parser, decoder.ignoredJson());
      } catch (TooLarge tooLarge) {
        answer.tooLarge(tooLarge);
      }
    }

    /** What a server sends beside events often states why they are missing. */
    private Ending quoting(RequestStatus status, String error) {
      String ignored = decoder.ignored();
      return new Ending(
          status, ignored == null ? error : Sentence.text("beside_events", error, ignored));
    }
  }

  /** One JSON body with status 2xx; or an event stream with a wrong content type. */
  private static final class SingleBody extends ResponseBody {

    private static final List<String> EVENT_BEGINNINGS =
        List.of("data:", "event:", "id:", "retry:", ":");

    /** White space, and the bytes of the byte order mark, which may be split over reads. */
    private static final String SKIPPED = " \t\r\n\u00EF\u00BB\u00BF";

    private final @Nullable String contentType;
    private final ReceivedAnswer answer;
    private final Timeline timeline;
    private final AnswerBytes body;
    private boolean mayBeEvents;
    private @Nullable Stream stream;

    SingleBody(@Nullable String contentType, StreamedExchange exchange, boolean streamed) {
      this.contentType = contentType;
      this.answer = exchange.answer();
      this.timeline = exchange.timeline();
      this.body = new AnswerBytes("body", MAX_BYTES, answer.memory());
      this.mayBeEvents = streamed;
    }

    @Override
    void bytes(long now, byte[] bytes, int offset, int length) {
      if (stream != null) {
        stream.bytes(now, bytes, offset, length);
        return;
      }
      body.append(bytes, offset, length);
      if (mayBeEvents) {
        String head = head(body.array(), body.length());
        mayBeEvents = EVENT_BEGINNINGS.stream().anyMatch(beginning -> beginning.startsWith(head));
        if (EVENT_BEGINNINGS.stream().anyMatch(head::startsWith)) {
          stream = new Stream(answer);
          stream.bytes(now, body.array(), 0, body.length());
        }
      }
    }

    /** Its first bytes, without white space and the byte order mark. */
    private static String head(byte[] bytes, int length) {
      int from = 0;
      while (from < length && SKIPPED.indexOf(bytes[from] & 0xFF) >= 0) {
        from++;
      }
      return new String(bytes, from, Math.min(length - from, 8), StandardCharsets.ISO_8859_1);
    }

    @Override
    boolean hasFinalStatus() {
      return stream != null && stream.hasFinalStatus();
    }

    @Override
    long maxOpenNanos() {
      return stream != null
          ? stream.maxOpenNanos()
          : isComplete(body.array(), body.length()) ? AFTER_FINISH_NANOS : 0;
    }

    @Override
    long answeredAt(long now) {
      return stream == null ? now : stream.answeredAt(now);
    }

    @Override
    Ending end(long now, boolean cut) {
      if (stream != null) {
        return stream.end(now, cut);
      }
      if (cut) {
        return new Ending(RequestStatus.TRUNCATED, Sentence.text("truncated", "body", null));
      }
      timeline.body(now);
      answer.body(body.array(), body.length());
      if (answer.error() != null) {
        return reported(answer);
      }
      if (answer.malformed() != null) {
        boolean isJson =
            contentType != null && contentType.toLowerCase(Locale.ROOT).contains("json");
        return isJson
            ? unexpected("malformed", answer.malformed(), null)
            : unexpected("type", contentType, null);
      }
      GenerationRequest request = answer.request();
      if (!request.api().generates()) {
        return answer.hasAllResults()
            ? new Ending(RequestStatus.COMPLETE, null)
            : unexpected("results", answer.results(), request.results());
      }
      if (answer.hasTokens()) {
        return new Ending(RequestStatus.COMPLETE, null);
      }
      return answer.isOver()
          ? new Ending(RequestStatus.EMPTY, Sentence.text("no_token", false))
          : unexpected("json", null, null);
    }

    private static Ending unexpected(
        String what, @Nullable Object got, @Nullable Integer expected) {
      return new Ending(
          RequestStatus.INVALID_RESPONSE, Sentence.text("unexpected", what, got, expected));
    }
  }

  /** A body in an encoding that is not decoded: nothing in it is read. */
  private static final class Encoded extends ResponseBody {

    private final int httpStatus;
    private final String encoding;

    Encoded(int httpStatus, String encoding) {
      this.httpStatus = httpStatus;
      this.encoding = encoding;
    }

    @Override
    void bytes(long now, byte[] bytes, int offset, int length) {}

    @Override
    Ending end(long now, boolean cut) {
      String error = Sentence.text("unread", "encoding", encoding);
      return httpStatus / 100 == 2
          ? new Ending(RequestStatus.INVALID_RESPONSE, error)
          : new Ending(failure(httpStatus), Sentence.text("http", httpStatus, error, null, null));
    }
  }

  private static Ending reported(ReceivedAnswer answer) {
    String error = answer.error();
    RequestStatus status =
        answer.isRateLimited()
            ? RequestStatus.RATE_LIMITED
            : error != null && ErrorBody.isContextExceeded(error)
                ? RequestStatus.CONTEXT_EXCEEDED
                : RequestStatus.IN_STREAM_ERROR;
    return new Ending(status, error);
  }

  /** Whether bytes are a complete document of JSON, or the end of a page. */
  private static boolean isComplete(byte[] bytes, int length) {
    int last = length > MAX_LEFT_OPEN ? 0 : length - 1;
    while (last > 0 && bytes[last] <= ' ') {
      last--;
    }
    return last > 0
        && ((bytes[last] == '>' && endsWith(bytes, last, "</html>"))
            || ((bytes[last] == '}' || bytes[last] == ']')
                && ChunkParser.isComplete(bytes, length)));
  }

  private static boolean endsWith(byte[] bytes, int last, String end) {
    int from = last + 1 - end.length();
    return from >= 0
        && new String(bytes, from, end.length(), StandardCharsets.ISO_8859_1).equalsIgnoreCase(end);
  }

  private static RequestStatus failure(int httpStatus) {
    return httpStatus == 429 ? RequestStatus.RATE_LIMITED : RequestStatus.HTTP_ERROR;
  }

  private static final class Failed extends ResponseBody {

    private static final int MAX_BEGINNING = 64 * 1024;

    private final int httpStatus;
    private final HttpHeaders headers;
    private final StreamedExchange exchange;
    private final ByteArrayOutputStream beginning = new ByteArrayOutputStream();
    private int received;

    Failed(int httpStatus, HttpHeaders headers, StreamedExchange exchange) {
      this.httpStatus = httpStatus;
      this.headers = headers;
      this.exchange = exchange;
    }

    @Override
    void bytes(long now, byte[] bytes, int offset, int length) {
      beginning.write(bytes, offset, Math.min(length, MAX_BEGINNING - beginning.size()));
      received += length;
      if (received > MAX_BYTES) {
        throw new TooLarge("body", MAX_BYTES >> 20);
      }
    }

    @Override
    long maxOpenNanos() {
      byte[] read = beginning.toByteArray();
      return received == read.length && isComplete(read, read.length) ? AFTER_FINISH_NANOS : 0;
    }

    @Override
    Ending end(long now, boolean cut) {
      boolean isRefused = httpStatus == 400 || httpStatus == 413 || httpStatus == 422;
      boolean isTooLong =
          isRefused && ErrorBody.isContextExceeded(beginning.toString(StandardCharsets.UTF_8));
      return new Ending(
          isTooLong ? RequestStatus.CONTEXT_EXCEEDED : failure(httpStatus), message());
    }

    private String message() {
      String location = headers.get(HttpHeaderNames.LOCATION);
      if (httpStatus / 100 == 3 && location != null) {
        return http("redirect", location);
      }
      if (httpStatus == 407) {
        return http("proxy_login", null);
      }
      return new ErrorBody(beginning.toByteArray(), 0, beginning.size())
          .responseLine(
              httpStatus,
              headers.get(HttpHeaderNames.CONTENT_TYPE),
              headers.get(HttpHeaderNames.RETRY_AFTER),
              exchange.secrets(),
              exchange.answer().request());
    }

    private String http(String why, @Nullable String detail) {
      return Sentence.text("http", httpStatus, Sentence.of("unread", why, detail), null, null);
    }
  }
}
