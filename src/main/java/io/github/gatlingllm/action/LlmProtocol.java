package io.github.gatlingllm.action;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gatling.core.protocol.Protocol;
import io.gatling.javaapi.core.PopulationBuilder;
import io.github.gatlingllm.client.Api;
import io.github.gatlingllm.client.Secrets;
import io.github.gatlingllm.load.Seed;
import io.github.gatlingllm.record.ConfigKey;
import io.github.gatlingllm.record.Objectives.Assertion;
import io.github.gatlingllm.record.ProcessSetting;
import io.github.gatlingllm.record.RunInfo.ReportOptions;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.run.MetricsPage;
import io.github.gatlingllm.settings.AgentX;
import io.github.gatlingllm.settings.Setting;
import io.github.gatlingllm.settings.Setting.SettingTrait;
import io.github.gatlingllm.settings.SettingValue.Slos;
import io.github.gatlingllm.settings.SettingValue.WeightedModel;
import io.github.gatlingllm.settings.Settings;
import io.github.gatlingllm.workload.PromptPrefix;
import io.github.gatlingllm.workload.Tokenizer;
import java.net.URI;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The settings of all requests to one target, which {@code javaapi.LlmProtocolBuilder} documents: a
 * value for each row of the catalogue that is of a protocol, and for each {@link ProtocolPart} that
 * only code can state. Immutable; equal protocols share a gate.
 */
public final class LlmProtocol implements Protocol {

  private static final ProcessSetting DRY_RUN = new ProcessSetting(Setting.DRY_RUN.property());

  /** That Gatling has replaced by the next one in the same call, or seems to. */
  private static final List<LlmProtocol> REPLACED = new ArrayList<>();

  private static @Nullable LlmProtocol lastTaken;
  private static List<String> lastPlace = List.of();

  /** Limit of the gate in the JVM warm-up: so low that requests wait, as that is warmed too. */
  private static final int WARM_UP_GATE = 16;

  static final LlmProtocol DEFAULT = new LlmProtocol(Map.of());

  static {
    Versions.requireGatling();
    InvalidSimulation.installFilter();
  }

  /** By row of the catalogue or part; only what is not the default in code. */
  private final Map<Object, @Nullable Object> values;

  /** Derived once, as each request reads them. */
  private final @Nullable String extraBody;

  private final PromptPrefix prefix;

  /** The headers whose values are secrets, by their names. */
  private final List<Dynamic<String>> secretHeaders;

  private LlmProtocol(Map<Object, @Nullable Object> values) {
    this.values = values;
    ObjectNode body = get(Setting.BODY);
    extraBody = body.isEmpty() ? null : body.toString();
    secretHeaders = secretsOf(headers());
    PromptPrefix.Shared shared = get(Setting.SHARED_PREFIX);
    prefix =
        shared != null
            ? shared.seed(prefixSeed())
            : get(Setting.UNIQUE_PROMPTS)
                ? new PromptPrefix.Unique(prefixSeed())
                : PromptPrefix.NONE;
  }

  /** One that sets nothing, which is not that of a simulation without an llm protocol. */
  public static LlmProtocol ofSimulation() {
    return new LlmProtocol(Map.of());
  }

  @SuppressWarnings("unchecked") // the map holds the value of each row by that row
  public <T extends @Nullable Object> T get(Setting<T> row) {
    return values.containsKey(row) ? (T) values.get(row) : row.defaultInCode();
  }

  @SuppressWarnings("unchecked")
  public <T extends @Nullable Object> T get(ProtocolPart<T> part) {
    return values.containsKey(part) ? (T) values.get(part) : part.byDefault();
  }

  /** Whether a row does not have its default. */
  boolean isSet(Setting<?> row) {
    return values.containsKey(row);
  }

  /** Sets a row; one that the catalogue excludes with it has its default again. */
  public <T extends @Nullable Object> LlmProtocol with(Setting<T> row, T value) {
    Map<Object, @Nullable Object> changed = new HashMap<>(values);
    changed.keySet().removeIf(each -> each instanceof Setting<?> set && set.isExcludedBy(row));
    return with(changed, row, value, row.defaultInCode());
  }

