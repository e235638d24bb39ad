package io.github.gatlingllm.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.record.RequestStatus.GeneratorLimit;
import io.netty.channel.ChannelException;
import io.netty.channel.ConnectTimeoutException;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.PrematureChannelClosureException;
import io.netty.handler.codec.TooLongFrameException;
import io.netty.handler.codec.compression.DecompressionException;
import io.netty.handler.codec.http.InvalidChunkExtensionException;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.proxy.ProxyConnectException;
import io.netty.handler.ssl.NotSslRecordException;
import io.netty.handler.ssl.SslHandshakeTimeoutException;
import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.UnknownHostException;
import java.nio.channels.ClosedChannelException;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import java.util.stream.Stream;
import javax.net.ssl.SSLHandshakeException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

final class ConnectionFailureTest {

  private static final String REFUSED =
      "connection refused: is the server running at the endpoint's port?";
  private static final String NO_PORT =
      "no local port left: share connections, or add local addresses";
  private static final String NO_FILES =
      "too many open files: raise the limit (ulimit -n) of the load generator";
  private static final String NO_MEMORY = GeneratorLimit.MEMORY.error();
  private static final String RESET = "connection reset by the server";
  private static final String OTHER_HOST =
      "TLS failed: the server's certificate is for another host";
  private static final String CLOSED = "connection closed by the server before any response";
  private static final String NO_HTTP = "response is not valid HTTP: is this the endpoint's port?";

  static Stream<Arguments> failures() {
    return Stream.of(
        row(new TooLongHttpHeaderException("HTTP header is larger"), "response headers longer"),
        row(new TooLongHttpLineException("An HTTP line is larger"), "HTTP line longer"),
        row(new InvalidChunkExtensionException("Invalid"), "response has an HTTP chunk extension"),
        row(new ClosedChannelException(), CLOSED),
        row(new PrematureChannelClosureException("Connection closed"), CLOSED),
        row(new UnknownHostException("llm.invalid"), "unknown host"),
        row(new IOException("Failed to resolve 'llm.invalid' after 2 queries"), "unknown host"),
        row(new ConnectException("finishConnect(..) failed: Connection refused: /::1:81"), REFUSED),
        row(new ConnectTimeoutException("connection timed out after 5000 ms"), "connect timeout"),
        row(new NoRouteToHostException("No route to host: /10.0.0.1:80"), "no route"),
        row(new ConnectException("connect(..) failed: Network is unreachable"), "no route"),
        row(new ConnectException("connect(..) failed: Cannot assign requested address"), NO_PORT),
        row(new BindException("Address already in use"), NO_PORT),
        row(new ChannelException(new IOException("newSocket(..): Too many open files")), NO_FILES),
        row(new DecoderException(new OutOfMemoryError("Java heap space")), NO_MEMORY),
        row(new OutOfMemoryError("Cannot reserve 1 bytes of direct buffer memory"), NO_MEMORY),
        row(new IOException("recvAddress(..) failed: Connection reset by peer"), RESET),
        row(new IOException("Broken pipe"), "connection closed by the server while"),
        row(new IOException("Channel was closed before handshake completed"), CLOSED),
        row(new SSLHandshakeException("No name matching localhost found"), OTHER_HOST),
        row(tls(new CertificateException("No subject alternative DNS name")), OTHER_HOST),
        row(
            tls(new CertPathValidatorException(new CertificateExpiredException("NotAfter"))),
            "TLS failed: the server's certificate has expired"),
        row(
            tls(new CertificateNotYetValidException("NotBefore")),
            "TLS failed: the server's certificate is not valid yet"),
        row(
            new SSLHandshakeException("Received fatal alert: protocol_version"),
            "TLS failed: the server speaks neither"),
        row(
            new SslHandshakeTimeoutException("handshake timed out after 10000ms"),
            "TLS failed: the server did not answer"),
        row(
            new DecoderException(new SSLHandshakeException("handshake_failure")),
            "TLS failed: handshake_failure"),
        row(
            tls(new CertPathBuilderException("unable to find valid certification path")),
            "TLS failed: the server's certificate is not trusted"),
        row(
            new NotSslRecordException("not an SSL/TLS record: 485454502f312e31"),
            "TLS failed: the server does not speak TLS"),
        row(new DecompressionException("no gzip"), "response could not be decompressed"),
        row(new Http2Exception(Http2Error.PROTOCOL_ERROR, "no"), "HTTP/2 connection given up"),
        row(new IllegalArgumentException("invalid version format: SSH-2.0"), NO_HTTP),
        row(new TooLongFrameException("HTTP line is larger than 4096 bytes."), NO_HTTP),
        row(new ProxyConnectException("http, none, status: 407 Who"), "proxy answered 407"),
        row(
            new ProxyConnectException("http, none, status: 502 Bad"),
            "proxy did not connect to the endpoint: status: 502 Bad"),
        row(new ProxyConnectException("timeout"), "proxy did not connect to the endpoint"),
        row(new IOException("something new"), "IOException: something new"),
        row(new IllegalStateException(), "IllegalStateException: no message"));
  }

  private static Throwable tls(Throwable cause) {
    return new SSLHandshakeException("General OpenSslEngine problem").initCause(cause);
  }

  private static Arguments row(Throwable failure, String line) {
    return Arguments.of(failure, line);
  }

  @ParameterizedTest
  @MethodSource("failures")
  void reason(Throwable failure, String line) {
    assertThat(ConnectionFailure.reason(failure)).startsWith(line);
  }
}
