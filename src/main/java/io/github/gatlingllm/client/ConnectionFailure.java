package io.github.gatlingllm.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.record.RequestStatus.GeneratorLimit;
import io.netty.buffer.ByteBufUtil;
import io.netty.handler.codec.CodecException;
import io.netty.handler.codec.PrematureChannelClosureException;
import io.netty.handler.codec.compression.DecompressionException;
import io.netty.handler.codec.http.InvalidChunkExtensionException;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.proxy.ProxyConnectException;
import io.netty.handler.ssl.NotSslRecordException;
import io.netty.handler.ssl.SslHandshakeTimeoutException;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.nio.channels.ClosedChannelException;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** Describes why a connection failed; the text is constant per cause, so that reports group it. */
final class ConnectionFailure {

  private static final String NO_TLS =
      "TLS failed: the server does not speak TLS; use http:// or another port";

  /** Texts of operating system, Netty and Gatling in lower case → cause; the first match counts. */
  private static final List<Map.Entry<String, String>> CAUSES =
      List.of(
          Map.entry("unrecognized ssl message", NO_TLS),
          Map.entry("failed to resolve", "unknown host: check the endpoint's name"),
          Map.entry("too many open files", GeneratorLimit.FILES.error()),
          Map.entry("cannot assign requested address", GeneratorLimit.PORTS.error()),
          Map.entry("address already in use", GeneratorLimit.PORTS.error()),
          Map.entry(
              "connection timed out", "connect timeout: no answer from the endpoint's address"),
          Map.entry(
              "connection refused",
              "connection refused: is the server running at the endpoint's port?"),
          Map.entry("no route to host", "no route to the endpoint's address"),
          Map.entry("network is unreachable", "no route to the endpoint's address"),
          Map.entry("connection reset", "connection reset by the server"),
          Map.entry("broken pipe", "connection closed by the server while the request was sent"),
          Map.entry(
              "channel was closed before handshake",
              "connection closed by the server before any response"));

  private static final String UNTRUSTED =
      "the server's certificate is not trusted; add its authority to the trust store, or set"
          + " verifyTls=false";

  private static final Pattern OTHER_HOST =
      Pattern.compile("(?i)no subject alternative|no name matching|hostname");

  private static final Pattern OLD_PROTOCOL =
      Pattern.compile(
          "(?i)protocol_version|protocol version|unsupported_protocol|unsupported protocol");

  private static final Pattern AFTER = Pattern.compile(" after (\\d{1,18}) ?ms");
  private static final Pattern HEX = Pattern.compile("(?:[0-9a-f]{2})+$");

  private ConnectionFailure() {}

  /** Names the time, which Gatling's client has only in its message. */
  static String timeout(Throwable requestTimeout) {
    Matcher limit = AFTER.matcher(message(requestTimeout));
    String time = limit.find() ? duration(Long.parseLong(limit.group(1))) : "the request timeout";
    return "no complete answer within " + time + " (requestTimeout)";
  }

  static String duration(long millis) {
    return millis % 1_000 == 0 ? millis / 1_000 + " s" : millis + " ms";
  }

  static String reason(Throwable failure, @Nullable String proxy, Secrets secrets) {
    NotSslRecordException noTls = find(NotSslRecordException.class, failure);
    if (proxy != null && noTls != null && !firstBytes(noTls).startsWith("HTTP/")) {
      return "proxy %s: answered CONNECT with 200 and then no TLS but '%s'; does it require a login?"
          .formatted(proxy, secrets.line(firstBytes(noTls), 40));
    }
    String reason = reason(failure);
    boolean isUnreachable =
        find(SocketException.class, failure) != null
            && find(ProxyConnectException.class, failure) == null;
    return proxy != null && isUnreachable
        ? "proxy " + proxy + ": " + reason.replace("the endpoint", "the proxy")
        : reason;
  }

