package io.github.gatlingllm.clock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.gatlingllm.clock.ComparedClock.TimeServer;
import io.github.gatlingllm.record.ClockOffset;
import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A clock and a server with a known offset, over a network with known delays. */
class NtpClientTest {

  private static final long MS = 1_000_000;

  /** 200 ms. */
  private static final long AHEAD = 200 * MS;

  /** Our clock, which only the network delays advance. */
  private final AtomicLong now = new AtomicLong(1_763_800_000_123_456_789L);

  private ClockOffset ask(FakeNtpServer server) {
    return ask(server, Duration.ofSeconds(20));
  }

  private ClockOffset ask(FakeNtpServer server, Duration patience) {
    return new NtpClient(TimeServer.of(server.address()), now::get, patience, Duration.ZERO).ask();
  }

  /** A server with these network delays. */
  private FakeNtpServer.Answer far(long ahead, long... thereAndBack) {
    return (number, request) -> {
      long received = now.addAndGet(thereAndBack[2 * number % thereAndBack.length]) + ahead;
      byte[] answer = FakeNtpServer.packet(request, received, received + MS).array();
      now.addAndGet(MS + thereAndBack[(2 * number + 1) % thereAndBack.length]);
      return answer;
    };
  }

  @ParameterizedTest
  @CsvSource({"200", "-200", "0", "3600000", "-86400000"})
  void clockAheadOrBehind(long aheadMs) {
    try (FakeNtpServer server = new FakeNtpServer(far(aheadMs * MS, 2 * MS, 2 * MS))) {
      ClockOffset found = ask(server);

      assertThat(found.offsetNanos()).isCloseTo(aheadMs * MS, within(2L));
      assertThat(found.uncertaintyNanos()).isCloseTo(2 * MS + 954, within(2L));
      assertThat(found.serverUncertaintyNanos()).isCloseTo(7 * MS, within(MS / 10));
      assertThat(found.source()).isEqualTo("ntp " + server.address());
      assertThat(found.unknown()).isNull();
      assertThat(server.asked()).isEqualTo(8);
    }
  }

  /** After 2036 the seconds of NTP count from 0 again. */
  @Test
  void nextEra() {
    now.set(2_085_978_495_900_000_000L);
    try (FakeNtpServer server = new FakeNtpServer(far(AHEAD, 0, 0))) {
      assertThat(ask(server).offsetNanos()).isCloseTo(AHEAD, within(2L));
    }
  }

  @Test
  void exchangeWithTheSmallestUncertaintyCounts() {
    long[] jitter = {40 * MS, MS, 7 * MS, 90 * MS, MS, 2 * MS, 30 * MS, 30 * MS};
    try (FakeNtpServer server = new FakeNtpServer(far(AHEAD, jitter))) {
      ClockOffset found = ask(server);

      assertThat(found.offsetNanos()).isCloseTo(AHEAD - MS / 2, within(2L));
      assertThat(found.uncertaintyNanos()).isCloseTo(MS + MS / 2 + 954, within(2L));
    }
  }

  /**
   * One way takes 8 ms, the other none: wrong by half of that, which is what the uncertainty says.
   */
  @Test
  void asymmetricDelay() {
    try (FakeNtpServer server = new FakeNtpServer(far(AHEAD, 8 * MS, 0))) {
      ClockOffset found = ask(server);

      assertThat(found.offsetNanos()).isCloseTo(AHEAD + 4 * MS, within(2L));
      assertThat(AHEAD)
          .isBetween(
              found.offsetNanos() - found.uncertaintyNanos(),
              found.offsetNanos() + found.uncertaintyNanos());
    }
  }

  @Test
  void lostRepliesAndRepliesToEarlierRequestsAreSkipped() {
    FakeNtpServer.Answer far = far(AHEAD, MS, MS);
    try (FakeNtpServer server =
        new FakeNtpServer(
            (number, request) -> {
              byte[] answer = number == 1 ? null : far.to(number, request);
              if (number == 2) {
                answer[24]++;
              }
              return answer;
            })) {
      assertThat(ask(server, Duration.ofMillis(500)).offsetNanos()).isCloseTo(AHEAD, within(2L));
    }
  }

  @Test
  void oneReplyIsEnough() {
    FakeNtpServer.Answer far = far(AHEAD, MS, MS);
    try (FakeNtpServer server =
        new FakeNtpServer(
            (number, request) -> {
              byte[] answer = far.to(number, request);
              answer[1] = (byte) (number == 0 ? 2 : 0);
              return answer;
            })) {
      assertThat(ask(server).offsetNanos()).isCloseTo(AHEAD, within(2L));
      assertThat(server.asked()).isEqualTo(2);
    }
  }

  @Test
  void reasonsForAnUnknownOffset() throws IOException {
    assertThat(why(p -> p.put(1, (byte) 0).putInt(12, 0x44454e59)))
        .isEqualTo("it refuses to answer (DENY, kiss of death)");
    assertThat(why(p -> p.put(1, (byte) 16)))
        .isEqualTo("it is not synchronized itself (leap 0, stratum 16)");
    assertThat(why(p -> p.put(0, (byte) (3 << 6 | 4 << 3 | 4))))
        .isEqualTo("it is not synchronized itself (leap 3, stratum 2)");
    assertThat(why(p -> p.put(0, (byte) (4 << 3 | 3))))
        .isEqualTo("it answers as no server (mode 3)");
    try (FakeNtpServer silent = new FakeNtpServer((number, request) -> null)) {
      assertThat(ask(silent, Duration.ofMillis(1)).unknown())
          .isEqualTo("no answer within 1 ms; is it an NTP server?");
      assertThat(silent.asked()).isEqualTo(3);
    }
    int closed;
    try (DatagramSocket socket = new DatagramSocket(0, InetAddress.getLoopbackAddress())) {
      closed = socket.getLocalPort();
    }
    ClockOffset none =
        new NtpClient(
                TimeServer.of("127.0.0.1:" + closed),
                now::get,
                Duration.ofSeconds(20),
                Duration.ZERO)
            .ask();
    assertThat(none.unknown()).isEqualTo("nothing answers at that port (UDP)");
    assertThat(none.offsetNanos()).isNull();
    assertThat(none.uncertaintyNanos()).isNull();
  }

  private String why(UnaryOperator<ByteBuffer> change) {
    try (FakeNtpServer server = new FakeNtpServer(FakeNtpServer.always(now::get, change))) {
      return ask(server).unknown();
    }
  }
}
