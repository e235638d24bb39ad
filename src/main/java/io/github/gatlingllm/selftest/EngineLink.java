package io.github.gatlingllm.selftest;

import io.github.gatlingllm.engine.EmbeddedEngine.GroundTruth;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongUnaryOperator;
import java.util.function.Supplier;

/**
 * A connection to an {@link EngineProcess}: compares clocks, fetches what the engine noted, stops
 * it. Each side says single bytes and answers with numbers.
 */
final class EngineLink implements AutoCloseable {

  private static final int CLOCK = 'c';
  private static final int ANSWERS = 'a';
  private static final int STOP = 's';

  private static final int EXCHANGES = 200;

  private final Socket socket;
  private final DataInputStream in;
  private final DataOutputStream out;

  /** A connection to the process that listens at that port of 127.0.0.1. */
  EngineLink(int controlPort) throws IOException {
    socket = new Socket(InetAddress.getLoopbackAddress(), controlPort);
    socket.setTcpNoDelay(true);
    in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
    out = new DataOutputStream(socket.getOutputStream());
  }

  /**
   * One answer of the engine.
   *
   * @param receivedNanos when its request had been read
   * @param tokenNanos when each token was handed to the connection; at least one
   */
  @SuppressWarnings("ArrayRecordComponent") // as many numbers as tokens; a copy per reader is waste
  record Written(String requestId, long receivedNanos, long[] tokenNanos) {}

  /**
   * How far the engine's {@code System.nanoTime()} is ahead of ours.
   *
   * @param nanos 0 where both read one clock, as on Linux
   * @param uncertaintyNanos it is at most that far from the truth
   */
  record ClockOffset(long nanos, long uncertaintyNanos) {

    /**
     * What readings of the engine's clock say, each taken between two of ours: the offset is in the
     * range that all of them allow. Where 0 is in it, both read one clock: that others agree to
     * some microseconds is no accident.
     */
    static ClockOffset of(List<Reading> readings) {
      long least = readings.stream().mapToLong(r -> r.theirs - r.after).max().orElseThrow();
      long most = readings.stream().mapToLong(r -> r.theirs - r.before).min().orElseThrow();
      return least <= 0 && most >= 0
          ? new ClockOffset(0, 0)
          : new ClockOffset(least + (most - least) / 2, Math.abs(most - least) / 2);
    }

    /** A reading of the engine's clock, and ours before and after it. */
    record Reading(long before, long theirs, long after) {}
  }

  /** Compares the two clocks. */
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

  /** All answers so far that have begun, their instants turned into those of another clock. */
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

  /** Stops the process; returns when it is gone. */
  void stop() throws IOException {
    out.write(STOP);
    if (in.read() >= 0) {
      throw new IOException("The engine of the self-test said more than was asked");
    }
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }

  /** The engine's side, one connection at a time. */
  static void serve(ServerSocket control, Supplier<List<GroundTruth>> truths) {
    while (true) {
      try (Socket socket = control.accept();
          DataOutputStream out =
              new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()))) {
        socket.setTcpNoDelay(true);
        int asked = socket.getInputStream().read();
        for (; asked >= 0; asked = socket.getInputStream().read()) {
          if (asked == CLOCK) {
            out.writeLong(System.nanoTime());
          } else if (asked == ANSWERS) {
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
        // Who asked went away; the next one may come.
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