  /** The reason by the type of any exception in the chain of causes, as outer ones only wrap it. */
  static String reason(Throwable failure) {
    if (find(OutOfMemoryError.class, failure) != null) { // Netty's of direct memory too
      return GeneratorLimit.MEMORY.error();
    }
    ProxyConnectException proxy = find(ProxyConnectException.class, failure);
    if (proxy != null) {
      return proxy(message(proxy));
    }
    if (find(UnknownHostException.class, failure) != null) {
      return "unknown host: check the endpoint's name";
    }
    if (find(NotSslRecordException.class, failure) != null) {
      return NO_TLS;
    }
    String known = known(failure);
    if (known != null) {
      return known;
    }
    SSLException tls = find(SSLException.class, failure);
    if (tls != null) {
      return "TLS failed: " + tlsCause(tls);
    }
    DecompressionException compressed = find(DecompressionException.class, failure);
    if (compressed != null) {
      return "response could not be decompressed: "
          + message(compressed).replaceFirst("\\. Expected.*", ""); // and numbers of this answer
    }
    if (failure instanceof ClosedChannelException
        || failure instanceof PrematureChannelClosureException) {
      return "connection closed by the server before any response";
    }
    if (failure instanceof TooLongHttpHeaderException) {
      return "response headers longer than " + BoundedHttp.MAX_HEADERS / 1024 + " KiB";
    }
    if (failure instanceof TooLongHttpLineException) {
      return "HTTP line longer than "
          + BoundedHttp.MAX_LINE / 1024
          + " KiB: is this the endpoint's port?";
    }
    if (failure instanceof InvalidChunkExtensionException) {
      return "response has an HTTP chunk extension in a form that Netty does not read";
    }
    if (failure instanceof Http2Exception) {
      return "HTTP/2 connection given up: " + message(failure);
    }
    if (failure instanceof CodecException || failure instanceof IllegalArgumentException) {
      return "response is not valid HTTP: is this the endpoint's port?";
    }
    return failure.getClass().getSimpleName() + ": " + message(failure);
  }

  /** The first line of what came, which Netty quotes in hexadecimal digits. */
  private static String firstBytes(NotSslRecordException failure) {
    Matcher quoted = HEX.matcher(message(failure));
    String text = quoted.find() ? new String(ByteBufUtil.decodeHexDump(quoted.group()), UTF_8) : "";
    return PrintableText.of(text.lines().findFirst().orElse(""));
  }

  static <T extends Throwable> @Nullable T find(Class<T> kind, Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (kind.isInstance(cause)) {
        return kind.cast(cause);
      }
    }
    return null;
  }

  /** OpenSSL's own message is only "General OpenSslEngine problem". */
  private static String tlsCause(SSLException failure) {
    if (find(SslHandshakeTimeoutException.class, failure) != null) {
      return "the server did not answer the handshake; does it speak TLS at this port?";
    }
    if (find(CertificateExpiredException.class, failure) != null) {
      return "the server's certificate has expired; renew it, or set verifyTls=false";
    }
    if (find(CertificateNotYetValidException.class, failure) != null) {
      return "the server's certificate is not valid yet; compare the clocks, or set"
          + " verifyTls=false";
    }
    if (find(CertPathBuilderException.class, failure) != null
        || find(CertPathValidatorException.class, failure) != null) {
      return UNTRUSTED;
    }
    CertificateException certificate = find(CertificateException.class, failure);
    String text = message(certificate == null ? failure : certificate);
    if (OTHER_HOST.matcher(text).find()) {
      return "the server's certificate is for another host; use its name in the endpoint, or set"
          + " verifyTls=false";
    }
    return OLD_PROTOCOL.matcher(text).find()
        ? "the server speaks neither TLS 1.2 nor 1.3; update it, or set verifyTls=false"
        : text;
  }

  private static @Nullable String known(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      String message = message(cause).toLowerCase(Locale.ROOT);
      for (Map.Entry<String, String> entry : CAUSES) {
        if (message.contains(entry.getKey())) {
          return entry.getValue();
        }
      }
    }
    return null;
  }

  private static String proxy(String message) {
    int status = message.indexOf("status: ");
    if (message.contains("status: 407")) {
      return "proxy answered 407: it requires a user name and password; set them in llm.proxy";
    }
    return status < 0
        ? "proxy did not connect to the endpoint"
        : "proxy did not connect to the endpoint: " + message.substring(status);
  }

  private static String message(Throwable cause) {
    return cause.getMessage() == null ? "no message" : cause.getMessage();
  }
}
