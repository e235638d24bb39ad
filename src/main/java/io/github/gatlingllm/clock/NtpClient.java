package io.github.gatlingllm.clock;

import io.github.gatlingllm.clock.ComparedClock.TimeServer;
import io.github.gatlingllm.record.ClockOffset;
import io.github.gatlingllm.record.ClockOffset.Reading;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.PortUnreachableException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/**
 * Measures the offset of this machine's clock from that of an NTP server; sets neither. Of several
 * exchanges of four timestamps the one with the smallest uncertainty counts. T1 is the time of the
 * request and T4 that of the reply, by our clock; T2 and T3 are the times at which the server
 * received the request and sent the reply, by its clock:
 *
 * <pre>
 * offset = ((T2 − T1) + (T3 − T4)) ÷ 2      delay = (T4 − T1) − (T3 − T2)
 * </pre>
 *
 * <p>The error of the offset is at most half the delay, however asymmetric the path is. Blocks: not
 * for threads that carry load.
 *
 * @see <a href="https://www.rfc-editor.org/rfc/rfc5905">RFC 5905</a>, sections 7.3, 7.4, 8 and 14
 */
final class NtpClient {

  private static final int EXCHANGES = 8;
  private static final int MAX_LOST = 3;
  private static final int BYTES = 48;

  /** Version 4, client. */
  private static final byte REQUEST = 4 << 3 | 3;

  private static final int SERVER = 4;
  private static final int UNSYNCHRONIZED = 3;
  private static final int HIGHEST_STRATUM = 15;

  /** From 1900, the epoch of NTP, to 1970. */
  private static final long NTP_TO_UNIX_SECONDS = 2_208_988_800L;

  private static final long SECOND = 1_000_000_000L;

  private static final SecureRandom RANDOM = new SecureRandom();

  private final TimeServer server;
  private final LongSupplier unixNanos;
  private final Duration timeout;
  private final Duration pause;

  /**
   * @param unixNanos the clock of this machine
   * @param timeout longest wait for a reply
   * @param pause between exchanges, so that not all meet the same burst of traffic
   */
  NtpClient(TimeServer server, LongSupplier unixNanos, Duration timeout, Duration pause) {
    this.server = server;
    this.unixNanos = unixNanos;
    this.timeout = timeout;
    this.pause = pause;
  }

  /**
   * One exchange.
   *
   * @param rootNanos largest error of the server's clock against UTC: half its root delay, plus its
   *     root dispersion
   */
  private record Exchange(Reading reading, long rootNanos) {}

  /** A reply without a usable time. */
  private static final class UnusableReply extends IOException {
    UnusableReply(String reason) {
      super(reason);
    }
  }

  /**
   * Measures the offset: one reading, or the reason why there is none. Ends after 3 lost replies.
   */
  ClockOffset ask() {
    String source = "ntp " + server;
    try (DatagramSocket socket = new DatagramSocket()) {
      InetAddress address = InetAddress.getByName(server.host());
      String resolved = address.getHostAddress();
      source += server.host().equals(resolved) ? "" : " (" + resolved + ")";
      socket.setSoTimeout(Math.toIntExact(timeout.toMillis()));
      socket.connect(new InetSocketAddress(address, server.port()));
      Exchange best = best(socket);
      return new ClockOffset(source, List.of(best.reading), best.rootNanos, null, Map.of());
    } catch (UnknownHostException e) {
      return ClockOffset.unknown(source, "there is no host " + server.host());
    } catch (PortUnreachableException e) {
      return ClockOffset.unknown(source, "nothing answers at that port (UDP)");
    } catch (SocketTimeoutException e) {
      return ClockOffset.unknown(
          source, "no answer within " + timeout.toMillis() + " ms; is it an NTP server?");
    } catch (IOException e) {
      return ClockOffset.unknown(source, String.valueOf(e.getMessage()));
    }
  }

