package io.github.gatlingllm.client;

import io.github.gatlingllm.client.StreamedExchange.Ending;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.wire.ErrorBody;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The body of a response: how its bytes are read, and what its end means. */
sealed interface ResponseBody {

  /** HTTP status. */
  int status();

  /** More of the body. */
  void bytes(long now, byte[] bytes, int offset, int length);

  /**
   * The body is over.
   *
   * @param cut whether the connection went away before the HTTP message was whole
   */
  Ending end(long now, boolean cut);

  /** Whether the status stands, whatever may still come. */
  boolean isSettled();

  /** The connection failed in a way that is not a plain close. */
  Ending broken(long now, String reason);

  /** Chooses by status and content type. */
  static ResponseBody of(
      int status,
      @Nullable String contentType,
      @Nullable String retryAfter,
      @Nullable String location,
      StreamedExchange exchange) {
    if (status / 100 != 2) {
      return new Failed(status, contentType, retryAfter, location, exchange);
    }
    String type = contentType == null ? "" : contentType.toLowerCase(Locale.ROOT);
    return type.startsWith("text/event-stream")
        ? new Stream(status, exchange)
        : new Whole(status, contentType, exchange);
  }

  /** Status 2xx, an event stream. */
  record Stream(int status, StreamedExchange exchange) implements ResponseBody {

    @Override
    public void bytes(long now, byte[] bytes, int offset, int length) {
      exchange.answer().stream(now, bytes, offset, length);
    }

    @Override
    public boolean isSettled() {
      return exchange.answer().isOver() || exchange.answer().error() != null;
    }

    @Override
    public Ending end(long now, boolean cut) {
      ReceivedAnswer answer = exchange.answer();
      answer.endOfStream();
      if (answer.error() != null) {
        return new Ending(RequestStatus.IN_STREAM_ERROR, status, answer.error());
      }
      if (answer.malformed() != null) {
        return new Ending(RequestStatus.INVALID_RESPONSE, status, answer.malformed());
      }
      if (!answer.isOver()) {
        return new Ending(
            RequestStatus.TRUNCATED,
            status,
            answer.events() == 0
                ? "stream ended without a single event"
                : "stream ended before finish_reason and without [DONE]");
      }
      return answer.hasTokens()
          ? new Ending(RequestStatus.COMPLETE, status, null)
          : new Ending(RequestStatus.EMPTY, status, "stream ended well but held no token");
    }

    @Override
    public Ending broken(long now, String reason) {
      Ending ending = end(now, true);
      return ending.status() == RequestStatus.TRUNCATED
          ? new Ending(RequestStatus.CONNECTION_ERROR, status, reason)
          : ending;
    }
  }

  /** Status 2xx, one JSON body; or an event stream under a wrong content type. */
  final class Whole implements ResponseBody {

    private static final int LIMIT = 16 * 1024 * 1024;

    private final int status;
    private final @Nullable String contentType;
    private final StreamedExchange exchange;
    private final Collected body = new Collected(LIMIT);
    private BodyKind kind;
    private @Nullable Stream stream;

    Whole(int status, @Nullable String contentType, StreamedExchange exchange) {
      this.status = status;
      this.contentType = contentType;
      this.exchange = exchange;
      this.kind = exchange.settings().streamed() ? BodyKind.UNKNOWN : BodyKind.OTHER;
    }

    @Override
    public int status() {
      return status;
    }

    @Override
    public void bytes(long now, byte[] bytes, int offset, int length) {
      if (stream != null) {
        stream.bytes(now, bytes, offset, length);
        return;
      }
      body.add(bytes, offset, length);
      if (kind == BodyKind.UNKNOWN) {
        kind = BodyKind.of(body.bytes(), body.length());
        if (kind == BodyKind.EVENTS) {
          stream = new Stream(status, exchange);
          stream.bytes(now, body.bytes(), 0, body.length());
        }
      }
    }

    @Override
    public boolean isSettled() {
      return stream != null && stream.isSettled();
    }