  public <T extends @Nullable Object> LlmProtocol with(ProtocolPart<T> part, T value) {
    return with(new HashMap<>(values), part, value, part.byDefault());
  }

  /** A row with the value that it has in these settings. */
  public <T extends @Nullable Object> LlmProtocol with(Settings settings, Setting<T> row) {
    return with(row, settings.get(row));
  }

  private static LlmProtocol with(
      Map<Object, @Nullable Object> changed,
      Object key,
      @Nullable Object value,
      @Nullable Object byDefault) {
    if (value == null ? byDefault == null : value.equals(byDefault)) {
      changed.remove(key);
    } else {
      changed.put(key, value);
    }
    return new LlmProtocol(changed);
  }

  /**
   * Called where Gatling takes a protocol: of two in one call of a population's {@code
   * protocols(…)} it retains the last only, without a message. Such a call takes both, one after
   * the other, from the same place; a loop that gives each population its protocol does so too, but
   * uses all of them.
   */
  public LlmProtocol taken() {
    List<String> place =
        StackWalker.getInstance()
            .walk(
                frames ->
                    frames
                        .dropWhile(
                            each -> !each.getClassName().equals(PopulationBuilder.class.getName()))
                        .map(each -> each.toStackTraceElement() + " " + each.getByteCodeIndex())
                        .toList());
    synchronized (REPLACED) {
      if (lastTaken != null
          && !lastTaken.equals(this)
          && !place.isEmpty()
          && place.equals(lastPlace)) {
        REPLACED.add(lastTaken);
      }
      lastTaken = this;
      lastPlace = place;
    }
    return this;
  }

  /** Refuses a simulation in which a protocol that another follows serves no scenario. */
  static void requireNoneReplaced(List<LlmProtocol> used) {
    synchronized (REPLACED) {
      List<LlmProtocol> replaced = List.copyOf(REPLACED);
      REPLACED.clear();
      if (!used.isEmpty() && !used.containsAll(replaced)) {
        throw InvalidSimulation.because(InvalidSimulation.TWO_PROTOCOLS);
      }
    }
  }

  public String target() {
    return get(ProtocolPart.TARGET);
  }

  public List<String> baseUrls() {
    return get(ProtocolPart.BASE_URLS);
  }

  public @Nullable Dynamic<String> apiKey() {
    return get(ProtocolPart.API_KEY);
  }

  public @Nullable Dynamic<String> model() {
    return get(ProtocolPart.MODEL);
  }

  public List<WeightedModel> models() {
    return get(ProtocolPart.MODELS);
  }

  public Map<String, Dynamic<String>> headers() {
    return get(ProtocolPart.HEADERS);
  }

  public boolean shareConnections() {
    return get(Setting.CONNECTIONS).equals("shared");
  }

  /** Whether output lengths are pinned, at least until the server rejects the fields. */
  boolean pinsOutput() {
    return !Boolean.FALSE.equals(get(Setting.IGNORE_EOS));
  }

  /** The field of the output length in chat completions; null until the server refuses one. */
  public @Nullable String maxTokensField() {
    String name = get(Setting.MAX_TOKENS_FIELD);
    return name.equals("auto") ? null : name;
  }

  /** Whether the tokens of each event are requested; null for: of servers known to count them. */
  public @Nullable Boolean eventTokens() {
    String who = get(Setting.EVENT_TOKENS);
    return who.equals("auto") ? null : (Boolean) who.equals("server");
  }

  public @Nullable String extraBody() {
    return extraBody;
  }

  public PromptPrefix prefix() {
    return prefix;
  }

  List<Dynamic<String>> secretHeaders() {
    return secretHeaders;
  }

  static List<Dynamic<String>> secretsOf(Map<String, Dynamic<String>> headers) {
    return headers.entrySet().stream()
        .filter(header -> Secrets.isNamed(header.getKey()))
        .map(Map.Entry::getValue)
        .toList();
  }

  public Slo slo() {
    return get(Setting.SLO).all();
  }

  public Map<String, Slo> sloByName() {
    return get(Setting.SLO).named();
  }

  public List<Assertion> assertions() {
    return get(Setting.ASSERT);
  }

