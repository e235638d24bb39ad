package io.github.gatlingllm.testing;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * One HTTP/1.1 request as it came over the wire, body included.
 *
 * @param head request line and headers as they came, a line each
 * @param headers by name, case-insensitive; the values of a repeated header joined by {@code ", "}
 * @param body decoded as UTF-8
 * @param connectionNumber which accepted connection, from 0
 * @param indexOnConnection which request on that connection, from 0
 * @param receivedNanos {@link System#nanoTime()} once its last byte was read
 */
public record Request(
    String method,
    String path,
    String head,
    Map<String, String> headers,
    String body,
    int connectionNumber,
    int indexOnConnection,
    long receivedNanos) {

  public @Nullable String header(String name) {
    return headers.get(name);
  }

  /** Reads one complete request; null when the client closed before its first byte. */
  static @Nullable Request read(InputStream in, int connectionNumber, int indexOnConnection)
      throws IOException {
    String requestLine = line(in);
    if (requestLine == null) {
      return null;
    }
    String[] parts = requestLine.split(" ", 3);
    if (parts.length != 3) {
      throw new IOException("not an HTTP/1.1 request line: " + requestLine);
    }
    StringBuilder head = new StringBuilder(requestLine).append('\n');
    Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    for (String line = completeLine(in); !line.isEmpty(); line = completeLine(in)) {
      int colon = line.indexOf(':');
      if (colon < 0) {
        throw new IOException("not a header: " + line);
      }
      head.append(line).append('\n');
      headers.merge(
          line.substring(0, colon), line.substring(colon + 1).strip(), (a, b) -> a + ", " + b);
    }
    byte[] body = body(in, headers);
    return new Request(
        parts[0],
        parts[1],
        head.toString(),
        Collections.unmodifiableMap(headers),
        new String(body, StandardCharsets.UTF_8),
        connectionNumber,
        indexOnConnection,
        System.nanoTime());
  }

  private static byte[] body(InputStream in, Map<String, String> headers) throws IOException {
    int length = Integer.parseInt(headers.getOrDefault("Content-Length", "0"));
    byte[] bytes = in.readNBytes(length);
    if (bytes.length < length) {
      throw new EOFException("body ended after " + bytes.length + " of " + length + " bytes");
    }
    return bytes;
  }

  private static String completeLine(InputStream in) throws IOException {
    String line = line(in);
    if (line == null) {
      throw new EOFException("request ended inside its head");
    }
    return line;
  }

  /** A line without its CRLF; null at the end of the stream. */
  private static @Nullable String line(InputStream in) throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int b = in.read(); b >= 0; b = in.read()) {
      if (b == '\n') {
        return line.toString(StandardCharsets.ISO_8859_1);
      }
      if (b != '\r') {
        line.write(b);
      }
    }
    return null;
  }
}