    @Override
    public Ending end(long now, boolean cut) {
      if (stream != null) {
        return stream.end(now, cut);
      }
      if (cut) {
        return new Ending(RequestStatus.TRUNCATED, status, "body ended before it was whole");
      }
      exchange.timeline().body(now);
      ReceivedAnswer answer = exchange.answer();
      answer.body(body.bytes(), body.length());
      if (answer.error() != null) {
        return new Ending(RequestStatus.IN_STREAM_ERROR, status, answer.error());
      }
      if (answer.malformed() != null) {
        return new Ending(RequestStatus.INVALID_RESPONSE, status, unexpected(answer.malformed()));
      }
      if (!answer.isOver() && !answer.hasTokens()) {
        return new Ending(
            RequestStatus.INVALID_RESPONSE, status, "expected a completion, got other JSON");
      }
      return answer.hasTokens()
          ? new Ending(RequestStatus.COMPLETE, status, null)
          : new Ending(RequestStatus.EMPTY, status, "completion held no token");
    }

    private String unexpected(String malformed) {
      if (body.isFull()) {
        return "expected a completion, got a body of 16 MiB or more";
      }
      if (contentType != null && contentType.toLowerCase(Locale.ROOT).contains("json")) {
        return "expected a completion, got broken JSON: " + malformed;
      }
      return "expected an event stream or JSON, got "
          + (contentType == null ? "no content type" : contentType);
    }

    @Override
    public Ending broken(long now, String reason) {
      return stream != null
          ? stream.broken(now, reason)
          : new Ending(RequestStatus.CONNECTION_ERROR, status, reason);
    }
  }

  /** Any other status. */
  final class Failed implements ResponseBody {

    private static final int LIMIT = 64 * 1024;

    private final int status;
    private final @Nullable String contentType;
    private final @Nullable String retryAfter;
    private final @Nullable String location;
    private final StreamedExchange exchange;
    private final Collected body = new Collected(LIMIT);

    Failed(
        int status,
        @Nullable String contentType,
        @Nullable String retryAfter,
        @Nullable String location,
        StreamedExchange exchange) {
      this.status = status;
      this.contentType = contentType;
      this.retryAfter = retryAfter;
      this.location = location;
      this.exchange = exchange;
    }

    @Override
    public int status() {
      return status;
    }

    @Override
    public void bytes(long now, byte[] bytes, int offset, int length) {
      body.add(bytes, offset, length);
    }

    @Override
    public boolean isSettled() {
      return true;
    }

    @Override
    public Ending end(long now, boolean cut) {
      if (status / 100 == 3 && location != null) {
        return new Ending(
            RequestStatus.HTTP_ERROR,
            status,
            "HTTP " + status + ": redirects are not followed; set the endpoint to " + location);
      }
      if (status == 407) {
        return new Ending(
            RequestStatus.HTTP_ERROR,
            status,
            "HTTP 407: the proxy wants a user name and password; set them on the http protocol");
      }
      return new Ending(
          status == 429 ? RequestStatus.RATE_LIMITED : RequestStatus.HTTP_ERROR,
          status,
          ErrorBody.message(
              status,
              contentType,
              retryAfter,
              Arrays.copyOf(body.bytes(), body.length()),
              exchange.settings().secrets()));
    }

    @Override
    public Ending broken(long now, String reason) {
      return end(now, true);
    }
  }

  /** Bytes up to a limit; what comes beyond it is dropped. */
  final class Collected {
    private final int limit;
    private byte[] bytes = new byte[1024];
    private int length;

    Collected(int limit) {
      this.limit = limit;
    }

    void add(byte[] more, int offset, int count) {
      int fitting = Math.min(count, limit - length);
      if (length + fitting > bytes.length) {
        bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, length + fitting));
      }
      System.arraycopy(more, offset, bytes, length, fitting);
      length += fitting;
    }

    byte[] bytes() {
      return bytes;
    }

    int length() {
      return length;
    }

    boolean isFull() {
      return length == limit;
    }
  }

  /** What a body of another content type is after all, seen by how it begins. */
  enum BodyKind {
    UNKNOWN,
    EVENTS,
    OTHER;

    private static final List<String> EVENT_BEGINNINGS =
        List.of("data:", "event:", "id:", "retry:", ":");

    static BodyKind of(byte[] bytes, int length) {
      int from = 0;
      while (from < length && isBlankOrMark(bytes[from])) {
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

    /** White space, or a byte of the byte order mark, which may come in pieces. */
    private static boolean isBlankOrMark(byte b) {
      return b == ' '
          || b == '\t'
          || b == '\r'
          || b == '\n'
          || b == (byte) 0xEF
          || b == (byte) 0xBB
          || b == (byte) 0xBF;
    }
  }
}
