package io.github.gatlingllm.simulations;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.gatlingllm.load.LoadLevel;
import io.github.gatlingllm.record.Assertion;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.simulations.EndpointSpec.ApiChoice;
import io.github.gatlingllm.simulations.Transport.Connections;
import io.github.gatlingllm.stats.AssertionText;
import io.github.gatlingllm.wire.Api;
import io.github.gatlingllm.workload.PromptPrefix;
import io.github.gatlingllm.workload.Tokenizer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Turns texts into {@link BenchmarkSettings} and refuses what is wrong or contradicts itself. Every
 * setting is read whatever the others say, so that no mistake hides behind another setting.
 */
record SettingsReader(Settings settings, TypedSettings typed) {

  private static final ObjectMapper JSON = new ObjectMapper();

  /** Body fields that a setting of its own decides; the measurement relies on them. */
  private static final Map<String, Setting> OWN_FIELDS =
      Map.of(
          "model", Setting.MODEL,
          "stream", Setting.STREAM,
          "messages", Setting.PROMPT,
          "prompt", Setting.PROMPT,
          "max_tokens", Setting.MAX_TOKENS);

  BenchmarkSettings read(LongSupplier randomSeed) {
    ApiChoice choice = typed.choice(Setting.API, ApiChoice.AUTO);
    List<Target> targets = targets(choice.api());
    Api api =
        targets.isEmpty()
            ? choice == ApiChoice.COMPLETIONS ? Api.COMPLETIONS : Api.CHAT
            : targets.get(0).endpoint().api();
    Long pinned = typed.seed(Setting.SEED);
    long seed = pinned == null ? randomSeed.getAsLong() : pinned;
    Load load = new LoadReader(settings, typed).load(targets.isEmpty(), seed);
    Transport transport = transport();
    Slo slo = slo();
    List<Tokenizer> tokenizers = tokenizers(targets.size());
    // Last, because it makes prompts, which takes seconds.
    Ask ask =
        ask(
            leastApi(targets, api),
            new WorkloadReader(settings, typed, tokenizers.get(0), seed, load.expected()));
    return new BenchmarkSettings(
        targets,
        tokenizers,
        interleave(targets, ask.workload()),
        api,
        load,
        ask,
        transport,
        slo,
        assertions(load, slo),
        seed,
        typed.flag(Setting.RECORD_TEXT, false),
        typed.flag(Setting.RECORD_TOKENS, true),
        typed.flag(Setting.CSV, false),
        typed.flag(Setting.INDEX_BLOCK, true),
        typed.flag(Setting.FAIL_BUILD, true),
        typed.flag(Setting.DRY_RUN, false),
        config(ask, tokenizers),
        settings.warnings());
  }

  private List<Target> targets(@Nullable Api asked) {
    List<String> urls = typed.parts(Setting.ENDPOINT);
    List<@Nullable String> models = broadcast(Setting.MODEL, urls.size());
    List<@Nullable String> keys = broadcast(Setting.API_KEY, urls.size());
    List<Target> targets = new ArrayList<>();
    for (int i = 0; i < urls.size(); i++) {
      targets.add(new Target(endpoint(urls.get(i), asked), models.get(i), keys.get(i)));
    }
    return targets;
  }

  /** Completions where any target has no more, for what needs chat. */
  private static Api leastApi(List<Target> targets, Api api) {
    return targets.stream().anyMatch(target -> target.endpoint().api() == Api.COMPLETIONS)
        ? Api.COMPLETIONS
        : api;
  }

  /** What was given, and what could not be kept of it. */
  private Map<String, String> config(Ask ask, List<Tokenizer> tokenizers) {
    Map<String, String> config = new LinkedHashMap<>(settings.shown());
    long misses = ask.workload().misses().count();
    if (misses > 0) {
      config.put("promptsNotExact", misses + " of " + ask.workload().made());
    }
    String sizes = WorkloadPlan.sizedBy(ask, tokenizers);
    if (sizes != null) {
      config.put("promptsSizedBy", sizes);
    }
    return Collections.unmodifiableMap(config);
  }

  private boolean interleave(List<Target> targets, Workload workload) {
    boolean interleave = typed.flag(Setting.INTERLEAVE, false);
    if (interleave && workload.scenarios() > 1) {
      throw settings.invalid(
          Setting.INTERLEAVE, "expected one llm.scenario; several run one after the other");
    }
    if (interleave && targets.size() < 2) {
      settings.warn("llm.interleave has no effect: it needs several endpoints in llm.endpoint");
    }
    return interleave;
  }

  private EndpointSpec endpoint(String url, @Nullable Api asked) {
    EndpointSpec endpoint;
    try {
      endpoint = EndpointSpec.parse(url, asked);
    } catch (IllegalArgumentException e) {
      throw settings.invalid(Setting.ENDPOINT, String.valueOf(e.getMessage()));
    }
    if (endpoint.baseUrl().indexOf('/', "https://".length()) < 0) {
      settings.warn(
          "llm.endpoint has no path: posting to " + endpoint.url() + "; most servers expect /v1");
    }
    return endpoint;
  }

