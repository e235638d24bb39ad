package io.github.gatlingllm.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.github.gatlingllm.figures.metric.Sentence;
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
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** Why a connection failed: a cause of {@code facts.txt}, whose text is constant per cause. */
final class ConnectionFailure {

  /** Texts of operating system, Netty and Gatling in lower case → cause; the first match counts. */
  private static final List<Map.Entry<String, String>> CAUSES =
      List.of(
          Map.entry("unrecognized ssl message", "no_tls"),
          Map.entry("failed to resolve", "unknown_host"),
          Map.entry("connection timed out", "connect_timeout"),
          Map.entry("connection refused", "refused"),
          Map.entry("no route to host", "no_route"),
          Map.entry("network is unreachable", "no_route"),
          Map.entry("connection reset", "reset"),
          Map.entry("broken pipe", "closed_while_sent"),
          Map.entry("channel was closed before handshake", "closed"));

  private static final Map<String, GeneratorLimit> LIMITS =
      Map.of(
          "too many open files", GeneratorLimit.FILES,
          "cannot assign requested address", GeneratorLimit.PORTS,
          "address already in use", GeneratorLimit.PORTS);

  /** Of the exceptions of a TLS handshake; the first one in the chain of causes counts. */
  private static final List<Map.Entry<Class<? extends Throwable>, String>> TLS =
      List.of(
          Map.entry(SslHandshakeTimeoutException.class, "no_handshake"),
          Map.entry(CertificateExpiredException.class, "expired"),
          Map.entry(CertificateNotYetValidException.class, "not_yet_valid"),
          Map.entry(CertPathBuilderException.class, "untrusted"),
          Map.entry(CertPathValidatorException.class, "untrusted"));

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
    Long millis = limit.find() ? Long.valueOf(limit.group(1)) : null;
    return Sentence.text("too_late", "request", millis);
  }

  static String reason(Throwable failure, @Nullable String proxy, Secrets secrets) {
    NotSslRecordException noTls = find(NotSslRecordException.class, failure);
    if (proxy != null && noTls != null && !firstBytes(noTls).startsWith("HTTP/")) {
      return because("proxy_without_tls", secrets.line(firstBytes(noTls), 40))
          .at("proxy " + proxy)
          .text();
    }
    boolean isUnreachable =
        proxy != null
            && find(SocketException.class, failure) != null
            && find(ProxyConnectException.class, failure) == null;
    Sentence cause = cause(failure, isUnreachable);
    return (isUnreachable ? cause.at("proxy " + proxy) : cause).text();
  }

  static String reason(Throwable failure) {
    return cause(failure, false).text();
  }

  private static Sentence because(String cause, @Nullable Object detail) {
    return Sentence.of("unconnected", cause, detail, false);
  }

  /** The cause by the type of any exception in the chain, as outer ones only wrap it. */
  static Sentence cause(Throwable failure, boolean isProxy) {
    if (find(OutOfMemoryError.class, failure) != null) { // Netty's of direct memory too
      return because("limit", GeneratorLimit.MEMORY.error());
    }
    ProxyConnectException proxy = find(ProxyConnectException.class, failure);
    if (proxy != null) {
      return proxy(message(proxy));
    }
    if (find(UnknownHostException.class, failure) != null) {
      return because("unknown_host", null);
    }
    if (find(NotSslRecordException.class, failure) != null) {
      return because("no_tls", null);
    }
    GeneratorLimit limit = known(failure, LIMITS.entrySet());
    if (limit != null) {
      return because("limit", limit.error());
    }
    String known = known(failure, CAUSES);
    if (known != null) {
      return Sentence.of("unconnected", known, null, isProxy);
    }
    SSLException tls = find(SSLException.class, failure);
    if (tls != null) {
      return tlsCause(tls);
    }
    DecompressionException compressed = find(DecompressionException.class, failure);
    if (compressed != null) {
      // Without the numbers of this answer.
      return because("compressed", message(compressed).replaceFirst("\\. Expected.*", ""));
    }
    if (failure instanceof ClosedChannelException
        || failure instanceof PrematureChannelClosureException) {
      return because("closed", null);
    }
    if (failure instanceof TooLongHttpHeaderException) {
      return because("long_headers", BoundedHttp.MAX_HEADERS / 1024);
    }
    if (failure instanceof TooLongHttpLineException) {
      return because("long_line", BoundedHttp.MAX_LINE / 1024);
    }
    if (failure instanceof InvalidChunkExtensionException) {
      return because("chunk_extension", null);
    }
    if (failure instanceof Http2Exception) {
      return because("http2", message(failure));
    }
    return failure instanceof CodecException || failure instanceof IllegalArgumentException
        ? because("no_http", null)
        : because("other", failure.getClass().getSimpleName() + ": " + message(failure));
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
  private static Sentence tlsCause(SSLException failure) {
    for (Map.Entry<Class<? extends Throwable>, String> kind : TLS) {
      if (find(kind.getKey(), failure) != null) {
        return because(kind.getValue(), null);
      }
    }
    CertificateException certificate = find(CertificateException.class, failure);
    String text = message(certificate == null ? failure : certificate);
    if (OTHER_HOST.matcher(text).find()) {
      return because("other_host", null);
    }
    return OLD_PROTOCOL.matcher(text).find() ? because("old_tls", null) : because("tls", text);
  }

  private static <T> @Nullable T known(
      Throwable failure, Collection<Map.Entry<String, T>> byMessage) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      String message = message(cause).toLowerCase(Locale.ROOT);
      for (Map.Entry<String, T> entry : byMessage) {
        if (message.contains(entry.getKey())) {
          return entry.getValue();
        }
      }
    }
    return null;
  }

  private static Sentence proxy(String message) {
    int status = message.indexOf("status: ");
    return message.contains("status: 407")
        ? because("proxy_login", null)
        : because("proxy", status < 0 ? null : message.substring(status));
  }

  private static String message(Throwable cause) {
    return cause.getMessage() == null ? "no message" : cause.getMessage();
  }
}
