package io.github.gatlingllm.bench;

import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A client's connection to the {@link BenchServer}: one request at a time, kept alive. */
final class BenchConnection {

  /** Prefix of the ids of warm-up requests. */
  static final String WARM_UP = "warm-up-";

  private static final Pattern LENGTH = Pattern.compile("(?i)\r\ncontent-length: *(\\d+)");
  private static final Pattern ID = Pattern.compile("(?i)\r\nx-request-id: *([^\r]*)");
  private static final Pattern TOKENS =
      Pattern.compile("\"max_(?:completion_)?tokens\" *: *(\\d+)");
  private static final Pattern STREAM = Pattern.compile("\"stream\" *: *true");

  private final SocketChannel channel;
  private final SelectionKey key;
  private final ByteBuffer in = ByteBuffer.allocate(64 * 1024);
  private BenchAnswer answer = BenchAnswer.flood(0);
  private ByteBuffer out = ByteBuffer.allocate(0);
  private String id = "";
  private long number;
  private long receivedNanos;
  private long[] due = {};
  private long[] written = {};
  private int token;

  BenchConnection(SocketChannel channel, SelectionKey key) {
    this.channel = channel;
    this.key = key;
  }

  /** Time of the next token. */
  long dueNanos() {
    return receivedNanos + due[token];
  }

  /** Reads available bytes; returns whether a stream was requested, which then gets that number. */
  boolean read(Pace pace, long ifAsked) throws IOException {
    int count = channel.read(in);
    if (count < 0) {
      throw new EOFException();
    }
    receivedNanos = System.nanoTime();
    String request = new String(in.array(), 0, in.position(), StandardCharsets.ISO_8859_1);
    int head = request.indexOf("\r\n\r\n");
    if (head < 0) {
      return false;
    }
    Matcher length = LENGTH.matcher(request).region(0, head);
    if (in.position() < head + 4 + (length.find() ? Integer.parseInt(length.group(1)) : 0)) {
      return false;
    }
    in.clear();
    Matcher tokens = TOKENS.matcher(request);
    if (!STREAM.matcher(request).find() || !tokens.find()) {
      send(BenchAnswer.MODELS.duplicate());
      return false;
    }
    Matcher named = ID.matcher(request).region(0, head);
    id = named.find() ? named.group(1) : "";
    number = ifAsked;
    begin(
        id.startsWith(WARM_UP) ? Pace.WARM_UP : pace,
        Integer.parseInt(tokens.group(1)),
        request.startsWith("POST /v1/chat/"));
    return true;
  }

  private void begin(Pace pace, int tokens, boolean isChat) {
    due = pace.offsets(number, pace.isFlood() ? 1 : tokens);
    written = new long[due.length];
    token = 0;
    answer = pace.isFlood() ? BenchAnswer.flood(tokens) : BenchAnswer.of(number, tokens, isChat);
  }

  /** Writes the token that is due; returns the stream after its last token. */
  @Nullable TimedStream writeToken() throws IOException {
    written[token] = System.nanoTime() - receivedNanos;
    token++;
    send(answer.piece(token == 1, token == due.length));
    return token == due.length
        ? new TimedStream(id, number, receivedNanos, Arrays.copyOf(written, token))
        : null;
  }

  private void send(ByteBuffer bytes) throws IOException {
    if (out.hasRemaining()) {
      ByteBuffer both = ByteBuffer.allocate(out.remaining() + bytes.remaining());
      out = both.put(out).put(bytes).flip();
    } else {
      out = bytes;
    }
    flush();
  }

  /** Writes the bytes that the client has not accepted yet. */
  void flush() throws IOException {
    channel.write(out);
    boolean isWaiting = (key.interestOps() & SelectionKey.OP_WRITE) != 0;
    if (isWaiting != out.hasRemaining()) {
      key.interestOps(
          out.hasRemaining() ? SelectionKey.OP_READ | SelectionKey.OP_WRITE : SelectionKey.OP_READ);
    }
  }

  void close() {
    try {
      channel.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
