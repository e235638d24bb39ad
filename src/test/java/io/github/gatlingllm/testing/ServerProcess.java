package io.github.gatlingllm.testing;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A server in a process of its own, to be stopped, killed and started again: answers every request
 * with one token, the end 50 ms later.
 */
public final class ServerProcess implements AutoCloseable {

  private final Process process;
  private final int port;

  private ServerProcess(Process process, int port) {
    this.process = process;
    this.port = port;
  }

  /**
   * Starts it, and waits until it listens.
   *
   * @param port where; 0 for any
   */
  public static ServerProcess start(int port) throws IOException {
    Process process =
        new ProcessBuilder(
                JavaCommand.of(
                    List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"),
                    ServerProcess.class,
                    port))
            .redirectError(Redirect.INHERIT)
            .start();
    BufferedReader said =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    return new ServerProcess(process, Integer.parseInt(said.readLine()));
  }

  /** Where it listens. */
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

  /** The process: the port as its argument, and printed when it listens. */
  public static void main(String[] args) throws Exception {
    try (ScriptedServer server =
        ScriptedServer.startAt(
            Integer.parseInt(args[0]),
            x ->
                x.startStream()
                    .event(ChatChunks.content("a"))
                    .at(TimeUnit.MILLISECONDS.toNanos(50))
                    .event(ChatChunks.finish("stop"))
                    .lastChunk())) {
      System.out.println(server.port());
      Thread.currentThread().join();
    }
  }
}
