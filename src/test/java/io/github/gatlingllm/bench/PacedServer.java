package io.github.gatlingllm.bench;

import java.io.BufferedWriter;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.PriorityQueue;
import java.util.Random;

/**
 * A chat completion server that costs as little as Java allows, and notes when it really wrote each
 * token: one thread, one write per token, an HTTP chunk each, no allocation per token. A process of
 * its own: {@code PacedServer <tokens> <TTFT ms> <ITL ms> <spread %> <file>} prints its port, and
 * ends with its standard input, when it writes a line per request: its {@code X-Request-Id}, when
 * its last byte was read, and when each token was written, on {@link System#nanoTime()}, which on
 * Linux is one clock for all processes.
 *
 * <p>TTFT and gaps are drawn evenly from their value ± the spread. With a TTFT and ITL of 0 all is
 * written at once.
 */
final class PacedServer {

  private static final String HEAD =
      "\"id\":\"chatcmpl-8f6c2c9d2b9a4a53a1f3c7e1d5b0e6aa\",\"object\":\"chat.completion.chunk\","
          + "\"created\":1763481600,\"model\":\"meta-llama/Llama-3.1-8B-Instruct\"";
  private static final int BACKLOG = 16_384;

  private final int tokens;
  private final long ttftNanos;
  private final long itlNanos;
  private final double spread;
  private final Random random = new Random(1);
  private final ByteBuffer headers;
  private final ByteBuffer[] events = new ByteBuffer[10];
  private final ByteBuffer end;
  private final PriorityQueue<Stream> due =
      new PriorityQueue<>((a, b) -> Long.compare(a.dueNanos, b.dueNanos));
  private final List<Stream> ended = new ArrayList<>();
  private volatile boolean running = true;

  private PacedServer(int tokens, double ttftMillis, double itlMillis, double spread) {
    this.tokens = tokens;
    this.ttftNanos = Math.round(ttftMillis * 1e6);
    this.itlNanos = Math.round(itlMillis * 1e6);
    this.spread = spread;
    this.headers =
        direct(
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n"
                + "transfer-encoding: chunked\r\n\r\n");
    for (int i = 0; i < events.length; i++) {
      events[i] = direct(chunk(event("{\"content\":\" tok" + i + "\"}", "null")));
    }
    this.end =
        direct(
            chunk(event("{\"content\":\"\"}", "\"stop\""))
                + chunk(
                    String.format(
                        Locale.ROOT,
                        "data: {%s,\"choices\":[],\"usage\":{\"prompt_tokens\":9,"
                            + "\"total_tokens\":%d,\"completion_tokens\":%d}}\n\n",
                        HEAD,
                        tokens + 9,
                        tokens))
                + chunk("data: [DONE]\n\n")
                + "0\r\n\r\n");
  }