  public List<String> metricsUrls() {
    List<String> urls =
        get(Setting.METRICS_URL).stream()
            .map(
                page ->
                    label().equals(page.name())
                        ? page.url()
                        : Objects.requireNonNullElse(
                            MetricsPage.inRole(page.name(), page.url()), page.url()))
            .toList();
    return MetricsPage.check(urls.isEmpty() ? List.of(MetricsPage.NONE) : urls);
  }

  public ReportOptions report() {
    return new ReportOptions(
        get(Setting.CSV),
        get(Setting.FAIL_BUILD),
        get(Setting.FAIL_ON_INVALID),
        get(Setting.READING_SPEED));
  }

  public @Nullable Long seed() {
    return get(Setting.SEED);
  }

  public Tokenizer tokenizer() {
    return get(Setting.TOKENIZER).get(0);
  }

  public Map<String, String> notes() {
    return get(ProtocolPart.NOTES);
  }

  /** Whether the setting {@code dryRun} is on: the plan is printed and nothing is sent. */
  public static boolean isDryRun() {
    return InvalidSimulation.checked(() -> DRY_RUN.isTrue(false));
  }

  /** Whether the simulation has no llm protocol. */
  @SuppressWarnings("ReferenceEquality") // one that sets nothing is a protocol of the user
  boolean isDefault() {
    return this == DEFAULT;
  }

  /** A protocol that completes and overrides the one of the entire simulation, where it has one. */
  public LlmProtocol completing(UnaryOperator<LlmProtocol> changes) {
    return with(ProtocolPart.CHANGES, changes);
  }

  LlmProtocol over(@Nullable LlmProtocol common) {
    UnaryOperator<LlmProtocol> changes = get(ProtocolPart.CHANGES);
    return (changes == null || common == null ? this : changes.apply(common))
        .with(ProtocolPart.CHANGES, null);
  }

  /** This protocol, which has all that a load needs. */
  public LlmProtocol complete() {
    if (baseUrls().isEmpty()) {
      throw InvalidSimulation.because(
          "the llm protocol has no base URL; set one: llm.baseUrl(\"http://localhost:8000/v1\")");
    }
    if (!hasSlo() && assertions().stream().anyMatch(Assertion::needsSlo)) {
      throw InvalidSimulation.because(
          "an assertion on goodput has no SLO to judge; set one: .slo(slo().ttft(200)) or llm.slo");
    }
    Slos slos = get(Setting.SLO);
    if (!slos.tiers().isEmpty() && !slos.named().isEmpty()) {
      throw InvalidSimulation.because(
          "requests named %s have an SLO beside the tiers; expected one of the two"
              .formatted(slos.named().keySet()));
    }
    for (Assertion gate : assertions()) {
      if (gate.tier() != null && !slos.tiers().containsKey(gate.tier())) {
        throw InvalidSimulation.because(
            "assertion on tier '%s': unknown name; expected one of %s"
                .formatted(gate.tier(), slos.tiers().keySet()));
      }
    }
    return this;
  }

  /** With a seed of the prefixes, drawn where none is set. */
  public LlmProtocol withPrefixSeed() {
    return seed() != null || get(ProtocolPart.PREFIX_SEED) != null
        ? this
        : with(ProtocolPart.PREFIX_SEED, InvalidSimulation.checked(Seed::ofProcess).next());
  }

  private long prefixSeed() {
    Long seed = seed();
    return Objects.requireNonNullElse(seed == null ? get(ProtocolPart.PREFIX_SEED) : seed, 0L);
  }

  /** What matters of it for an engine in this JVM, without secrets and limits of the target. */
  LlmProtocol forJvmWarmUp(String baseUrl) {
    Map<Object, @Nullable Object> rehearsed = new HashMap<>(values);
    rehearsed
        .keySet()
        .removeIf(
            each ->
                each instanceof Setting<?> row
                    ? !row.is(SettingTrait.REHEARSED)
                    : !((ProtocolPart<?>) each).isForWarmUp());
    LlmProtocol inside =
        new LlmProtocol(rehearsed)
            .with(ProtocolPart.BASE_URLS, List.of(baseUrl))
            .with(ProtocolPart.MODEL, Dynamic.of("embedded"))
            .with(ProtocolPart.IN_THIS_JVM, true)
            .with(Setting.IGNORE_EOS, true)
            .with(Setting.SLO, new Slos(slo(), Map.of()))
            .with(Setting.RECORD_TEXT, true);
    return get(Setting.MAX_IN_FLIGHT) == null
        ? inside
        : inside.with(Setting.MAX_IN_FLIGHT, WARM_UP_GATE);
  }

