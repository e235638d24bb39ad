package io.github.gatlingllm.simulations;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.gatlingllm.client.Secrets;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.Proxy;
import java.net.URI;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.net.ssl.HttpsURLConnection;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * The models of a server, read with {@code GET …/models} before the load if no model is set. A
 * server that does not answer as expected counts as a server whose models are unknown.
 */
final class ServedModels {

  private static final int TIMEOUT_MILLIS = 5_000;
  private static final int MAX_BYTES = 1 << 20;
  private static final int MAX_SHOWN = 10;
  private static final ObjectMapper JSON = new ObjectMapper();

  private ServedModels() {}

  /** The only model of the server; null if it has several or they are unknown. */
  static @Nullable String only(Target target, Map<String, String> headers, boolean verifyTls) {
    String url = target.endpoint().baseUrl() + "/models";
    List<String> models;
    try {
      models = names(url, target, headers, verifyTls);
    } catch (IOException | GeneralSecurityException | RuntimeException unknown) {
      return null;
    }
    String shown = Secrets.redactUrl(url);
    if (models.size() == 1) {
      System.out.println("LLM: model " + models.get(0) + ", the only one of " + shown);
      return models.get(0);
    }
    if (models.size() > 1) {
      String more = models.size() > MAX_SHOWN ? ", …" : "";
      String some = String.join(", ", models.subList(0, Math.min(models.size(), MAX_SHOWN)));
      System.out.println(
          "LLM: llm.model is not set, so the server decides; " + shown + " has " + some + more);
    }
    return null;
  }

  private static List<String> names(
      String url, Target target, Map<String, String> headers, boolean verifyTls)
      throws IOException, GeneralSecurityException {
    HttpURLConnection get =
        (HttpURLConnection) URI.create(url).toURL().openConnection(Proxy.NO_PROXY);
    get.setConnectTimeout(TIMEOUT_MILLIS);
    get.setReadTimeout(TIMEOUT_MILLIS);
    get.setInstanceFollowRedirects(false);
    get.setRequestProperty("Connection", "close");
    if (target.apiKey() != null) {
      get.setRequestProperty("Authorization", "Bearer " + target.apiKey());
    }
    headers.forEach(get::setRequestProperty);
    if (get instanceof HttpsURLConnection tls && !verifyTls) {
      trustAll(tls);
    }
    try {
      if (get.getResponseCode() != HttpURLConnection.HTTP_OK) {
        return List.of();
      }
      try (InputStream body = get.getInputStream()) {
        List<String> names = new ArrayList<>();
        for (JsonNode model : JSON.readTree(body.readNBytes(MAX_BYTES)).path("data")) {
          if (model.path("id").isTextual() && !model.path("id").textValue().isBlank()) {
            names.add(model.path("id").textValue());
          }
        }
        return names.stream().distinct().toList();
      }
    } finally {
      get.disconnect();
    }
  }

  /** Accepts any certificate, as the load's own requests do without {@code verifyTls}. */
  private static void trustAll(HttpsURLConnection connection) throws GeneralSecurityException {
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, InsecureTrustManagerFactory.INSTANCE.getTrustManagers(), null);
    connection.setSSLSocketFactory(context.getSocketFactory());
    connection.setHostnameVerifier((host, session) -> true);
  }
}