  public static void main(String[] args) throws IOException {
    PacedServer server =
        new PacedServer(
            Integer.parseInt(args[0]),
            Double.parseDouble(args[1]),
            Double.parseDouble(args[2]),
            Double.parseDouble(args[3]) / 100);
    Path truth = Path.of(args[4]);
    try (Selector selector = Selector.open();
        ServerSocketChannel listener = ServerSocketChannel.open()) {
      listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), BACKLOG);
      listener.configureBlocking(false);
      listener.register(selector, SelectionKey.OP_ACCEPT);
      System.out.println(((InetSocketAddress) listener.getLocalAddress()).getPort());
      Thread ends =
          new Thread(
              () -> {
                try {
                  while (System.in.read() >= 0) {
                    // Whoever started it says nothing more until it ends.
                  }
                } catch (IOException e) {
                  System.err.println(e);
                }
                server.running = false;
                selector.wakeup();
              });
      ends.setDaemon(true);
      ends.start();
      server.serve(selector, listener);
    }
    server.write(truth);
  }

  private static ByteBuffer direct(String ascii) {
    byte[] bytes = ascii.getBytes(StandardCharsets.US_ASCII);
    return ByteBuffer.allocateDirect(bytes.length).put(bytes).flip();
  }

  private static String event(String delta, String finishReason) {
    return String.format(
        Locale.ROOT,
        "data: {%s,\"choices\":[{\"index\":0,\"delta\":%s,\"logprobs\":null,"
            + "\"finish_reason\":%s}]}\n\n",
        HEAD,
        delta,
        finishReason);
  }

  private static String chunk(String data) {
    return Integer.toHexString(data.length()) + "\r\n" + data + "\r\n";
  }

  private void serve(Selector selector, ServerSocketChannel listener) throws IOException {
    while (running) {
      Stream next = due.peek();
      long wait = next == null ? 1_000 : (next.dueNanos - System.nanoTime()) / 1_000_000;
      if (wait > 0) {
        selector.select(wait);
      } else {
        selector.selectNow();
      }
      for (SelectionKey key : selector.selectedKeys()) {
        if (key.isAcceptable()) {
          accept(selector, listener);
        } else {
          ((Connection) key.attachment()).read(key);
        }
      }
      selector.selectedKeys().clear();
      long now = System.nanoTime();
      for (Stream each = due.peek(); each != null && each.dueNanos <= now; each = due.peek()) {
        var unused = due.poll();
        each.token();
      }
    }
  }

  private void accept(Selector selector, ServerSocketChannel listener) throws IOException {
    for (SocketChannel socket = listener.accept(); socket != null; socket = listener.accept()) {
      socket.configureBlocking(false);
      socket.setOption(StandardSocketOptions.TCP_NODELAY, true);
      socket.register(selector, SelectionKey.OP_READ, new Connection(socket));
    }
  }

  private long drawn(long nanos) {
    return spread == 0 ? nanos : Math.round(nanos * (1 + spread * (2 * random.nextDouble() - 1)));
  }

  private void write(Path truth) throws IOException {
    try (BufferedWriter out = Files.newBufferedWriter(truth)) {
      for (Stream stream : ended) {
        StringBuilder line = new StringBuilder(stream.id).append(' ').append(stream.received);
        for (long written : stream.written) {
          line.append(' ').append(written);
        }
        out.append(line).append('\n');
      }
    }
  }

  private final class Connection {
    private final SocketChannel socket;
    private final ByteBuffer in = ByteBuffer.allocate(1 << 16);

    Connection(SocketChannel socket) {
      this.socket = socket;
    }

    void read(SelectionKey key) throws IOException {
      int read;
      try {
        read = socket.read(in);
      } catch (IOException e) {
        read = -1;
      }
      if (read < 0) {
        key.cancel();
        socket.close();
        return;
      }
      String request = new String(in.array(), 0, in.position(), StandardCharsets.ISO_8859_1);
      int bodyAt = request.indexOf("\r\n\r\n") + 4;
      if (bodyAt > 3) {
        String head = request.substring(0, bodyAt).toLowerCase(Locale.ROOT);
        if (request.length() - bodyAt >= Integer.parseInt(header(head, "content-length"))) {
          in.clear();
          new Stream(socket, header(head, "x-request-id")).begin();
        }
      }
    }

    private static String header(String head, String name) {
      int from = head.indexOf("\r\n" + name + ":") + name.length() + 3;
      return head.substring(from, head.indexOf('\r', from)).trim();
    }
  }

  private final class Stream {
    private final SocketChannel socket;
    private final String id;
    private final long received = System.nanoTime();
    private final long[] written = new long[tokens];
    private int count;
    private long dueNanos;

    Stream(SocketChannel socket, String id) {
      this.socket = socket;
      this.id = id;
    }

    void begin() {
      send(headers);
      dueNanos = received + drawn(ttftNanos);
      if (ttftNanos > 0) {
        due.add(this);
      } else {
        token();
      }
    }

    void token() {
      do {
        written[count] = System.nanoTime();
        if (!send(events[count % events.length])) {
          return;
        }
        count++;
      } while (count < tokens && itlNanos == 0);
      if (count < tokens) {
        dueNanos += drawn(itlNanos);
        due.add(this);
      } else {
        ended.add(this);
        send(end);
      }
    }

    /** Whole, or not at all: a client that does not read is cut off. */
    private boolean send(ByteBuffer bytes) {
      bytes.rewind();
      try {
        if (socket.write(bytes) == bytes.limit()) {
          return true;
        }
        System.err.println("a client does not read: cut off");
        socket.close();
      } catch (IOException e) {
        // The client has gone away; that is its own affair.
      }
      return false;
    }
  }
}
