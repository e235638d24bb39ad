package io.github.gatlingllm.action;

import static java.util.stream.Collectors.joining;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import io.github.gatlingllm.client.Api;
import io.github.gatlingllm.client.Api.AddedField;
import io.github.gatlingllm.client.Secrets;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.record.ConfigKey;
import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.StartCommand;
import io.github.gatlingllm.run.MetricsPage;
import io.github.gatlingllm.settings.Setting;
import io.github.gatlingllm.settings.SettingValue.WeightedModel;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What the server of a target is and has, by its pages and its answer to the first request. A run
 * prints some of it in a line before the load, the command {@code probe} all of it in ten.
 */
final class ServerFacts {

  static final String NEXT_LEVELS = "1,2,4,8,16";

  private static final Duration TIMEOUT = Duration.ofSeconds(2);
  private static final String METRICS = "/metrics";

  /** Servers that count their tokens in each event on request. */
  private static final Set<String> COUNTING = Set.of("vllm", "sglang");

  /** A line of a metrics page, which a page of HTML is not. */
  private static final Pattern METRIC =
      Pattern.compile("^(?:# (?:TYPE|HELP) \\S|[\\w:]+(?:\\{.*})? [-+.\\dNI])", Pattern.MULTILINE);

  private static final ObjectMapper JSON = new ObjectMapper();

  /**
   * An engine, and where it tells what it is.
   *
   * @param sign in the list of its models or in its metrics
   * @param pages that have its version and the length of its context, at these pointers
   * @param isOwn whether no other engine has such a page, so that it tells the engine too
   */
  private record Engine(
      String name,
      Pattern sign,
      List<String> pages,
      String version,
      String context,
      boolean isOwn) {

    static Engine parse(String row) {
      String[] cells = row.split("\\s*\\|\\s*", -1);
      String owner = "\"owned_by\"\\s*:\\s*\"" + orNone(cells[1]);
      return new Engine(
          cells[0],
          Pattern.compile(owner + "|^" + orNone(cells[2]), Pattern.MULTILINE),
          cells[3].isEmpty() ? List.of() : List.of(cells[3].split(" ", -1)),
          cells[4],
          cells[5],
          !cells[3].matches("/(version|info)|"));
    }

    private static String orNone(String text) {
      return text.isEmpty() ? "(?!)" : text;
    }
  }

  /** The embedded engine, whose metrics have vLLM's names, is the first. */
  private static final List<Engine> ENGINES =
      """
      gatling-llm  | gatling-llm        |                   |                    |             |
      vllm         | vllm               | vllm:             | /version           | /version    |
      sglang       | sglang             | sglang:           | /get_server_info   | /version    | /context_length
      llama.cpp    | llamacpp           | llamacpp:         | /props             | /build_info | /default_generation_settings/n_ctx
      tensorrt-llm | tensorrt_llm       | trtllm_           | /version           | /version    |
      tgi          |                    | tgi_              | /info              | /version    | /max_total_tokens
      ollama       | library"           |                   | /api/version /api/ps | /version  | /models/0/context_length
      lm-studio    | organization_owner |                   | /api/v0/models     |             | /data/0/loaded_context_length
      dynamo       | nvidia             | dynamo_frontend_  |                    |             |
      """
          .lines()
          .map(Engine::parse)
          .toList();

  /** The facts: id in JSON, line of the text, name in that line. */
  private static final String ROWS =
      """
      endpoint||
      api||
      engine|engine|
      engine_version|engine|version
      model|model|
      models|model|listed
      context_tokens|context|
      template_tokens|template|
      usage|fields|usage
      stream_options|fields|stream_options
      ignore_eos|fields|ignore_eos
      tokenize|pages|/tokenize
      metrics|pages|/metrics
      http2|connections|HTTP/2
      keep_alive|connections|keep-alive
      ttft_ms|TTFT|
      round_trip_ms|round trip|
      next|next|
      """;

  /** Those that a run states too. */
  private static final Set<String> OF_RUN =
      Set.of(
          "engine",
          "engine_version",
          "model",
          "context_tokens",
          "template_tokens",
          "round_trip_ms");

  /**
   * A fact; of one that is not known the value is null.
   *
   * @param line of the text that has it, which may have several; empty for none
   * @param name in that line; empty where the line has the same name
   */
  private record Fact(String id, String line, String name, @Nullable Object value) {

