package io.github.gatlingllm.load;

import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.record.ProcessSetting;
import io.github.gatlingllm.record.Proxy;
import io.github.gatlingllm.record.RunFiles;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodySubscribers;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A file of the web that is downloaded once into a cache folder: {@code https://…}, or {@code
 * hf:<owner>/<name>[@<revision>]/<file>} for a dataset on Hugging Face's {@link Hub}; {@code
 * #sha256=<64 hex digits>} after it pins its content.
 */
final class Download {

  /** The folder of simulations in code; the benchmark passes on its setting. */
  static final ProcessSetting CACHE = new ProcessSetting("llm.datasetCache");

  private static final Pattern WEB = Pattern.compile("https?://[^/?#]+/.+");
  private static final Pattern ON_HUB = Pattern.compile("hf:([^/@]+/[^/@]+)(?:@([^/]+))?/([^?]+)");
  private static final Pattern PINNED = Pattern.compile("(.+)#sha256=(\\p{XDigit}{64})");
  private static final Pattern SHA_256 = Pattern.compile("\"(\\p{XDigit}{64})\"");

  private static final Duration CONNECT = Duration.ofSeconds(4); // three tries of TCP

  /** After as long without a byte a download fails; else it has a line of progress. */
  static final Duration SILENCE = Duration.ofMinutes(1);

  private static final int MAX_REDIRECTS = 10;
  private static final int MAX_PORT = 65_535;

  private final Hub hub;
  private final URI url;
  private final Path file;
  private final Path part;

  /** The SHA-256 that the user, else the Hub, states; null if neither does. */
  private @Nullable String expected;

  private Download(String location, Path cache, Hub hub) {
    this.hub = hub;
    Matcher pinned = PINNED.matcher(location);
    String plain = pinned.matches() ? pinned.group(1) : location;
    expected =
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
    file =
        cache
            .resolve(DataFile.sha256(url.toString()).substring(0, 12))
            .resolve(name.isEmpty() ? "data" : name.replaceAll("[^\\w.-]", "_"));
    part = file.resolveSibling(file.getFileName() + ".part");
  }

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
    return file(location, cache, hub, SILENCE);
  }

  static Path file(String location, Path cache, Hub hub, Duration silence) throws IOException {
    Download download = new Download(location, cache, hub);
    synchronized (Download.class) { // locks of files are those of an entire JVM
      if (!Files.isRegularFile(download.file)) {
        download.fetch(silence);
      } else if (download.expected != null) {
        var unused = download.checked(download.file);
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

  static MessageDigest digest() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e); // every JVM has it
    }
  }

  /** The SHA-256 of a file, which is deleted if it should have another. */
  private String checked(Path content) throws IOException {
    String is = sha256(content);
    if (expected != null && !expected.equals(is)) {
      Files.delete(content);
      throw new IllegalArgumentException(
          "SHA-256 is %s…, expected %s…; the file has been deleted, so try again or correct it"
              .formatted(is.substring(0, 12), expected.substring(0, 12)));
    }
    return is;
  }

  private void fetch(Duration silence) throws IOException {
    try {
      RunFiles.requireWritable(file.getParent());
    } catch (IOException e) {
      throw new IllegalArgumentException(
          "its folder %s cannot be written (%s); set llm.datasetCache"
              .formatted(file.getParent(), e.getMessage()),
          e);
    }
    try (FileChannel lock =
        FileChannel.open(
            file.resolveSibling("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      var unused = lock.lock(); // until the channel closes
      if (Files.isRegularFile(file)) { // another process has been faster
        return;
      }
      Files.deleteIfExists(part);
      try {
        receive(silence);
      } catch (IOException e) {
        throw new IllegalArgumentException(
            "cannot be downloaded from %s (%s); go online, free the disk, or put the file there: %s"
                .formatted(url.getHost(), e, file),
            e);
      }
      String is = checked(part);
      Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
      print("SHA-256 " + is + ", stored as " + file);
    }
  }

  /** Follows redirects by hand: the Hub's first answer has the SHA-256, its store has the bytes. */
  private void receive(Duration silence) throws IOException {
    URI at = url;
    for (int hop = 0; hop <= MAX_REDIRECTS; hop++) {
      HttpResponse<?> answer = answer(at, silence);
      Matcher ofHub = SHA_256.matcher(answer.headers().firstValue("X-Linked-ETag").orElse(""));
      expected = expected == null && ofHub.matches() ? ofHub.group(1) : expected;
      int status = answer.statusCode();
      String next = answer.headers().firstValue("Location").orElse(null);
      if (status / 100 == 2) {
        return;
      } else if (status / 100 != 3 || next == null) {
        String remedy =
            status == 401 || status == 403 ? hub.remedy(at) + ": " + file : "expected the file";
        throw new IllegalArgumentException(
            "%s answers %s; %s".formatted(at.getHost(), status, remedy));
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

  private HttpResponse<?> answer(URI at, Duration silence) throws IOException {
    HttpClient.Builder client =
        HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(CONNECT);
    if (Proxy.isSet()) {
      Proxy.use(client, Proxy.of(at));
    }
    HttpRequest.Builder request = HttpRequest.newBuilder(at).header("Accept-Encoding", "identity");
    String login = hub.login(at);
    if (login != null) {
      request.header("Authorization", login);
    }
    var answer =
        client
            .build()
            .sendAsync(
                request.build(),
                head -> {
                  if (head.statusCode() / 100 != 2) {
                    return BodySubscribers.replacing(part);
                  }
                  print("downloading from " + url.getHost());
                  return BodySubscribers.ofFile(part);
                });
    for (long before = 0; ; ) {
      try {
        return answer.get(silence.toMillis(), TimeUnit.MILLISECONDS);
      } catch (TimeoutException e) {
        long now = Files.exists(part) ? Files.size(part) : 0;
        if (now <= before) {
          answer.cancel(true);
          throw new IOException("no byte for " + silence.toSeconds() + " s", e);
        }
        print((now >> 20) + " MB so far");
        before = now;
      } catch (ExecutionException e) {
        throw new IOException(String.valueOf(e.getCause()), e);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IOException("interrupted", e);
      }
    }
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
