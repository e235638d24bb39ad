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
 * A control connection to an {@link EngineProcess}: reads the times that the engine noted, and
 * stops it. A request is one byte, an answer is binary numbers. Both processes read the same clock,
 * as {@code System.nanoTime()} counts from the start of the system.
 */
final class EngineLink implements AutoCloseable {

  private static final int ANSWERS = 'a';
  private static final int STOP = 's';

  /** The run must end even if the engine hangs. */
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final Socket socket;
  private final DataInputStream in;
  private final DataOutputStream out;

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

  /** When the engine had read a request, and when it wrote each token of the answer. */
  @SuppressWarnings("ArrayRecordComponent") // not modified; a copy per access would be expensive
  record Written(String requestId, long receivedNanos, long[] tokenNanos) {}

  /** All answers that have at least one token, with times converted by {@code clock}. */
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
          if (request == ANSWERS) {
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
