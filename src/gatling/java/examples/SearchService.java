package examples;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;

/** A stub of the search and feedback services that a RAG application uses. */
final class SearchService {

  private SearchService() {}

  /** Starts it on a free port of this machine and returns its URL. */
  static String start() {
    try {
      HttpServer server =
          HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
      answer(server, "/search", "{\"passages\": \"[1] A queue grows when work comes faster.\"}");
      answer(server, "/feedback", "{}");
      server.start();
      return "http://127.0.0.1:" + server.getAddress().getPort();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void answer(HttpServer server, String path, String json) {
    byte[] body = json.getBytes(StandardCharsets.UTF_8);
    server.createContext(
        path,
        exchange -> {
          exchange.getRequestBody().readAllBytes();
          exchange.getResponseHeaders().add("Content-Type", "application/json");
          exchange.sendResponseHeaders(200, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
  }
}