    private String text() {
      if (value instanceof Boolean is) {
        return is ? "yes" : "no";
      } else if (value instanceof Double millis) {
        return NumberText.ms(millis);
      } else if (value instanceof Integer tokens) {
        return NumberText.counted(tokens, "token");
      } else if (value instanceof List<?> names) {
        return names.isEmpty()
            ? "none"
            : NumberText.some(names.stream().map(String::valueOf).toList());
      }
      return value == null ? "not known" : value.toString();
    }

    private String named() {
      return (name.isEmpty() ? "" : name + " ") + text();
    }
  }

  final LlmProtocol protocol;

  /** The text of each page that has answered, by its path. */
  private final Map<String, String> pages = new LinkedHashMap<>();

  private @Nullable Engine engine;
  private @Nullable Boolean http2;
  private List<Fact> facts = List.of();

  private ServerFacts(LlmProtocol protocol) {
    this.protocol = protocol;
  }

  /**
   * Reads the server's pages, unless there is no first request either; of a run that is not a probe
   * only those of an engine that is known.
   */
  static ServerFacts read(LlmProtocol protocol, boolean isProbe) {
    ServerFacts facts = new ServerFacts(protocol);
    if (protocol.get(Setting.WARMUP) > 0 && !LlmProtocol.isDryRun()) {
      facts.readAll(isProbe);
    }
    return facts;
  }

  private void readAll(boolean isProbe) {
    List<MetricsPage> requested = new ArrayList<>(protocol.metricsPages());
    // Pages of GPUs and hosts do not tell the engine.
    List<String> servers =
        protocol.baseUrls().stream().map(base -> URI.create(base).getAuthority()).toList();
    requested.removeIf(page -> !servers.contains(page.uri().getAuthority()));
    List<MetricsPage> ready = ReadyWait.pages(protocol);
    requested.addAll(ready);
    read(requested);
    String all = String.join("\n", pages.values());
    engine = find(each -> each.sign.matcher(all).find());
    URI server = URI.create(protocol.baseUrls().get(0).split("\\?", 2)[0]);
    Stream<String> own =
        ENGINES.stream()
            .filter(each -> isProbe || each.equals(engine))
            .flatMap(each -> each.pages.stream())
            .distinct();
    read(protocol.pages(own.map(page -> server.resolve(page).toString()).toList()));
    if (engine == null) {
      engine =
          find(each -> each.isOwn && (version(each) != null || value(each, each.context) != null));
    }
    http2 = isProbe ? (Boolean) ready.get(ready.size() - 1).isHttp2(TIMEOUT) : null;
  }

  private static @Nullable Engine find(Predicate<Engine> as) {
    return ENGINES.stream().filter(as).findFirst().orElse(null);
  }

  private void read(List<MetricsPage> requested) {
    List<CompletableFuture<String>> texts =
        requested.stream().map(page -> page.text(TIMEOUT).exceptionally(missing -> "")).toList();
    for (int i = 0; i < requested.size(); i++) {
      pages.merge(
          requested.get(i).uri().getPath(), texts.get(i).join(), (a, b) -> a.isEmpty() ? b : a);
    }
  }

  /** The protocol with what its server is known to do, unless it states itself. */
  LlmProtocol decided() {
    boolean isOpen =
        protocol.eventTokens() == null
            && !Boolean.FALSE.equals(protocol.get(Setting.INCLUDE_USAGE));
    return isOpen && engine != null && COUNTING.contains(engine.name)
        ? protocol.with(ProtocolPart.COUNTS_EVENTS, true)
        : protocol;
  }

  private @Nullable String version(Engine of) {
    return value(of, of.version) instanceof String text ? text : null;
  }

  private @Nullable Object value(Engine of, String pointer) {
    for (String page : pointer.isEmpty() ? List.<String>of() : of.pages) {
      Object value = value(json(page).at(pointer));
      if (value != null) {
        return value;
      }
    }
    return null;
  }

  private static @Nullable Object value(JsonNode node) {
    return node.isInt() && node.intValue() > 0
        ? (Integer) node.intValue()
        : node.isTextual() && !node.textValue().isBlank() ? node.textValue() : null;
  }

  private JsonNode json(String page) {
    try {
      return JSON.readTree(pages.getOrDefault(page, ""));
    } catch (JsonProcessingException e) {
      return MissingNode.getInstance();
    }
  }

