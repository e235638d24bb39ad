package io.github.gatlingllm.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

/**
 * Streams tokens at known instants and keeps when it wrote each: what clients say is held against
 * that. One thread, one write per token, nothing decoded but the request's head, so that it is
 * never what limits a client. It does not sleep while tokens are due within two milliseconds: it
 * needs its own processor.
 *
 * <p>A separate process. It prints its port, reads commands, answers each with a line, and ends
 * with its standard input:
 *
 * <pre>
 * begin &lt;TTFT µs&gt; &lt;ITL µs&gt; &lt;spread&gt;  from here on at this pace; what was kept is dropped
 * end &lt;file&gt;                               writes the streams since then
 * </pre>
 */
final class BenchServer {

  private static final long SLEEPS_ABOVE_NANOS = 2_000_000;
  private static final int WRITES_BETWEEN_READS = 64;

  private final Selector selector = Selector.open();
  private final ServerSocketChannel listener = ServerSocketChannel.open();
  private final PriorityQueue<BenchConnection> due =
      new PriorityQueue<>(Comparator.comparingLong(BenchConnection::dueNanos));
  private final List<TimedStream> ended = new ArrayList<>();
  private final BlockingQueue<String> commands = new ArrayBlockingQueue<>(1);
  private Pace pace = new Pace(0, 0, 0);
  private long requests;

  private BenchServer() throws IOException {
    listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 4_096);
    listener.configureBlocking(false);
    var unused = listener.register(selector, SelectionKey.OP_ACCEPT);
  }

  public static void main(String[] args) throws IOException {
    BenchServer server = new BenchServer();
    System.out.println(((InetSocketAddress) server.listener.getLocalAddress()).getPort());
    Thread reader = new Thread(server::readCommands, "commands");
    reader.setDaemon(true);
    reader.start();
    server.serve();
  }

  private void readCommands() {
    try (BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        commands.put(line);
        selector.wakeup();
      }
    } catch (IOException | InterruptedException e) {
      System.err.println(e);
    }
    System.exit(0);
  }

  private void serve() throws IOException {
    while (true) {
      String command = commands.poll();
      if (command != null) {
        obey(command.split(" ", -1));
      }
      long now = System.nanoTime();
      int writes = 0;
      for (BenchConnection next = due.peek();
          next != null && next.dueNanos() <= now && writes < WRITES_BETWEEN_READS;
          next = due.peek()) {
        due.remove();
        write(next);
        writes++;
        now = System.nanoTime();
      }
      BenchConnection next = due.peek();
      if (next == null) {
        selector.select(this::ready);
      } else if (next.dueNanos() - now > SLEEPS_ABOVE_NANOS) {
        selector.select(this::ready, 1);
      } else {
        selector.selectNow(this::ready);
      }
    }
  }

  private void obey(String[] command) throws IOException {
    switch (command[0]) {
      case "begin" -> {
        pace =
            new Pace(
                1_000 * Long.parseLong(command[1]),
                1_000 * Long.parseLong(command[2]),
                Double.parseDouble(command[3]));
        ended.clear();
        System.gc(); // rather than while tokens are due
        System.out.println("ready");
      }
      case "end" -> {
        TimedStream.write(Path.of(command[1]), ended);
        System.out.println(ended.size());
      }
      default -> throw new IllegalArgumentException("no such command: " + command[0]);
    }
  }

  private void ready(SelectionKey key) {
    try {
      if (key.isAcceptable()) {
        accept();
      } else if (key.attachment() instanceof BenchConnection connection) {
        if (key.isWritable()) {
          connection.flush();
        } else if (connection.read(pace, requests)) {
          requests++;
          due.add(connection);
        }
      }
    } catch (IOException e) {
      key.cancel();
    }
  }

  private void accept() throws IOException {
    for (SocketChannel channel = listener.accept(); channel != null; channel = listener.accept()) {
      channel.configureBlocking(false);
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      SelectionKey key = channel.register(selector, SelectionKey.OP_READ);
      key.attach(new BenchConnection(channel, key));
    }
  }

  private void write(BenchConnection connection) {
    try {
      TimedStream stream = connection.writeToken();
      if (stream == null) {
        due.add(connection);
      } else if (!stream.id().startsWith(BenchConnection.WARM_UP)) {
        ended.add(stream);
      }
    } catch (IOException e) {
      connection.close();
    }
  }
}
