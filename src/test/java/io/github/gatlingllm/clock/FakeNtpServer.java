package io.github.gatlingllm.clock;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;

/**
 * An NTP server on 127.0.0.1 with the clock of a test.
 *
 * <pre>{@code
 * try (FakeNtpServer server = new FakeNtpServer(() -> now() + 200_000_000)) {
 *   TimeServer.of(server.address());
 * }
 * }</pre>
 */
public final class FakeNtpServer implements AutoCloseable {

  private static final long NTP_TO_UNIX_SECONDS = 2_208_988_800L;

  private final DatagramSocket socket;
  private final AtomicInteger asked = new AtomicInteger();

  /** Creates the reply to a request; null for none. */
  @FunctionalInterface
  interface Answer {
    byte[] to(int number, ByteBuffer request);
  }

  /** Stratum 2, synchronized, root delay 10 ms, root dispersion 2 ms, precision 2^-20 s. */
  public FakeNtpServer(LongSupplier unixNanos) {
    this(
        (number, request) -> packet(request, unixNanos.getAsLong(), unixNanos.getAsLong()).array());
  }

  FakeNtpServer(Answer answers) {
    try {
      socket = new DatagramSocket(0, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Thread thread = new Thread(() -> serve(answers), "fake-ntp");
    thread.setDaemon(true);
    thread.start();
  }

  private void serve(Answer answers) {
    DatagramPacket packet = new DatagramPacket(new byte[1_024], 1_024);
    try {
      while (true) {
        packet.setLength(1_024);
        socket.receive(packet);
        byte[] answer =
            answers.to(
                asked.getAndIncrement(), ByteBuffer.wrap(packet.getData(), 0, packet.getLength()));
        if (answer != null) {
          socket.send(new DatagramPacket(answer, answer.length, packet.getSocketAddress()));
        }
      }
    } catch (IOException closed) {
      // The test is over.
    }
  }

  /** The reply of a synchronized server. */
  static ByteBuffer packet(ByteBuffer request, long receivedUnixNanos, long sentUnixNanos) {
    return ByteBuffer.allocate(48)
        .put(0, (byte) (4 << 3 | 4))
        .put(1, (byte) 2)
        .put(3, (byte) -20)
        .putInt(4, 65_536 / 100)
        .putInt(8, 65_536 * 2 / 1_000)
        .putLong(24, request.getLong(40))
        .putLong(32, ntp(receivedUnixNanos))
        .putLong(40, ntp(sentUnixNanos));
  }

  /** Replies to every request with a packet that is modified. */
  static Answer always(LongSupplier unixNanos, UnaryOperator<ByteBuffer> change) {
    return (number, request) -> {
      long now = unixNanos.getAsLong();
      return change.apply(packet(request, now, now)).array();
    };
  }

  private static long ntp(long unixNanos) {
    long seconds = Math.floorDiv(unixNanos, 1_000_000_000L);
    long nanos = Math.floorMod(unixNanos, 1_000_000_000L);
    return (seconds + NTP_TO_UNIX_SECONDS) << 32 | (nanos << 32) / 1_000_000_000L;
  }

  /** Host and port. */
  public String address() {
    return "127.0.0.1:" + socket.getLocalPort();
  }

  /** The number of requests. */
  public int asked() {
    return asked.get();
  }

  @Override
  public void close() {
    socket.close();
  }
}
