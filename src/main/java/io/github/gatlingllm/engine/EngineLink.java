package io.github.gatlingllm.engine;

import io.github.gatlingllm.engine.EmbeddedEngine.GroundTruth;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongUnaryOperator;
import java.util.function.Supplier;

/**
 * A control connection to an {@link EngineProcess}: compares the clocks of both processes, reads
 * the times that the engine noted, and stops it. A request is one byte, an answer is binary
 * numbers.
 */
final class EngineLink implements AutoCloseable {

  private static final int CLOCK = 'c';
  private static final int ANSWERS = 'a';
  private static final int STOP = 's';

  private static final int EXCHANGES = 200;

  /** Longest wait for an answer of the engine: the run must end even if the engine hangs. */
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final Socket socket;
  private final DataInputStream in;
  private final DataOutputStream out;

  /** Connects to the process that listens on this port of 127.0.0.1. */
  EngineLink(int controlPort) throws IOException {
    this(controlPort, PATIENCE);
  }

  EngineLink(int controlPort, Duration patience) throws IOException {
    socket = new Socket(InetAddress.getLoopbackAddress(), controlPort);
    socket.setSoTimeout((int) patience.toMillis());
    socket.setTcpNoDelay(true);
    in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
    out = new DataOutputStream(socket.getOutputStream());
  }

  /**
   * An answer of the engine.
   *
   * @param requestId the id that the client sent
   * @param receivedNanos the time at which its request had been read
   * @param tokenNanos the time at which each token was written to the connection; at least one
   */
  @SuppressWarnings("ArrayRecordComponent") // not modified; a copy per access would be expensive
  record Written(String requestId, long receivedNanos, long[] tokenNanos) {}

  /**
   * The offset of the engine's {@code System.nanoTime()} to that of this process.
   *
   * @param nanos engine's clock − own clock; 0 if both processes read the same clock, as on Linux
   * @param uncertaintyNanos largest error of {@code nanos}
   */
  record ClockOffset(long nanos, long uncertaintyNanos) {

    /**
     * The offset that follows from readings of the engine's clock, each taken between two readings
     * of our own. Every reading limits the offset to a range; the result is the middle of the range
     * that all readings share. If 0 is in it, both processes read the same clock: independent
     * clocks would not agree to some microseconds.
     */
    static ClockOffset of(List<Reading> readings) {
      long least = readings.stream().mapToLong(r -> r.theirs - r.after).max().orElseThrow();
      long most = readings.stream().mapToLong(r -> r.theirs - r.before).min().orElseThrow();
      return least <= 0 && most >= 0
          ? new ClockOffset(0, 0)
          : new ClockOffset(least + (most - least) / 2, Math.abs(most - least) / 2);
    }

    /** A reading of the engine's clock, and readings of our own before and after it. */
    record Reading(long before, long theirs, long after) {}
  }

  /** Compares the clocks of both processes. */
  ClockOffset clockOffset() throws IOException {
    List<ClockOffset.Reading> readings = new ArrayList<>();
    for (int i = 0; i < EXCHANGES; i++) {
      long before = System.nanoTime();
      out.write(CLOCK);
      long theirs = in.readLong();
      readings.add(new ClockOffset.Reading(before, theirs, System.nanoTime()));
    }
    return ClockOffset.of(readings);
  }

  /**
   * Reads all answers that have at least one token.
   *
   * @param clock converts the engine's times to those of another clock
   */
  List<Written> answers(LongUnaryOperator clock) throws IOException {
    out.write(ANSWERS);
    List<Written> answers = new ArrayList<>();
    for (int left = in.readInt(); left > 0; left--) {
      String id = in.readUTF();
      long received = clock.applyAsLong(in.readLong());
      long[] tokens = new long[in.readInt()];
      for (int i = 0; i < tokens.length; i++) {
        tokens[i] = clock.applyAsLong(in.readLong());
      }
      answers.add(new Written(id, received, tokens));
    }
    return answers;
  }

  /** Stops the process and waits for its end. */
  void stop() throws IOException {
    out.write(STOP);
    if (in.read() >= 0) {
      throw new IOException("The engine of the self-test sent more than was requested");
    }
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }

  /** Serves control connections in the engine's process, one at a time. */
  static void serve(ServerSocket control, Supplier<List<GroundTruth>> truths) {
    while (true) {
      try (Socket socket = control.accept();
          DataOutputStream out =
              new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()))) {
        socket.setTcpNoDelay(true);
        int request = socket.getInputStream().read();
        for (; request >= 0; request = socket.getInputStream().read()) {
          if (request == CLOCK) {
            out.writeLong(System.nanoTime());
          } else if (request == ANSWERS) {
            write(truths.get(), out);
          } else {
            Runtime.getRuntime().halt(0);
          }
          out.flush();
        }
      } catch (IOException e) {
        if (control.isClosed()) {
          return;
        }
        // The client is gone; wait for the next one.
      }
    }
  }

  private static void write(List<GroundTruth> truths, DataOutputStream out) throws IOException {
    List<GroundTruth> begun =
        truths.stream().filter(truth -> truth.firstTokenNanos() != null).toList();
    out.writeInt(begun.size());
    for (GroundTruth truth : begun) {
      out.writeUTF(truth.requestId());
      out.writeLong(truth.receivedNanos());
      out.writeInt(truth.tokenNanos().length);
      for (long nanos : truth.tokenNanos()) {
        out.writeLong(nanos);
      }
    }
  }
}
