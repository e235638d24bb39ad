package io.github.gatlingllm.client;

import io.github.gatlingllm.client.AnswerMemory.TooLarge;
import io.github.gatlingllm.client.StreamedExchange.Ending;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.Timeline;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The body of a response: reads its bytes, and decides how the request ended. */
abstract sealed class ResponseBody {

  /** Size limit of a body that is not a stream: 16 MiB. */
  static final int MAX_BYTES = 16 * 1024 * 1024;

  /** Longer bodies are not searched for their end while they arrive: 64 KiB. */
  private static final int MAX_LEFT_OPEN = 64 * 1024;

  abstract void bytes(long now, byte[] bytes, int offset, int length);

  abstract Ending end(long now, boolean cut);

  /** Whether the rest of the body cannot change the status. */
  boolean hasFinalStatus() {
    return true;
  }

  /** Whether the answer has ended, though its body has not: a server may leave it open. */
  Answered answered() {
    return Answered.NOT_YET;
  }

  /** When the answer had come that far; {@code now} is the instant of the last read. */
  long answeredAt(long now) {
    return now;
  }

  /** How far an answer has come whose body has not ended. */
  enum Answered {
    NOT_YET,
    /** Nothing else has to come, but more may: token counts. */
    SETTLED,
    /** The server has sent the last mark of its API, or an error. */
    ENDED
  }

  Ending connectionFailed(long now, String reason) {
    Ending ending = end(now, true);
    return ending.status() == RequestStatus.TRUNCATED
        ? new Ending(RequestStatus.CONNECTION_ERROR, reason)
        : ending;
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
        ? new Stream(exchange.answer())
        : new SingleBody(contentType, exchange, streamed);
  }

  /** An event stream with status 2xx. */
  static final class Stream extends ResponseBody {

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
    boolean hasFinalStatus() {
      return answer.isSettled() || answer.error() != null;
    }

    @Override
    Answered answered() {
      return answer.hasLastMark()
          ? Answered.ENDED
          : answer.isFinished() || (decoder.hasIgnored() && decoder.ignoredJson().length > 0)
              ? Answered.SETTLED
              : Answered.NOT_YET;
    }

    @Override
    long answeredAt(long now) {
      return answer.hasLastMark() || !answer.isFinished() ? now : answer.settledAt();
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
        return quoting(
            RequestStatus.TRUNCATED,
            answer.events() == 0
                ? "stream ended without a single event"
                : terminal == null
                    ? "stream ended before finish_reason and without [DONE]"
                    : "stream ended without " + terminal);
      }
      return answer.hasTokens()
          ? new Ending(RequestStatus.COMPLETE, null)
          : quoting(RequestStatus.EMPTY, "stream ended as expected but contained no token");
    }

    /** A last event without its blank line keeps the timestamp of its bytes. */
    void endOfStream() {
      try {
        decoder.endOfStream();
        answer.endOfStream(parser, decoder.ignoredJson());
      } catch (TooLarge tooLarge) {
        answer.listener().malformed(tooLarge.getMessage());
      }
    }

