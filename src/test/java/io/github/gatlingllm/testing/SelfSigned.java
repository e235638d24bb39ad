package io.github.gatlingllm.testing;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** Certificates for 127.0.0.1, made by the JDK's keytool. */
public final class SelfSigned {

  private static final String PASSWORD = "changeit";

  private SelfSigned() {}

  /**
   * A context for a server with that certificate, and for a client that trusts only it.
   *
   * @param folder where the key store is written, e.g. JUnit's {@code @TempDir}
   */
  public static SSLContext sslContext(Path folder)
      throws IOException, InterruptedException, GeneralSecurityException {
    Path file = folder.resolve("self-signed.p12");
    keytool(file, "server", "-startdate", "-1d", "-ext", "san=ip:127.0.0.1,dns:localhost");
    KeyStore store = load(file);
    return context(store, store.getCertificate("server"));
  }

  /**
   * A context for a server whose certificate an intermediate authority signed; {@code trust.p12} in
   * the folder has the root.
   *
   * @param sendsIntermediate whether the server sends the intermediate certificate too
   * @param options of keytool for the server's certificate
   */
  public static SSLContext signed(Path folder, boolean sendsIntermediate, String... options)
      throws IOException, InterruptedException, GeneralSecurityException {
    Path file = folder.resolve("signed.p12");
    String[] root = {"-startdate", "-30d", "-validity", "365", "-ext", "bc:c"};
    keytool(file, "root", root);
    keytool(file, "between", with(root, "-signer", "root"));
    keytool(file, "server", with(options, "-signer", "between"));
    KeyStore store = load(file);
    Key key = store.getKey("server", PASSWORD.toCharArray());
    Certificate[] chain =
        Arrays.copyOf(store.getCertificateChain("server"), sendsIntermediate ? 2 : 1);
    KeyStore sent = KeyStore.getInstance("PKCS12");
    sent.load(null, null);
    sent.setKeyEntry("server", key, PASSWORD.toCharArray(), chain);
    KeyStore trusted = KeyStore.getInstance("PKCS12");
    trusted.load(null, null);
    trusted.setCertificateEntry("root", store.getCertificate("root"));
    try (OutputStream out = Files.newOutputStream(folder.resolve("trust.p12"))) {
      trusted.store(out, PASSWORD.toCharArray());
    }
    return context(sent, store.getCertificate("root"));
  }

  private static String[] with(String[] options, String... more) {
    return Stream.of(options, more).flatMap(Arrays::stream).toArray(String[]::new);
  }

  private static void keytool(Path file, String alias, String... options)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
    command.addAll(List.of("-genkeypair", "-alias", alias, "-dname", "CN=127.0.0.1 " + alias));
    command.addAll(List.of("-keyalg", "EC", "-storetype", "PKCS12", "-storepass", PASSWORD));
    command.addAll(List.of("-keystore", file.toString()));
    command.addAll(List.of(options));
    var unused = JavaCommand.output(new ProcessBuilder(command));
  }

  private static KeyStore load(Path file) throws IOException, GeneralSecurityException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(file)) {
      store.load(in, PASSWORD.toCharArray());
    }
    return store;
  }

  private static SSLContext context(KeyStore store, Certificate authority)
      throws GeneralSecurityException, IOException {
    KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    keys.init(store, PASSWORD.toCharArray());
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    KeyStore trusted = KeyStore.getInstance("PKCS12");
    trusted.load(null, null);
    trusted.setCertificateEntry("server", authority);
    trust.init(trusted);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(keys.getKeyManagers(), trust.getTrustManagers(), null);
    return context;
  }
}
