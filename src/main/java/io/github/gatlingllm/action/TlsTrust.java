package io.github.gatlingllm.action;

import io.gatling.core.config.GatlingConfiguration;
import io.gatling.core.config.SslConfiguration;
import io.gatling.http.util.SslContexts;
import io.gatling.http.util.SslContextsFactory;
import scala.Option;

/**
 * Whom to trust over TLS, whatever Gatling's {@code ssl.useInsecureTrustManager} says; keys, trust
 * store, protocols and ciphers stay those of Gatling's configuration.
 *
 * @param verify whether certificates are checked, and that they are made for the host
 * @param http2 whether HTTP/2 is negotiated
 */
record TlsTrust(boolean verify, boolean http2) {

  /** Builds the contexts; they live as long as the JVM. */
  SslContexts contexts(GatlingConfiguration configuration) {
    SslConfiguration ssl = configuration.ssl();
    SslConfiguration own =
        new SslConfiguration(
            ssl.useOpenSsl(),
            ssl.useOpenSslFinalizers(),
            ssl.handshakeTimeout(),
            !verify,
            ssl.enabledProtocols(),
            ssl.enabledCipherSuites(),
            ssl.sessionCacheSize(),
            ssl.sessionTimeout(),
            ssl.enableSni(),
            ssl.keyManagerFactory(),
            verify ? ssl.trustManagerFactory() : Option.empty());
    return new SslContextsFactory(own, verify).newSslContexts(http2, Option.empty());
  }
}
