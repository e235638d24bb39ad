package io.github.gatlingllm.testing;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * A server in a separate process, which tests stop, kill and restart. It answers every request with
 * one token, and ends the answer some time later.
 */
public final class ServerProcess implements AutoCloseable {

  /** Below the ports that Linux assigns to connections. */
  private static final int LOWEST_PORT = 20_000;

  private static final int HIGHEST_PORT = 30_000;

  private final Process process;
  private final int port;

  private ServerProcess(Process process, int port) {
    this.process = process;
    this.port = port;
  }

  /**
   * Starts the server, and waits until it listens.
   *
   * @param port 0: any port that is not used for outgoing connections, so that it is still free for
   *     a restart
   * @param millis from a request to the end of its answer
   */
  public static ServerProcess start(int port, int millis) throws IOException {
    Process process =
        new ProcessBuilder(
                JavaCommand.of(
                    List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"),
                    ServerProcess.class,
                    port,
                    millis))
            .redirectError(Redirect.INHERIT)
            .start();
    BufferedReader said =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    return new ServerProcess(process, Integer.parseInt(said.readLine()));
  }

  public int port() {
    return port;
  }

  /** Sends it a signal, e.g. {@code STOP}. */
  public void signal(String name) throws IOException, InterruptedException {
    Process kill = new ProcessBuilder("kill", "-" + name, String.valueOf(process.pid())).start();
    if (kill.waitFor() != 0) {
      throw new IOException("kill -" + name + " failed");
    }
  }

  /** SIGKILL; returns when it is gone. */
  public void kill() throws InterruptedException {
    process.destroyForcibly();
    var unused = process.waitFor(10, TimeUnit.SECONDS);
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }

  private static ScriptedServer listen(int port, long nanos) {
    ScriptedServer.Script script =
        x ->
            x.startStream()
                .event(ChatChunks.content("a"))
                .at(nanos)
                .event(ChatChunks.finish("stop"))
                .lastChunk();
    for (int tries = 0; port == 0 && tries < 100; tries++) {
      try {
        return ScriptedServer.startAt(
            ThreadLocalRandom.current().nextInt(LOWEST_PORT, HIGHEST_PORT), script);
      } catch (UncheckedIOException taken) {
        // another one
      }
    }
    return ScriptedServer.startAt(port, script);
  }

  /**
   * Main class of the process: port and time are its arguments; it prints its port when it listens.
   */
  public static void main(String[] args) throws Exception {
    try (ScriptedServer server =
        listen(Integer.parseInt(args[0]), TimeUnit.MILLISECONDS.toNanos(Long.parseLong(args[1])))) {
      System.out.println(server.port());
      Thread.currentThread().join();
    }
  }
}
