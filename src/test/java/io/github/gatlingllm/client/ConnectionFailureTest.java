package io.github.gatlingllm.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.figures.metric.Sentence;
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
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

final class ConnectionFailureTest {

  static Stream<Arguments> failures() {
    return Stream.of(
        row(
            new TooLongHttpHeaderException("HTTP header is larger"),
            "long_headers",
            BoundedHttp.MAX_HEADERS / 1024),
        row(
            new TooLongHttpLineException("An HTTP line is larger"),
            "long_line",
            BoundedHttp.MAX_LINE / 1024),
        row(new InvalidChunkExtensionException("Invalid"), "chunk_extension"),
        row(new ClosedChannelException(), "closed"),
        row(new PrematureChannelClosureException("Connection closed"), "closed"),
        row(new UnknownHostException("llm.invalid"), "unknown_host"),
        row(new IOException("Failed to resolve 'llm.invalid' after 2 queries"), "unknown_host"),
        row(
            new ConnectException("finishConnect(..) failed: Connection refused: /::1:81"),
            "refused"),
        row(new ConnectTimeoutException("connection timed out after 5000 ms"), "connect_timeout"),
        row(new NoRouteToHostException("No route to host: /10.0.0.1:80"), "no_route"),
        row(new ConnectException("connect(..) failed: Network is unreachable"), "no_route"),
        row(
            new ConnectException("connect(..) failed: Cannot assign requested address"),
            GeneratorLimit.PORTS),
        row(new BindException("Address already in use"), GeneratorLimit.PORTS),
        row(
            new ChannelException(new IOException("newSocket(..): Too many open files")),
            GeneratorLimit.FILES),
        row(new DecoderException(new OutOfMemoryError("Java heap space")), GeneratorLimit.MEMORY),
        row(
            new OutOfMemoryError("Cannot reserve 1 bytes of direct buffer memory"),
            GeneratorLimit.MEMORY),
        row(new IOException("recvAddress(..) failed: Connection reset by peer"), "reset"),
        row(new IOException("Broken pipe"), "closed_while_sent"),
        row(new IOException("Channel was closed before handshake completed"), "closed"),
        row(new SSLHandshakeException("No name matching localhost found"), "other_host"),
        row(tls(new CertificateException("No subject alternative DNS name")), "other_host"),
        row(
            tls(new CertPathValidatorException(new CertificateExpiredException("NotAfter"))),
            "expired"),
        row(tls(new CertificateNotYetValidException("NotBefore")), "not_yet_valid"),
        row(new SSLHandshakeException("Received fatal alert: protocol_version"), "old_tls"),
        row(new SslHandshakeTimeoutException("handshake timed out after 10000ms"), "no_handshake"),
        row(
            new DecoderException(new SSLHandshakeException("handshake_failure")),
            "tls",
            "handshake_failure"),
        row(
            tls(new CertPathBuilderException("unable to find valid certification path")),
            "untrusted"),
        row(new NotSslRecordException("not an SSL/TLS record: 485454502f312e31"), "no_tls"),
        row(new DecompressionException("no gzip"), "compressed", "no gzip"),
        row(new Http2Exception(Http2Error.PROTOCOL_ERROR, "no"), "http2", "no"),
        row(new IllegalArgumentException("invalid version format: SSH-2.0"), "no_http"),
        row(new TooLongFrameException("HTTP line is larger than 4096 bytes."), "no_http"),
        row(new ProxyConnectException("http, none, status: 407 Who"), "proxy_login"),
        row(new ProxyConnectException("http, none, status: 502 Bad"), "proxy", "status: 502 Bad"),
        row(new ProxyConnectException("timeout"), "proxy"),
        row(new IOException("something new"), "other", "IOException: something new"),
        row(new IllegalStateException(), "other", "IllegalStateException: no message"));
  }

  private static Throwable tls(Throwable cause) {
    return new SSLHandshakeException("General OpenSslEngine problem").initCause(cause);
  }

  private static Arguments row(Throwable failure, String cause) {
    return row(failure, cause, null);
  }

  private static Arguments row(Throwable failure, GeneratorLimit limit) {
    return row(failure, "limit", limit.error());
  }

  private static Arguments row(Throwable failure, String cause, @Nullable Object detail) {
    return Arguments.of(failure, cause, detail);
  }

  @ParameterizedTest
  @MethodSource("failures")
  void cause(Throwable failure, String cause, @Nullable Object detail) {
    Sentence found = ConnectionFailure.cause(failure, false);
    assertThat(found).isEqualTo(Sentence.of("unconnected", cause, detail, false));
    assertThat(ConnectionFailure.reason(failure)).isEqualTo(found.text()).doesNotContain("{", "[");
  }
}
