package io.github.gatlingllm.storage;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** As much of S3 as a test needs, with one bucket, {@code bench}, and its failures. */
public final class S3Server implements AutoCloseable {

  private static final int PAGE = 1_000;

  public final Map<String, byte[]> objects = new ConcurrentSkipListMap<>();

  public final List<String> requests = new CopyOnWriteArrayList<>();

  /** Bytes of a content after which the connection breaks. */
  public volatile int cutAfter = Integer.MAX_VALUE;

  /** What is answered with this status, as long as this is true. */
  public volatile Predicate<String> refused = request -> false;

  public volatile String refusal = "503 SlowDown";

  public volatile UnaryOperator<String> listing = xml -> xml;

  private final Instant opened = Instant.now();
  private final HttpServer server;
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final Map<String, @Nullable String> propertiesBefore = new HashMap<>();

  public S3Server() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(threads);
    server.createContext("/", this::answer);
    server.start();
    properties()
        .forEach((name, value) -> propertiesBefore.put(name, System.setProperty(name, value)));
  }

  /** Of a process that sends it requests. */
  public Map<String, String> properties() {
    return Map.of(
        "aws.endpointUrl", "http://127.0.0.1:" + server.getAddress().getPort(),
        "aws.accessKeyId", "a",
        "aws.secretAccessKey", "b",
        "aws.region", "eu-central-1");
  }

  public void stop() {
    server.stop(0);
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
    Properties properties = System.getProperties();
    propertiesBefore.forEach(
        (name, value) -> {
          if (value == null) {
            properties.remove(name);
          } else {
            properties.setProperty(name, value);
          }
        });
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      byte[] body = exchange.getRequestBody().readAllBytes();
      String path = exchange.getRequestURI().getPath();
      String key = path.startsWith("/bench/") ? path.substring("/bench/".length()) : "";
      Map<String, String> query = query(exchange.getRequestURI().getRawQuery());
      String request = (exchange.getRequestMethod() + " " + key).strip();
      requests.add(request);
      if (!path.equals("/bench") && !path.startsWith("/bench/")) {
        fail(exchange, 404, "NoSuchBucket");
      } else if (refused.test(request)) {
        String[] status = refusal.split(" ", 2);
        fail(exchange, Integer.parseInt(status[0]), status[1]);
      } else {
        switch (exchange.getRequestMethod()) {
          case "GET" -> {
            if (key.isEmpty()) {
              list(exchange, query);
            } else {
              get(exchange, key);
            }
          }
          case "PUT" -> put(exchange, key, body);
          default -> send(exchange, 405, new byte[0]);
        }
      }
    } catch (RuntimeException e) {
      throw new IOException(e);
    }
  }

  private static Map<String, String> query(@Nullable String raw) {
    Map<String, String> query = new HashMap<>();
    for (String pair : raw == null ? new String[0] : raw.split("&", -1)) {
      String[] parts = pair.split("=", 2);
      query.put(parts[0], parts.length < 2 ? "" : URLDecoder.decode(parts[1], UTF_8));
    }
    return query;
  }

  private void list(HttpExchange exchange, Map<String, String> query) throws IOException {
    String after = query.getOrDefault("continuation-token", "");
    int max = Integer.parseInt(query.getOrDefault("max-keys", Integer.toString(PAGE)));
    StringBuilder xml = new StringBuilder("<ListBucketResult>");
    List<String> keys =
        objects.keySet().stream()
            .filter(key -> key.startsWith(query.get("prefix")) && key.compareTo(after) > 0)
            .toList();
    for (String key : keys.subList(0, Math.min(max, keys.size()))) {
      byte[] content = objects.get(key);
      xml.append(
          "<Contents><Key>%s</Key><Size>%s</Size><ETag>%s</ETag><LastModified>%s</LastModified></Contents>"
              .formatted(key, content.length, etag(content), opened));
    }
    if (keys.size() > max) {
      xml.append("<NextContinuationToken>%s</NextContinuationToken>".formatted(keys.get(max - 1)));
    }
    xml.append("<IsTruncated>").append(keys.size() > max).append("</IsTruncated>");
    String all = listing.apply(xml.append("</ListBucketResult>").toString());
    send(exchange, 200, all.getBytes(UTF_8));
  }

  private void get(HttpExchange exchange, String key) throws IOException {
    byte[] content = objects.get(key);
    if (content == null) {
      fail(exchange, 404, "NoSuchKey");
      return;
    }
    String match = exchange.getRequestHeaders().getFirst("If-Match");
    if (match != null && !match.equals(etag(content))) {
      fail(exchange, 412, "PreconditionFailed");
      return;
    }
    exchange.getResponseHeaders().set("ETag", etag(content));
    exchange.sendResponseHeaders(200, content.length);
    OutputStream out = exchange.getResponseBody();
    out.write(content, 0, Math.min(cutAfter, content.length));
    out.flush();
  }

  private void put(HttpExchange exchange, String key, byte[] body) throws IOException {
    objects.put(key, body);
    exchange.getResponseHeaders().set("ETag", etag(body));
    send(exchange, 200, new byte[0]);
  }

  private static String etag(byte[] content) {
    try {
      byte[] md5 = MessageDigest.getInstance("MD5").digest(content);
      return '"' + HexFormat.of().formatHex(md5) + '"';
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void fail(HttpExchange exchange, int status, String code) throws IOException {
    String xml = "<Error><Code>%s</Code><Message>no</Message></Error>".formatted(code);
    send(exchange, status, xml.getBytes(UTF_8));
  }

  private static void send(HttpExchange exchange, int status, byte[] body) throws IOException {
    exchange.getResponseHeaders().set("Content-Type", "application/xml");
    exchange.sendResponseHeaders(status, body.length == 0 ? -1 : body.length);
    exchange.getResponseBody().write(body);
  }

  /** The requests that begin so, without what they begin with. */
  public List<String> requests(String start) {
    return requests.stream()
        .filter(request -> request.startsWith(start))
        .map(request -> request.substring(start.length()))
        .toList();
  }
}