  private @Nullable Object context(JsonNode models, @Nullable String model) {
    for (JsonNode each : models) {
      Integer tokens = MetricsPage.contextOf(each);
      if (tokens != null && (models.size() == 1 || each.path("id").asText().equals(model))) {
        return tokens;
      }
    }
    return engine == null ? null : value(engine, engine.context);
  }

  /**
   * Adds all facts, in the order of their lines, after the first request.
   *
   * @param first the record of the first request that was answered
   * @param template tokens that the chat template adds; null where that is not known
   * @param rejected what the server has rejected before
   * @param isKept whether the connection stayed open after the answer; null where not awaited
   * @param next the command to go on with
   */
  ServerFacts with(
      RequestRecord first,
      @Nullable Integer template,
      Set<AddedField> rejected,
      @Nullable Boolean isKept,
      String next) {
    RequestRecord.Identity sent = first.identity();
    RequestRecord.Tokens tokens = first.tokens();
    String model =
        protocol.models().isEmpty() ? sent.model() : WeightedModel.shares(protocol.models());
    String source = protocol.notes().get(ConfigKey.TOKENIZER_SOURCE.name);
    boolean hasOptions = sent.streamed() && Api.of(sent.api()).hasStreamOptions();
    Integer limit = protocol.pinsOutput() ? tokens.maxTokens() : null;
    boolean isTaken = !rejected.contains(AddedField.PINNING);
    boolean hasMetrics = METRIC.matcher(pages.getOrDefault(METRICS, "")).find();
    String list = pages.keySet().stream().filter(p -> p.endsWith("/models")).findFirst().orElse("");
    JsonNode models = json(list).path("data");
    List<String> listed = new ArrayList<>();
    models.forEach(each -> listed.add(each.path("id").asText()));
    List<@Nullable Object> values =
        Arrays.asList(
            Secrets.redactUrl(sent.endpoint()),
            sent.api(),
            engine == null ? null : engine.name,
            engine == null ? null : version(engine),
            model,
            listed,
            context(models, model),
            template,
            tokens.promptTokens() != null,
            hasOptions ? (Boolean) !rejected.contains(AddedField.USAGE) : null,
            limit == null ? null : (Boolean) (isTaken && limit.equals(tokens.n())),
            source == null ? null : (Boolean) source.startsWith("http"),
            pages.containsKey(METRICS) ? (Boolean) hasMetrics : null,
            http2,
            isKept,
            millis(first.timing().ttftNanos()),
            millis(first.timing().roundTripNanos()),
            next);
    List<Fact> all = new ArrayList<>();
    for (String row : ROWS.lines().toList()) {
      String[] cells = row.split("\\|", -1);
      boolean isShown = model == null || !cells[0].equals("models");
      all.add(new Fact(cells[0], isShown ? cells[1] : "", cells[2], values.get(all.size())));
    }
    facts = all;
    return this;
  }

  private static @Nullable Double millis(@Nullable Long nanos) {
    return nanos == null ? null : (Double) (Math.round(nanos / 1e3) / 1e3);
  }

  /** Facts that matter before a load, in one line; empty where none is known. */
  String line(String target) {
    String known =
        facts.stream()
            .filter(fact -> fact.value != null && OF_RUN.contains(fact.id))
            .map(fact -> fact.line.equals("engine") ? fact.named() : fact.line + " " + fact.text())
            .collect(joining(", "));
    return known.isEmpty() ? "" : "LLM server " + target + ": " + known;
  }

  /** By their ids; null for those that are not known. */
  Map<String, @Nullable Object> values() {
    Map<String, @Nullable Object> values = new LinkedHashMap<>();
    facts.forEach(fact -> values.put(fact.id, fact.value));
    return values;
  }

  /** Writes them where the command {@code probe} expects them; the exit code of its process. */
  int write() {
    Map<String, String> lines = new LinkedHashMap<>();
    for (Fact fact : facts) {
      lines.merge(fact.line, fact.named(), (some, other) -> some + ", " + other);
    }
    lines.remove("");
    String text =
        lines.entrySet().stream()
            .map(line -> String.format(Locale.ROOT, "%-14s %s", line.getKey(), line.getValue()))
            .collect(joining("\n"));
    String file = System.getProperty(StartCommand.PROBE);
    try {
      boolean asJson = file.endsWith(".json");
      Files.writeString(Path.of(file), asJson ? JSON.valueToTree(values()).toPrettyString() : text);
      return 0;
    } catch (IOException e) {
      PrintableText.print("probe: " + RunFiles.message(e));
      return 1;
    }
  }
}