  /**
   * Servers may refuse all but the first of requests in quick succession: the first then counts.
   */
  private Exchange best(DatagramSocket socket) throws IOException {
    Exchange best = null;
    int lost = 0;
    for (int i = 0; i < EXCHANGES; i++) {
      try {
        Exchange next = exchange(socket);
        if (best == null || next.reading.uncertaintyNanos() < best.reading.uncertaintyNanos()) {
          best = next;
        }
      } catch (InterruptedIOException | UnusableReply e) {
        lost++;
        boolean isLast = e instanceof UnusableReply || lost == MAX_LOST;
        if (isLast && best == null) {
          throw e;
        } else if (isLast) {
          return best;
        }
      }
      LockSupport.parkNanos(pause.toNanos());
    }
    if (best == null) {
      throw new SocketTimeoutException();
    }
    return best;
  }

  private Exchange exchange(DatagramSocket socket) throws IOException {
    long nonce = RANDOM.nextLong();
    ByteBuffer request = ByteBuffer.allocate(BYTES).put(0, REQUEST).putLong(40, nonce);
    DatagramPacket answer = new DatagramPacket(new byte[BYTES], BYTES);
    long sent = unixNanos.getAsLong();
    socket.send(new DatagramPacket(request.array(), BYTES));
    while (true) {
      socket.receive(answer);
      long received = unixNanos.getAsLong();
      ByteBuffer packet = ByteBuffer.wrap(answer.getData());
      // Another nonce is that of an earlier request, whose reply was late.
      if (answer.getLength() == BYTES && packet.getLong(24) == nonce) {
        return exchange(packet, sent, received);
      }
      if (received - sent > timeout.toNanos()) {
        throw new SocketTimeoutException();
      }
    }
  }

  private static Exchange exchange(ByteBuffer packet, long sent, long received)
      throws UnusableReply {
    int leap = (packet.get(0) >> 6) & 3;
    int mode = packet.get(0) & 7;
    int stratum = packet.get(1) & 0xff;
    if (stratum == 0) {
      byte[] code = new byte[4];
      packet.get(12, code);
      String reason = new String(code, StandardCharsets.US_ASCII).replaceAll("[^A-Za-z0-9]", "?");
      throw new UnusableReply("it refuses to answer (" + reason + ", kiss of death)");
    }
    if (leap == UNSYNCHRONIZED || stratum > HIGHEST_STRATUM || packet.getLong(40) == 0) {
      throw new UnusableReply(
          "it is not synchronized itself (leap %s, stratum %s)".formatted(leap, stratum));
    }
    if (mode != SERVER) {
      throw new UnusableReply("it answers as no server (mode " + mode + ")");
    }
    long serverReceived = unixNanos(packet.getLong(32), sent);
    long serverSent = unixNanos(packet.getLong(40), sent);
    long offset = ((serverReceived - sent) + (serverSent - received)) / 2;
    long delay = Math.max(0, (received - sent) - (serverSent - serverReceived));
    long precision = Math.round(Math.scalb((double) SECOND, packet.get(3)));
    return new Exchange(
        new Reading(received, offset, delay / 2 + Math.min(precision, SECOND)),
        shortNanos(packet.getInt(4)) / 2 + shortNanos(packet.getInt(8)));
  }

  /** The epoch time of an NTP timestamp, in the NTP era that is nearest to our time. */
  private static long unixNanos(long ntp, long nearUnixNanos) {
    long nearSeconds = Math.floorDiv(nearUnixNanos, SECOND) + NTP_TO_UNIX_SECONDS;
    int away = (int) (ntp >>> 32) - (int) nearSeconds;
    return (nearSeconds + away - NTP_TO_UNIX_SECONDS) * SECOND
        + (((ntp & 0xffff_ffffL) * SECOND) >>> 32);
  }

  /** Nanoseconds of the NTP short format: seconds with a fraction of 16 bits. */
  private static long shortNanos(int ntp) {
    return ((ntp & 0xffff_ffffL) * SECOND) >>> 16;
  }
}
