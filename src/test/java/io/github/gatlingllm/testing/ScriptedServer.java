package io.github.gatlingllm.testing;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;

/**
 * An HTTP/1.1 server on 127.0.0.1 whose every byte a test controls.
 *
 * <pre>{@code
 * try (ScriptedServer server = ScriptedServer.start(
 *     first -> first.startStream().event(ChatChunks.content("Hi")).reset(),
 *     later -> later.respond(200, "application/json", "{}"))) {
 *   … server.baseUrl() …
 * }
 * }</pre>
 *
 * <p>The n-th request of the server runs the n-th script, the last script serves all further ones.
 * Each connection has a daemon separate thread; when a script returns without closing, the next
 * request is read from the same connection. {@link #close} throws what a script threw, so that a
 * broken script cannot pass for a misbehaving server.
 */
public final class ScriptedServer implements AutoCloseable {

  /** What a client may ask a server about itself. */
  private static final String PAGES =
      ".*/(models|metrics|health|version|props|info|server_info|get_server_info|ps)";

  private final ServerSocket listener;
  private final @Nullable SSLContext tls;
  private final List<Script> scripts;
  private final List<Exchange> exchanges = new CopyOnWriteArrayList<>();
  private final Queue<Socket> connections = new ConcurrentLinkedQueue<>();
  private final Queue<Thread> threads = new ConcurrentLinkedQueue<>();
  private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
  private final AtomicInteger accepted = new AtomicInteger();
  private volatile boolean closed;
  private volatile boolean countsTokens;
  private volatile Script pages = page -> page.respond(404, "text/plain", "no script for this");

  @FunctionalInterface
  public interface Script {
    /** An {@link IOException} means that the client is gone and is not a failure. */
    void answer(Exchange exchange) throws IOException, InterruptedException;
  }

  private ScriptedServer(int port, @Nullable SSLContext tls, Script... scripts) {
    if (scripts.length == 0) {
      throw new IllegalArgumentException("a scripted server needs at least one script");
    }
    this.tls = tls;
    this.scripts = List.of(scripts);
    try {
      listener = new ServerSocket(port, 512, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    startThread("scripted-server-accept", this::acceptAll);
  }

  public static ScriptedServer start(Script... scripts) {
    return new ScriptedServer(0, null, scripts);
  }

  public static ScriptedServer startAt(int port, Script... scripts) {
    return new ScriptedServer(port, null, scripts);
  }

  /** Starts a server that speaks TLS, for example with {@link SelfSigned#sslContext}. */
  public static ScriptedServer startTls(SSLContext tls, Script... scripts) {
    return new ScriptedServer(0, tls, scripts);
  }

  /**
   * Answers {@code /health}, {@code /tokenize} and the like, which are not in {@link #exchanges}.
   */
  public ScriptedServer pages(Script script) {
    pages = script;
    return this;
  }

  /** Answers {@code /tokenize}, too, by its scripts. */
  public ScriptedServer countsTokens() {
    countsTokens = true;
    return this;
  }

  public int port() {
    return listener.getLocalPort();
  }

  public String baseUrl() {
    return (tls == null ? "http" : "https") + "://127.0.0.1:" + port();
  }

  /** All exchanges in order of arrival, each with its request and its sends. */
  public List<Exchange> exchanges() {
    return List.copyOf(exchanges);
  }

  public List<Request> requests() {
    return exchanges.stream().map(Exchange::request).toList();
  }

  public int posts() {
    return (int) requests().stream().filter(r -> r.method().equals("POST")).count();
  }

  public int connections() {
    return accepted.get();
  }

  private void acceptAll() {
    while (!closed) {
      try {
        Socket socket = listener.accept();
        connections.add(socket);
        int number = accepted.getAndIncrement();
        startThread("scripted-server-" + number, () -> serve(socket, number));
      } catch (IOException e) {
        if (!closed) {
          failures.add(e);
        }
        return;
      }
    }
  }

  private void serve(Socket raw, int connectionNumber) {
    try (raw;
        Socket socket = secured(raw)) {
      InputStream in = new BufferedInputStream(socket.getInputStream());
      boolean open = true;
      for (int index = 0; open; index++) {
        Request request = Request.read(in, connectionNumber, index);
        if (request == null) {
          return;
        }
        Exchange exchange = new Exchange(request, socket, raw);
        boolean isPage =
            request.method().equals("GET")
                ? request.path().matches(PAGES)
                : request.path().equals("/tokenize") && !countsTokens;
        if (isPage) {
          pages.answer(exchange);
        } else {
          answer(exchange);
        }
        open = exchange.isOpen();
      }
    } catch (IOException | InterruptedException clientGoneOrServerClosed) {
      return;
    }
  }

  /** A failure is noted before the connection closes, which is what the client can see. */
  private void answer(Exchange exchange) throws IOException, InterruptedException {
    try {
      scriptFor(exchange).answer(exchange);
    } catch (RuntimeException | Error failure) {
      failures.add(failure);
      throw new IOException("the script failed", failure);
    }
  }

  private synchronized Script scriptFor(Exchange exchange) {
    exchanges.add(exchange);
    return scripts.get(Math.min(exchanges.size(), scripts.size()) - 1);
  }

  private Socket secured(Socket raw) throws IOException {
    raw.setTcpNoDelay(true);
    if (tls == null) {
      return raw;
    }
    SSLSocket socket =
        (SSLSocket) tls.getSocketFactory().createSocket(raw, "127.0.0.1", raw.getPort(), false);
    socket.setUseClientMode(false);
    return socket;
  }

  private void startThread(String name, Runnable work) {
    Thread thread = new Thread(work, name);
    thread.setDaemon(true);
    threads.add(thread);
    thread.start();
  }

  /**
   * Closes the listener and every connection, and ends all scripts.
   *
   * @throws AssertionError if a script threw anything but an {@link IOException}
   */
  @Override
  public void close() throws IOException {
    closed = true;
    listener.close();
    threads.forEach(Thread::interrupt);
    for (Socket connection : connections) {
      connection.close();
    }
    Throwable failure = failures.peek();
    if (failure != null) {
      throw new AssertionError("a script of the server failed: " + failure, failure);
    }
  }
}