  /** One value for every endpoint, or as many values as endpoints. */
  private List<@Nullable String> broadcast(Setting setting, int endpoints) {
    List<String> values = typed.parts(setting);
    if (endpoints == 0) {
      if (!values.isEmpty()) {
        settings.warn(
            setting.property() + " has no effect: no llm.endpoint, the embedded engine answers");
      }
      return List.of();
    }
    if (setting.isSecret() && values.stream().anyMatch(v -> !v.matches("[\\x21-\\x7e]+"))) {
      throw settings.invalid(setting, "expected visible ASCII without spaces");
    }
    return spread(setting, values, endpoints);
  }

  private List<@Nullable String> spread(Setting setting, List<String> values, int endpoints) {
    if (values.size() > 1 && values.size() != endpoints) {
      throw settings.invalid(
          setting,
          values.size() + " values for " + endpoints + " endpoint(s); expected one, or as many");
    }
    return Stream.iterate(0, i -> i + 1)
        .limit(endpoints)
        .<@Nullable String>map(
            i -> values.isEmpty() ? null : values.get(values.size() == 1 ? 0 : i))
        .toList();
  }

  /**
   * Every name is read once: targets that share a file share its tokenizer. The embedded engine
   * takes four characters for a token.
   */
  private List<Tokenizer> tokenizers(int endpoints) {
    int targets = Math.max(1, endpoints);
    String unset = endpoints == 0 ? "chars4" : "auto";
    Map<String, Tokenizer> byName = new HashMap<>();
    List<Tokenizer> tokenizers = new ArrayList<>();
    for (String name : spread(Setting.TOKENIZER, typed.parts(Setting.TOKENIZER), targets)) {
      try {
        tokenizers.add(byName.computeIfAbsent(name == null ? unset : name, Tokenizer::parse));
      } catch (IllegalArgumentException e) {
        throw settings.invalid(Setting.TOKENIZER, String.valueOf(e.getMessage()));
      }
    }
    return tokenizers;
  }

  private Ask ask(Api api, WorkloadReader reader) {
    PromptPrefix prefix = reader.prefix();
    return new Ask(
        reader.workload(api, prefix),
        prefix,
        typed.flag(Setting.STREAM, true),
        typed.whole(Setting.MAX_TOKENS, 1, 128),
        typed.flag(Setting.IGNORE_EOS, true),
        typed.decimal(Setting.TEMPERATURE, 0, true, Float.MAX_VALUE, "a number ≥ 0"),
        typed.decimal(Setting.TOP_P, 0, false, 1, "a number > 0 and ≤ 1"),
        body(),
        settings.headers());
  }

  private ObjectNode body() {
    String text = settings.text(Setting.BODY);
    if (text == null) {
      return JSON.createObjectNode();
    }
    JsonNode node;
    try {
      node = JSON.readTree(text);
    } catch (JsonProcessingException e) {
      node = JSON.missingNode();
    }
    if (!(node instanceof ObjectNode body)) {
      throw settings.invalid(Setting.BODY, "expected a JSON object such as {\"top_k\":40}");
    }
    OWN_FIELDS.forEach(
        (field, setting) -> {
          if (body.has(field)) {
            throw settings.invalid(
                Setting.BODY, "expected no \"" + field + "\"; use " + setting.property());
          }
        });
    return body;
  }

  private Transport transport() {
    return new Transport(
        typed.duration(Setting.TIMEOUT, false, Duration.ofMinutes(10)),
        typed.duration(Setting.IDLE_TIMEOUT, false, Duration.ofMinutes(2)),
        settings.isSet(Setting.MAX_IN_FLIGHT)
            ? (Integer) typed.whole(Setting.MAX_IN_FLIGHT, 1, 1)
            : null,
        typed.flag(Setting.VERIFY_TLS, true),
        typed.choice(Setting.CONNECTIONS, Connections.SHARED));
  }

  private Slo slo() {
    String text = settings.text(Setting.SLO);
    Double percentile =
        typed.decimal(Setting.SLO_PERCENTILE, 0, false, 100, "a percentage > 0 and ≤ 100");
    if (text == null) {
      if (percentile != null) {
        throw settings.invalid(Setting.SLO_PERCENTILE, "has no meaning alone; set llm.slo too");
      }
      return Slo.NONE;
    }
    try {
      return Slo.parse(text, percentile == null ? Slo.NONE.percentile() : percentile);
    } catch (NumberFormatException e) {
      throw settings.invalid(Setting.SLO, "expected limits such as ttft<200ms,tpot<50ms,e2e<10s");
    } catch (IllegalArgumentException e) {
      throw settings.invalid(Setting.SLO, String.valueOf(e.getMessage()));
    }
  }

  private List<Assertion> assertions(Load load, Slo slo) {
    List<Assertion> assertions = new ArrayList<>();
    for (String part : typed.parts(Setting.ASSERT)) {
      try {
        assertions.add(AssertionText.parse(part));
      } catch (IllegalArgumentException e) {
        throw settings.invalid(Setting.ASSERT, String.valueOf(e.getMessage()));
      }
    }
    if (slo.isEmpty() && assertions.stream().anyMatch(Assertion::needsSlo)) {
      throw settings.invalid(Setting.ASSERT, "has no SLO to judge; set llm.slo too");
    }
    List<String> stages = load.levels().stream().map(LoadLevel::label).toList();
    for (Assertion assertion : assertions) {
      if (assertion.name() != null && !load.search() && !stages.contains(assertion.name())) {
        throw settings.invalid(
            Setting.ASSERT,
            "no stage is called '%s'; expected %s"
                .formatted(assertion.name(), String.join(", ", stages)));
      }
    }
    return assertions;
  }
}
