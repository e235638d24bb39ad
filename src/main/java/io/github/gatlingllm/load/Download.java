package io.github.gatlingllm.load;

import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.record.ProcessSetting;
import io.github.gatlingllm.record.ProcessSetting.Proxy;
import io.github.gatlingllm.record.RunFiles;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Authenticator;
import java.net.HttpURLConnection;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A file of the web that is downloaded once into a cache folder: {@code https://…}, or {@code
 * hf:<owner>/<name>[@<revision>]/<file>} for a dataset on Hugging Face's {@link Hub}; {@code
 * #sha256=<64 hex digits>} after it pins its content.
 *
 * <p>What has arrived when a connection is cut stays as {@code <file>.part}; with it, {@code
 * <file>.etag} says of which version it is a part.
 */
final class Download {

  /** The folder of simulations in code; the benchmark passes on its setting. */
  static final ProcessSetting CACHE = new ProcessSetting("llm.datasetCache");

  private static final Pattern WEB = Pattern.compile("https?://[^/?#]+/.+");
  private static final Pattern ON_HUB = Pattern.compile("hf:([^/@]+/[^/@]+)(?:@([^/]+))?/([^?]+)");
  private static final Pattern PINNED = Pattern.compile("(.+)#sha256=(\\p{XDigit}{64})");
  private static final Pattern RANGE = Pattern.compile("bytes (\\d{1,18})-.*");

  private static final int CONNECT_MILLIS = 4_000; // three tries of TCP
  private static final int READ_MILLIS = 60_000;
  private static final int MAX_REDIRECTS = 10;

  /** An answer to a part of a file that no longer exists as it was. */
  private static final int RANGE_NOT_SATISFIABLE = 416;

  /** Larger files have a line for each tenth. */
  private static final long QUIET = 16 << 20;

  private final Hub hub;
  private final URI url;
  private final Path file;
  private final Path part;
  private final Path etag;

  /** The SHA-256 that the user, else the Hub, says; null if nobody does. */
  private @Nullable String wanted;

  private Download(String location, Path cache, Hub hub) {
    this.hub = hub;
    Matcher pinned = PINNED.matcher(location);
    String plain = pinned.matches() ? pinned.group(1) : location;
    wanted =
        pinned.matches()
            ? HexFormat.of().formatHex(HexFormat.of().parseHex(pinned.group(2)))
            : null;
    Matcher onHub = ON_HUB.matcher(plain);
    if ((!onHub.matches() && !WEB.matcher(plain).matches()) || plain.indexOf('#') >= 0) {
      throw new IllegalArgumentException(
          "expected https://<host>/<file> or hf:<owner>/<name>[@<revision>]/<file>, each with or"
              + " without #sha256=<64 hex digits>");
    }
    url = url((onHub.matches() ? address(onHub) : plain).replace(" ", "%20"));
    String name = url.getPath().substring(url.getPath().lastIndexOf('/') + 1);
    byte[] key = digest().digest(url.toString().getBytes(StandardCharsets.UTF_8));
    file =
        cache
            .resolve(HexFormat.of().formatHex(key, 0, 6))
            .resolve(name.isEmpty() ? "data" : name.replaceAll("[^\\w.-]", "_"));
    part = file.resolveSibling(file.getFileName() + ".part");
    etag = file.resolveSibling(file.getFileName() + ".etag");
  }

  private static final int MAX_PORT = 65_535;

  private static URI url(String text) {
    try {
      URI url = new URI(text);
      if (isWeb(url)) {
        return url;
      }
    } catch (URISyntaxException e) {
      char wrong = e.getIndex() < 0 ? ' ' : text.charAt(Math.min(e.getIndex(), text.length() - 1));
      throw new IllegalArgumentException(
          "a URL may not have '%s' there; write it as %%%02X".formatted(wrong, (int) wrong), e);
    }
    throw new IllegalArgumentException(
        "expected https://<host>/<file>, with a host and a port up to 65535");
  }