    /** What a server sends beside events often states why there are none. */
    private Ending quoting(RequestStatus status, String error) {
      String ignored = decoder.ignored();
      return new Ending(
          status, ignored == null ? error : error + "; beside events it sent: " + ignored);
    }
  }

  /** One JSON body with status 2xx; or an event stream with a wrong content type. */
  private static final class SingleBody extends ResponseBody {

    private final @Nullable String contentType;
    private final ReceivedAnswer answer;
    private final Timeline timeline;
    private final AnswerBytes body;
    private BodyKind kind;
    private @Nullable Stream stream;

    SingleBody(@Nullable String contentType, StreamedExchange exchange, boolean streamed) {
      this.contentType = contentType;
      this.answer = exchange.answer();
      this.timeline = exchange.timeline();
      this.body = new AnswerBytes("body", MAX_BYTES, answer.memory());
      this.kind = streamed ? BodyKind.UNKNOWN : BodyKind.OTHER;
    }

    @Override
    void bytes(long now, byte[] bytes, int offset, int length) {
      if (stream != null) {
        stream.bytes(now, bytes, offset, length);
        return;
      }
      body.append(bytes, offset, length);
      if (kind == BodyKind.UNKNOWN) {
        kind = BodyKind.of(body.array(), body.length());
        if (kind == BodyKind.EVENTS) {
          stream = new Stream(answer);
          stream.bytes(now, body.array(), 0, body.length());
        }
      }
    }

    @Override
    boolean hasFinalStatus() {
      return stream != null && stream.hasFinalStatus();
    }

    @Override
    Answered answered() {
      return stream != null
          ? stream.answered()
          : isComplete(body.array(), body.length()) ? Answered.SETTLED : Answered.NOT_YET;
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
        return new Ending(RequestStatus.TRUNCATED, "body ended before it was complete");
      }
      timeline.body(now);
      answer.body(body.array(), body.length());
      if (answer.error() != null) {
        return reported(answer);
      }
      if (answer.malformed() != null) {
        return new Ending(RequestStatus.INVALID_RESPONSE, unexpected(answer.malformed()));
      }
      GenerationRequest request = answer.request();
      if (!request.api().generates()) {
        return answer.hasAllResults()
            ? new Ending(RequestStatus.COMPLETE, null)
            : new Ending(
                RequestStatus.INVALID_RESPONSE,
                "expected a result for each input (%s), got %s"
                    .formatted(request.results(), answer.results()));
      }
      if (answer.hasTokens()) {
        return new Ending(RequestStatus.COMPLETE, null);
      }
      return answer.isOver()
          ? new Ending(RequestStatus.EMPTY, "completion contained no token")
          : new Ending(RequestStatus.INVALID_RESPONSE, "expected a completion, got other JSON");
    }

    private String unexpected(String malformed) {
      if (contentType != null && contentType.toLowerCase(Locale.ROOT).contains("json")) {
        return "expected a completion, got broken JSON: " + malformed;
      }
      return "expected an event stream or JSON, got "
          + (contentType == null ? "no content type" : contentType);
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
      String error =
          "Content-Encoding " + encoding + " is not supported: the server must send gzip or none";
      return httpStatus / 100 == 2
          ? new Ending(RequestStatus.INVALID_RESPONSE, error)
          : new Ending(failure(httpStatus), "HTTP " + httpStatus + ": " + error);
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
        throw new TooLarge("body of an error longer than 16 MiB");
      }
    }

    @Override
    Answered answered() {
      byte[] read = beginning.toByteArray();
      return received == read.length && isComplete(read, read.length)
          ? Answered.SETTLED
          : Answered.NOT_YET;
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
        return "HTTP "
            + httpStatus
            + ": redirects are not followed; set the endpoint to "
            + location;
      }
      if (httpStatus == 407) {
        return "HTTP 407: the proxy requires a user name and password; set them in llm.proxy";
      }
      return ErrorBody.message(
          httpStatus,
          headers.get(HttpHeaderNames.CONTENT_TYPE),
          headers.get(HttpHeaderNames.RETRY_AFTER),
          beginning.toByteArray(),
          exchange.options().secrets(),
          exchange.answer().request());
    }
  }

  /** What a body with another content type is, by its first bytes. */
  private enum BodyKind {
    UNKNOWN,
    EVENTS,
    OTHER;

    private static final List<String> EVENT_BEGINNINGS =
        List.of("data:", "event:", "id:", "retry:", ":");

    /** White space, and the bytes of the byte order mark, which may be split over reads. */
    private static final String SKIPPED = " \t\r\n\u00EF\u00BB\u00BF";

    static BodyKind of(byte[] bytes, int length) {
      int from = 0;
      while (from < length && SKIPPED.indexOf(bytes[from] & 0xFF) >= 0) {
        from++;
      }
      String head =
          new String(bytes, from, Math.min(length - from, 8), StandardCharsets.ISO_8859_1);
      if (EVENT_BEGINNINGS.stream().anyMatch(head::startsWith)) {
        return EVENTS;
      }
      return EVENT_BEGINNINGS.stream().anyMatch(beginning -> beginning.startsWith(head))
          ? UNKNOWN
          : OTHER;
    }
  }
}
