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
import java.util.Map;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/** The models of a server; unknown if it does not answer {@code GET …/models} as expected. */
final class ServedModels {

  private static final Duration TIMEOUT = Duration.ofSeconds(5);
  private static final int MAX_SHOWN = 10;
  private static final ObjectMapper JSON = new ObjectMapper();

  private ServedModels() {}

  /** The only model of the server; null if it has several or they are unknown. */
  static @Nullable String only(Target target, Map<String, String> headers, boolean verifyTls) {
    String url = target.baseUrl() + "/models";
    String shown = Secrets.redactUrl(url);
    Map<String, String> sent = new LinkedHashMap<>();
    if (target.apiKey() != null) {
      sent.put("Authorization", "Bearer " + target.apiKey());
    }
    sent.putAll(headers);
    List<String> models;
    try {
      MetricsPage page = new MetricsPage("", URI.create(url), shown, sent, verifyTls, true);
      models = names(page.text(TIMEOUT).join());
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