  private static boolean isWeb(URI url) {
    return url.getScheme() != null
        && url.getScheme().matches("(?i)https?")
        && url.getHost() != null
        && url.getPort() <= MAX_PORT;
  }

  private String address(Matcher onHub) {
    String revision = onHub.group(2) == null ? Hub.MAIN : onHub.group(2);
    return hub.dataset(onHub.group(1), revision, onHub.group(3));
  }

  static boolean isOne(String location) {
    return location.startsWith("hf:") || location.matches("https?://.*");
  }

  static Path cache() {
    String set = CACHE.text();
    return set == null
        ? Path.of(System.getProperty("user.home"), ".gatling-llm", "datasets")
        : Path.of(set);
  }

  /** The file in the cache, after it has been downloaded if need be. */
  static Path file(String location, Path cache, Hub hub) throws IOException {
    Download download = new Download(location, cache, hub);
    synchronized (Download.class) { // locks of files are those of a whole JVM
      if (!Files.isRegularFile(download.file)) {
        download.fetch();
      } else {
        download.check(download.file);
      }
    }
    return download.file;
  }

  static String sha256(Path file) throws IOException {
    MessageDigest digest = digest();
    try (InputStream in = new DigestInputStream(Files.newInputStream(file), digest)) {
      in.transferTo(OutputStream.nullOutputStream());
    }
    return HexFormat.of().formatHex(digest.digest());
  }