  List<MetricsPage> metricsPages() {
    return pages(metricsUrls());
  }

  /** Waits, as long as {@code waitReady} allows, until all these pages answer. */
  public void awaitReady() {
    new ReadyWait(this).untilUp();
  }

  List<MetricsPage> pages(List<String> urls) {
    Map<String, String> secrets = new LinkedHashMap<>();
    Dynamic<String> apiKey = apiKey();
    String key = apiKey == null ? null : apiKey.constant();
    if (key != null) {
      secrets.put("Authorization", "Bearer " + key.strip());
    }
    headers()
        .forEach(
            (name, value) -> {
              String constant = value.constant();
              if (constant != null && Secrets.isNamed(name)) {
                secrets.put(name, constant.strip());
              }
            });
    return MetricsPage.of(
        label(), urls, baseUrls(), secrets, Boolean.TRUE.equals(get(Setting.VERIFY_TLS)));
  }

  boolean hasSlo() {
    return !get(Setting.SLO).isEmpty();
  }

  Slo sloOf(String requestName) {
    return get(Setting.SLO).of(requestName);
  }

  String url(long userId, Api api) {
    String base = baseUrls().get((int) Math.floorMod(userId, (long) baseUrls().size()));
    int query = base.indexOf('?');
    String path = query < 0 ? base : base.substring(0, query);
    return Api.ofPath(path) == null ? path + api.path() + base.substring(path.length()) : base;
  }

  /** The label of the target: as set, else host and port of the first URL; empty without a URL. */
  public String label() {
    if (!target().isEmpty() || baseUrls().isEmpty()) {
      return target();
    }
    URI uri = URI.create(baseUrls().get(0));
    return uri.getPort() < 0 ? uri.getHost() : uri.getHost() + ":" + uri.getPort();
  }

  /** What {@code run.json} has of it. */
  Map<String, String> settings() {
    Map<String, String> config = new LinkedHashMap<>();
    config.put(ConfigKey.TARGET.name, label());
    config.put(
        Setting.ENDPOINT.name,
        String.join(",", baseUrls().stream().map(Secrets::redactUrl).toList()));
    Setting.all().forEach(row -> record(row, config));
    if (!models().isEmpty()) {
      config.put(Setting.MODEL.name, WeightedModel.shares(models()));
    }
    if (requestsEventTokens()) {
      config.put(Setting.EVENT_TOKENS.name, "server");
    }
    if (prefix() instanceof PromptPrefix.Unique unique) {
      config.put(Setting.UNIQUE_PROMPTS.name, "true");
      config.put(ConfigKey.PREFIX_SEED.name, Long.toString(unique.seed()));
    } else if (prefix() instanceof PromptPrefix.Shared shared) {
      config.put(Setting.SHARED_PREFIX.name, shared.groups() + "x" + shared.tokens());
      config.put(ConfigKey.PREFIX_SEED.name, Long.toString(shared.seed()));
    }
    config.putAll(notes());
    if (AgentX.isRequested(config)) {
      List<String> deviations = AgentX.deviations(this::get, notes(), null);
      config.put(
          ConfigKey.AGENTX_DEVIATIONS.name,
          deviations.isEmpty() ? "none" : String.join(", ", deviations));
    }
    record(Setting.TOKENIZER, config); // the one that was found, instead of what was set
    return config;
  }

  private <T extends @Nullable Object> void record(Setting<T> row, Map<String, String> config) {
    String text = row.scope == Setting.SettingScope.PROTOCOL ? row.recorded(get(row)) : null;
    if (text != null) {
      config.put(row.name, text);
    }
  }

  boolean requestsEventTokens() {
    Boolean requested = eventTokens();
    return requested == null ? get(ProtocolPart.COUNTS_EVENTS) : requested;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof LlmProtocol that && values.equals(that.values);
  }

  @Override
  public int hashCode() {
    return values.hashCode();
  }
}
