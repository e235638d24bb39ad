package io.github.gatlingllm.testing;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * One request and the answer that a {@link ScriptedServer.Script} writes to it.
 *
 * <pre>{@code
 * exchange -> exchange.startStream()
 *     .at(50_000_000).event(ChatChunks.content("Hello")) // 50 ms after the request
 *     .await(goOn)                                       // until the test says so
 *     .event(ChatChunks.finish("stop")).done().lastChunk()
 * }</pre>
 *
 * <p>Every send is one write to the socket and is flushed. Only the script's thread may send.
 */
public final class Exchange {

  /** How close to a deadline parking stops and spinning starts: parking is 50 to 100 µs coarse. */
  private static final long SPIN_NANOS = 150_000;

  private static final long SIGNAL_LIMIT_SECONDS = 60;

  private final Request request;
  private final Socket socket;
  private final Socket rawSocket;
  private final InputStream in;
  private final OutputStream out;
  private final List<Send> sends = new CopyOnWriteArrayList<>();

  Exchange(Request request, Socket socket, Socket rawSocket) throws IOException {
    this.request = request;
    this.socket = socket;
    this.rawSocket = rawSocket;
    this.in = socket.getInputStream();
    this.out = socket.getOutputStream();
  }

  /**
   * One write to the socket. The client cannot have seen its bytes before {@code beforeNanos}.
   *
   * @param beforeNanos {@link System#nanoTime()} just before the write
   * @param afterNanos {@link System#nanoTime()} just after it
   */
  public record Send(long beforeNanos, long afterNanos, int bytes) {}

  public Request request() {
    return request;
  }

  public List<Send> sends() {
    return List.copyOf(sends);
  }

  public Exchange send(byte[] bytes) throws IOException {
    long before = System.nanoTime();
    out.write(bytes);
    out.flush();
    sends.add(new Send(before, System.nanoTime(), bytes.length));
    return this;
  }

  public Exchange send(String text) throws IOException {
    return send(text.getBytes(StandardCharsets.UTF_8));
  }

  /** Sends a status line and headers written as {@code "Name: value"}, and the empty line. */
  public Exchange sendHeaders(int status, String... headers) throws IOException {
    return sendLines("HTTP/1.1 " + status + " Scripted", headers);
  }

  private Exchange sendLines(String first, String[] more) throws IOException {
    StringBuilder lines = new StringBuilder(first + "\r\n");
    for (String line : more) {
      lines.append(line).append("\r\n");
    }
    return send(lines.append("\r\n").toString());
  }

  public Exchange startStream() throws IOException {
    return sendHeaders(200, "Content-Type: text/event-stream", "Transfer-Encoding: chunked");
  }

  public Exchange respond(int status, String contentType, String body, String... headers)
      throws IOException {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    String[] all = new String[headers.length + 2];
    all[0] = "Content-Type: " + contentType;
    all[1] = "Content-Length: " + bytes.length;
    System.arraycopy(headers, 0, all, 2, headers.length);
    return sendHeaders(status, all).send(bytes);
  }

  public Exchange chunk(byte[] bytes) throws IOException {
    ByteArrayOutputStream framed = new ByteArrayOutputStream();
    framed.writeBytes((Integer.toHexString(bytes.length) + "\r\n").getBytes(US_ASCII));
    framed.writeBytes(bytes);
    framed.writeBytes("\r\n".getBytes(US_ASCII));
    return send(framed.toByteArray());
  }

  public Exchange chunk(String text) throws IOException {
    return chunk(text.getBytes(StandardCharsets.UTF_8));
  }

  public Exchange event(String json) throws IOException {
    return chunk("data: " + json + "\n\n");
  }

  /** Sends {@code data: [DONE]}; the HTTP body stays open until {@link #lastChunk}. */
  public Exchange done() throws IOException {
    return event("[DONE]");
  }

  /** Sends a complete stream of one event with that text, finish reason and usage. */
  public Exchange answer(String text) throws IOException {
    return startStream()
        .event(ChatChunks.content(text))
        .event(ChatChunks.finish("stop"))
        .event(ChatChunks.usage(1, 1))
        .done()
        .lastChunk();
  }

  /** Ends a chunked body, with trailers written as {@code "Name: value"}. */
  public Exchange lastChunk(String... trailers) throws IOException {
    return sendLines("0", trailers);
  }

  /**
   * Waits until this long after the request was received; returns immediately when that is past.
   */
  public Exchange at(long nanosFromRequest) throws InterruptedException {
    long deadline = request.receivedNanos() + nanosFromRequest;
    for (long left = deadline - System.nanoTime(); left > 0; left = deadline - System.nanoTime()) {
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      if (left > SPIN_NANOS) {
        LockSupport.parkNanos(left - SPIN_NANOS);
      } else {
        Thread.onSpinWait();
      }
    }
    return this;
  }

  /**
   * Waits for the test's signal.
   *
   * @throws IllegalStateException if it does not come within 60 s
   */
  public Exchange await(CountDownLatch signal) throws InterruptedException {
    if (!signal.await(SIGNAL_LIMIT_SECONDS, TimeUnit.SECONDS)) {
      throw new IllegalStateException("no signal came within " + SIGNAL_LIMIT_SECONDS + " s");
    }
    return this;
  }

  /**
   * Reads on until the client closes or resets the connection.
   *
   * @return {@link System#nanoTime()} when that was seen
   */
  public long awaitClientClose() {
    try {
      while (in.read() >= 0) {
        // whatever the client still sends is of no interest
      }
    } catch (IOException reset) {
      return System.nanoTime();
    }
    return System.nanoTime();
  }

  /** Closes the connection in order: with TLS, close_notify first. */
  public void close() throws IOException {
    socket.close();
  }

  /** Closes the TCP connection below TLS: end of stream without close_notify. */
  public void closeWithoutNotify() throws IOException {
    rawSocket.close();
  }

  /** Resets the TCP connection: the client sees RST. */
  public void reset() throws IOException {
    rawSocket.setSoLinger(true, 0);
    rawSocket.close();
  }

  boolean isOpen() {
    return !socket.isClosed() && !rawSocket.isClosed();
  }
}