  private static MessageDigest digest() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e); // every JVM has it
    }
  }

  private void check(Path content) throws IOException {
    String is = wanted == null ? "" : sha256(content);
    if (wanted != null && !wanted.equals(is)) {
      Files.delete(content);
      throw new IllegalArgumentException(
          "SHA-256 is %s…, expected %s…; the file has been deleted, so try again or correct it"
              .formatted(is.substring(0, 12), wanted.substring(0, 12)));
    }
  }

  /** Receives the file; a connection that is cut is followed by another while each brings bytes. */
  private void fetch() throws IOException {
    try {
      RunFiles.requireWritable(file.getParent());
    } catch (IOException e) {
      throw new IllegalArgumentException(
          "its folder %s cannot be written (%s); set llm.datasetCache"
              .formatted(file.getParent(), e.getMessage()),
          e);
    }
    try (FileChannel out =
        FileChannel.open(part, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      var unused = out.lock(); // until the channel closes
      if (Files.isRegularFile(file)) { // another process has been faster
        return;
      }
      boolean isWhole = false;
      while (!isWhole) {
        long before = out.size();
        try {
          isWhole = receive(out);
        } catch (IOException e) {
          if (out.size() <= before) {
            throw new IllegalArgumentException(
                "no more bytes of %s (%s); go online, free the disk, or put the file there: %s"
                    .formatted(url.getHost(), e, file),
                e);
          }
        }
      }
      check(part);
      Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
      Files.deleteIfExists(etag);
      print("SHA-256 " + sha256(file) + ", kept as " + file);
    }
  }

  /** Whether the file is whole after one more exchange. */
  private boolean receive(FileChannel out) throws IOException {
    String version = Files.exists(etag) ? Files.readString(etag) : "";
    long has = version.isEmpty() ? 0 : out.size();
    HttpURLConnection http = open(has, version);
    try (InputStream in = http.getInputStream()) {
      Matcher range =
          RANGE.matcher(
              http.getResponseCode() == HttpURLConnection.HTTP_PARTIAL
                  ? String.valueOf(http.getHeaderField("Content-Range"))
                  : "");
      long start = range.matches() ? Long.parseLong(range.group(1)) : 0;
      if (start > has) {
        throw new IOException("it sent another part");
      }
      String now = http.getHeaderField("ETag");
      Files.writeString(etag, now == null || now.startsWith("W/") ? "" : now);
      long length = http.getContentLengthLong() < 0 ? -1 : start + http.getContentLengthLong();
      print(
          (start == 0 ? "downloading from " : "going on from ")
              + http.getURL().getHost()
              + (length < 0 ? "" : ", " + of(start, length)));
      out.truncate(start).position(start);
      return copy(in, out, length);
    } finally {
      http.disconnect();
    }
  }

  private boolean copy(InputStream in, FileChannel out, long length) throws IOException {
    byte[] bytes = new byte[1 << 16];
    long tenth = length < QUIET ? Long.MAX_VALUE : length / 10;
    long next = tenth * (out.position() / tenth + 1);
    for (int n = in.read(bytes); n >= 0; n = in.read(bytes)) {
      out.write(ByteBuffer.wrap(bytes, 0, n));
      if (out.position() >= next) {
        print(of(out.position(), length));
        next += tenth;
      }
    }
    if (out.position() < length) {
      throw new IOException("the connection was cut");
    }
    return true;
  }

  private static String of(long bytes, long length) {
    return "%s of %s MB".formatted(bytes >> 20, (length + (1 << 20) - 1) >> 20);
  }

  private static java.net.Proxy javaProxy(@Nullable URI proxy) {
    return proxy == null
        ? java.net.Proxy.NO_PROXY
        : new java.net.Proxy(
            java.net.Proxy.Type.HTTP, new InetSocketAddress(proxy.getHost(), proxy.getPort()));
  }

  /** Follows redirects by hand: the Hub's first answer has the SHA-256, its store has the bytes. */
  private HttpURLConnection open(long from, String version) throws IOException {
    URI at = url;
    for (int hop = 0; hop <= MAX_REDIRECTS; hop++) {
      URI proxy = Proxy.of(at);
      HttpURLConnection http =
          (HttpURLConnection)
              (Proxy.isSet()
                  ? at.toURL().openConnection(javaProxy(proxy))
                  : at.toURL().openConnection());
      Authenticator logIn = Proxy.logIn(proxy);
      if (logIn != null) {
        http.setAuthenticator(logIn);
      }
      http.setConnectTimeout(CONNECT_MILLIS);
      http.setReadTimeout(READ_MILLIS);
      http.setInstanceFollowRedirects(false);
      http.setRequestProperty("Accept-Encoding", "identity");
      String login = hub.login(at);
      if (login != null) {
        http.setRequestProperty("Authorization", login);
      }
      if (from > 0) {
        http.setRequestProperty("Range", "bytes=" + from + "-");
        http.setRequestProperty("If-Range", version);
      }
      int status = http.getResponseCode();
      String ofHub = http.getHeaderField("X-Linked-ETag");
      if (wanted == null && ofHub != null && ofHub.matches("\"\\p{XDigit}{64}\"")) {
        wanted = ofHub.substring(1, 65);
      }
      String next = http.getHeaderField("Location");
      if (status == RANGE_NOT_SATISFIABLE && from > 0) {
        Files.deleteIfExists(etag);
        return open(0, "");
      } else if (status / 100 == 2) {
        return http;
      } else if (status / 100 != 3 || next == null) {
        throw new IllegalArgumentException(
            "%s answers %s%s"
                .formatted(
                    at.getHost(),
                    status,
                    status == 401 || status == 403
                        ? "; " + hub.remedy(at) + ": " + file
                        : "; expected the file"));
      }
      URI to = redirected(at, next);
      if (at.getScheme().equals("https") && !"https".equals(to.getScheme())) {
        throw new IllegalArgumentException(
            at.getHost() + " redirects from https to " + to.getScheme() + "; use a safe address");
      }
      at = to;
    }
    throw new IllegalArgumentException(url.getHost() + " redirects without end");
  }

  private static URI redirected(URI at, String location) {
    try {
      URI to = at.resolve(location);
      if (isWeb(to)) {
        return to;
      }
    } catch (IllegalArgumentException e) {
      // Reported below, like addresses that are not of the web.
    }
    throw new IllegalArgumentException(
        "%s redirects to '%s'; expected https://<host>/<file>"
            .formatted(at.getHost(), DataFile.clipped(location)));
  }

  private void print(String what) {
    PrintableText.print("LLM: " + file.getFileName() + ": " + what);
  }
}
