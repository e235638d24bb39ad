package io.github.gatlingllm.simulations;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.gatlingllm.client.Secrets;
import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.run.MetricsPage;
import io.github.gatlingllm.settings.TargetSpec;
import io.github.gatlingllm.simulations.Benchmark.LocalServer;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The models of a server; none if it does not answer {@code GET …/models} as expected.
 *
 * @param page where they are listed, for people
 * @param contexts the longest context of each in tokens; null where that is not told
 */
record ServedModels(String page, Map<String, @Nullable Integer> contexts) {

  private static final Duration TIMEOUT = Duration.ofSeconds(5);
  private static final int MAX_SHOWN = 10;
  private static final ObjectMapper JSON = new ObjectMapper();

  static ServedModels of(TargetSpec target, Map<String, String> headers, boolean verifyTls) {
    String url = target.baseUrl() + "/models";
    String shown = Secrets.redactUrl(url);
    Map<String, String> sent = new LinkedHashMap<>();
    if (target.apiKey() != null) {
      sent.put("Authorization", "Bearer " + target.apiKey());
    }
    sent.putAll(headers);
    Map<String, @Nullable Integer> contexts = new LinkedHashMap<>();
    try {
      MetricsPage page = new MetricsPage("", URI.create(url), shown, sent, verifyTls, true);
      contexts.putAll(contexts(page.text(TIMEOUT).join()));
      List<String> secrets = new ArrayList<>(Secrets.ofUrl(url));
      sent.forEach(
          (name, value) -> secrets.addAll(Secrets.isNamed(name) ? List.of(value) : List.of()));
      Secrets hidden = Secrets.of(secrets);
      // A name is sent and recorded as it is, so one that has a key is not a name.
      contexts.keySet().removeIf(name -> !hidden.redact(name).equals(name));
    } catch (IOException | CompletionException unknown) {
      contexts.clear();
    }
    return new ServedModels(shown, contexts);
  }

  /** The context of each model in a list, in its order. */
  private static Map<String, @Nullable Integer> contexts(String list) throws IOException {
    Map<String, @Nullable Integer> contexts = new LinkedHashMap<>();
    for (JsonNode model : JSON.readTree(list).path("data")) {
      String name = model.path("id").isTextual() ? model.path("id").textValue() : "";
      if (!name.isBlank()) {
        contexts.putIfAbsent(name, MetricsPage.contextOf(model));
      }
    }
    return contexts;
  }

  /** The only model of the server; null if it has several or they are unknown. */
  @Nullable String only() {
    return contexts.size() == 1 ? contexts.keySet().iterator().next() : null;
  }

  /** The context of a model, or of the only one, as an alias may not be listed. */
  @Nullable Integer context(@Nullable String model) {
    return contexts.get(model != null && contexts.containsKey(model) ? model : only());
  }

  /** Prints which model is requested where none is set. */
  void print() {
    if (contexts.size() == 1) {
      PrintableText.print("LLM: model " + only() + ", the only one of " + page);
    } else if (contexts.size() > 1) {
      PrintableText.print(
          "LLM: llm.model is not set, so the server decides; %s has %s%s"
              .formatted(
                  page,
                  contexts.keySet().stream().limit(MAX_SHOWN).collect(Collectors.joining(", ")),
                  contexts.size() > MAX_SHOWN ? ", …" : ""));
    }
  }

  /**
   * The servers of this machine at ports that engines have by default, queried at the same time.
   */
  static List<LocalServer> at(Map<Integer, String> ports) {
    Map<String, CompletableFuture<String>> answers = new LinkedHashMap<>();
    ports
        .keySet()
        .forEach(
            port -> {
              String base = "http://127.0.0.1:" + port + "/v1";
              URI models = URI.create(base + "/models");
              answers.put(
                  base,
                  new MetricsPage("", models, base, Map.of(), false, true)
                      .text(ModelTokenizers.TIMEOUT));
            });
    List<LocalServer> servers = new ArrayList<>();
    answers.forEach(
        (base, answer) -> {
          List<String> models = List.of();
          String refusal = null;
          try {
            models = List.copyOf(contexts(answer.join()).keySet());
            refusal = models.isEmpty() ? "no list of models" : null;
          } catch (IOException | CompletionException e) {
            refusal = e instanceof IOException ? "no list of models" : e.getMessage();
          }
          if (!"no connection".equals(refusal)) {
            String usual = Objects.requireNonNull(ports.get(URI.create(base).getPort()));
            servers.add(new LocalServer(base, usual, models, refusal));
          }
        });
    return servers;
  }
}
