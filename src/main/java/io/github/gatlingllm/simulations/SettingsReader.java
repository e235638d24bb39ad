package io.github.gatlingllm.simulations;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.gatlingllm.sample.Slo;
import io.github.gatlingllm.simulations.EndpointSpec.ApiChoice;
import io.github.gatlingllm.simulations.Load.Arrival;
import io.github.gatlingllm.simulations.Load.Level;
import io.github.gatlingllm.simulations.Transport.Connections;
import io.github.gatlingllm.wire.Api;
import io.github.gatlingllm.workload.PromptFile;
import io.github.gatlingllm.workload.PromptPool;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
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

  private static final List<Integer> SWEEP = List.of(1, 2, 4, 8, 16, 32, 64);
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
    Load load = load(targets.isEmpty());
    Ask ask = ask();
    Transport transport = transport();
    Slo slo = slo();
    Long seed = typed.seed(Setting.SEED);
    return new BenchmarkSettings(
        targets,
        api,
        load,
        ask,
        transport,
        slo,
        seed == null ? randomSeed.getAsLong() : seed,
        typed.flag(Setting.RECORD_TEXT, false),
        typed.flag(Setting.RECORD_TOKENS, true),
        typed.flag(Setting.INDEX_BLOCK, true),
        typed.flag(Setting.FAIL_BUILD, true),
        typed.flag(Setting.DRY_RUN, false),
        settings.shown(),
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
    if (targets.size() > 1) {
      throw settings.invalid(
          Setting.ENDPOINT, "several endpoints are not available in this version; expected one");
    }
    return targets;
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

  private Load load(boolean embedded) {
    refuseTogether(Setting.CONCURRENCY, Setting.RATE, "closed loop or open loop");
    refuseTogether(Setting.REQUESTS, Setting.DURATION, "each bounds a level");
    String rate = settings.text(Setting.RATE);
    ArrivalReader reader = new ArrivalReader(settings);
    Arrival arrival = reader.arrival();
    RateCurve curve = reader.curve();
    if (arrival instanceof Load.Replay) {
      refuseTogether(Setting.ARRIVAL, Setting.RATE, "a trace has its own rate");
      refuseTogether(Setting.ARRIVAL, Setting.CONCURRENCY, "closed loop or open loop");
      refuseTogether(Setting.ARRIVAL, Setting.DURATION, "a trace has its own duration");
      refuseTogether(Setting.ARRIVAL, Setting.REQUESTS, "a trace has its own number");
    } else if (arrival != null && rate == null) {
      throw settings.invalid(Setting.ARRIVAL, "only open loops have arrivals; set llm.rate too");
    }
    if (curve != null) {
      refuseTogether(Setting.RATE, Setting.DURATION, "a curve has its own duration");
      refuseTogether(Setting.RATE, Setting.REQUESTS, "a curve has its own duration");
    }
    List<Integer> concurrency = typed.wholes(Setting.CONCURRENCY, 1, embedded ? SWEEP : List.of(8));
    Integer requests =
        settings.isSet(Setting.REQUESTS) ? (Integer) typed.whole(Setting.REQUESTS, 1, 1) : null;
    List<Level> levels;
    if (arrival instanceof Load.Replay recorded) {
      levels = List.of(recorded);
    } else if (curve != null) {
      levels = List.of(new Load.Curve(curve));
    } else {
      levels =
          rate == null
              ? concurrency.stream().<Level>map(Load.Closed::new).toList()
              : typed.rates(Setting.RATE).stream().<Level>map(Load.Open::new).toList();
    }
    if (requests != null && rate == null && concurrency.stream().anyMatch(c -> c > requests)) {
      settings.warn("llm.requests=" + requests + " is below a level's concurrency: never reached");
    }
    return new Load(
        levels,
        arrival == null && rate != null ? new Load.Poisson() : arrival,
        typed.duration(Setting.DURATION, false, Duration.ofSeconds(embedded ? 6 : 30)),
        requests,
        typed.whole(Setting.WARMUP, 0, 1),
        typed.duration(Setting.DRAIN, true, Duration.ofSeconds(30)));
  }

  private Ask ask() {
    return new Ask(
        prompts(),
        typed.flag(Setting.STREAM, true),
        typed.whole(Setting.MAX_TOKENS, 1, 128),
        typed.flag(Setting.IGNORE_EOS, true),
        typed.decimal(Setting.TEMPERATURE, 0, true, Float.MAX_VALUE, "a number ≥ 0"),
        typed.decimal(Setting.TOP_P, 0, false, 1, "a number > 0 and ≤ 1"),
        body(),
        settings.headers());
  }

  private PromptPool prompts() {
    refuseTogether(Setting.PROMPT, Setting.PROMPTS, "a fixed text or a file");
    String text = settings.text(Setting.PROMPT);
    String file = settings.text(Setting.PROMPTS);
    if (file == null) {
      return text == null ? PromptPool.builtIn() : PromptPool.of(text);
    }
    try {
      return PromptFile.read(Path.of(file));
    } catch (InvalidPathException e) {
      throw settings.invalid(Setting.PROMPTS, "expected a path to a readable file");
    } catch (IllegalArgumentException e) {
      throw settings.invalid(Setting.PROMPTS, String.valueOf(e.getMessage()));
    }
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

  private void refuseTogether(Setting a, Setting b, String why) {
    if (settings.isSet(a) && settings.isSet(b)) {
      throw settings.invalid(a, "cannot be set together with " + b.property() + " (" + why + ")");
    }
  }
}
