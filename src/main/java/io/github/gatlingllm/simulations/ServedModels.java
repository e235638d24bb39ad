package io.github.gatlingllm.simulations;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.gatlingllm.client.Secrets;
import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.run.Observers.MetricsPage;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/** The models of a server; unknown if it does not answer {@code GET …/models} as expected. */
final class ServedModels {

  private static final Duration TIMEOUT = Duration.ofSeconds(5);
  private static final int MAX_SHOWN = 10;
  private static final ObjectMapper JSON = new ObjectMapper();

  private ServedModels() {}

  /** Engines that count the tokens of each event where a request asks for it, as their owner. */
  private static final Set<String> EVENT_COUNTERS = Set.of("vllm", "sglang");

  /** Whether the server is known to count the tokens of each event on request. */
  static boolean countsEvents(Target target, Map<String, String> headers, boolean verifyTls) {
    try {
      JsonNode models =
          JSON.readTree(page(target, sent(target, headers), verifyTls).text(TIMEOUT).join());
      for (JsonNode model : models.path("data")) {
        if (EVENT_COUNTERS.contains(model.path("owned_by").asText().toLowerCase(Locale.ROOT))) {
          return true;
        }
      }
    } catch (IOException | CompletionException unknown) {
      // Then it is not asked.
    }
    return false;
  }

  private static Map<String, String> sent(Target target, Map<String, String> headers) {
    Map<String, String> sent = new LinkedHashMap<>();
    if (target.apiKey() != null) {
      sent.put("Authorization", "Bearer " + target.apiKey());
    }
    sent.putAll(headers);
    return sent;
  }

  private static MetricsPage page(Target target, Map<String, String> sent, boolean verifyTls) {
    String url = target.baseUrl() + "/models";
    return new MetricsPage("", URI.create(url), Secrets.redactUrl(url), sent, verifyTls, true);
  }

  /** The only model of the server; null if it has several or they are unknown. */
  static @Nullable String only(Target target, Map<String, String> headers, boolean verifyTls) {
    String url = target.baseUrl() + "/models";
    String shown = Secrets.redactUrl(url);
    Map<String, String> sent = sent(target, headers);
    List<String> models;
    try {
      models = names(page(target, sent, verifyTls).text(TIMEOUT).join());
      List<String> secrets = new ArrayList<>(Secrets.ofUrl(url));
      sent.forEach(
          (name, value) -> secrets.addAll(Secrets.isNamed(name) ? List.of(value) : List.of()));
      Secrets hidden = Secrets.of(secrets);
      // A name is sent and recorded as it is, so one that holds a key is no name.
      models.removeIf(name -> !hidden.redact(name).equals(name));
    } catch (IOException | CompletionException unknown) {
      return null;
    }
    if (models.size() == 1) {
      PrintableText.print("LLM: model " + models.get(0) + ", the only one of " + shown);
      return models.get(0);
    }
    if (models.size() > 1) {
      String more = models.size() > MAX_SHOWN ? ", …" : "";
      String some = String.join(", ", models.subList(0, Math.min(models.size(), MAX_SHOWN)));
      PrintableText.print(
          "LLM: llm.model is not set, so the server decides; " + shown + " has " + some + more);
    }
    return null;
  }

  private static List<String> names(String answer) throws IOException {
    List<String> names = new ArrayList<>();
    for (JsonNode model : JSON.readTree(answer).path("data")) {
      String name = model.path("id").isTextual() ? model.path("id").textValue() : "";
      if (!name.isBlank() && !names.contains(name)) {
        names.add(name);
      }
    }
    return names;
  }
}
