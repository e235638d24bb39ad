package io.github.gatlingllm.action;

import io.github.gatlingllm.settings.SettingValue.WeightedModel;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A part of a protocol that is not a row of the catalogue, as only code can state it, or as it is
 * found out. Each is a key by its identity, as requests look values up.
 */
public final class ProtocolPart<T extends @Nullable Object> {

  public static final ProtocolPart<String> TARGET = new ProtocolPart<>("");

  /** URLs that end in {@code /v1} or in the path of an API; users are spread over them. */
  public static final ProtocolPart<List<String>> BASE_URLS = new ProtocolPart<>(List.of());

  public static final ProtocolPart<@Nullable Dynamic<String>> API_KEY = new ProtocolPart<>(null);

  public static final ProtocolPart<@Nullable Dynamic<String>> MODEL = new ProtocolPart<>(null);

  /** Models that requests are spread over by weight, in place of {@link #MODEL}. */
  public static final ProtocolPart<List<WeightedModel>> MODELS = new ProtocolPart<>(List.of());

  public static final ProtocolPart<Map<String, Dynamic<String>>> HEADERS =
      new ProtocolPart<>(Map.of());

  /** Tokens that the server's chat template adds to a prompt; null where that is not known. */
  public static final ProtocolPart<@Nullable Integer> TEMPLATE_TOKENS = new ProtocolPart<>(null);

  /** The seed of prefixes, where the protocol has none. */
  static final ProtocolPart<@Nullable Long> PREFIX_SEED = new ProtocolPart<>(null, true);

  /** Whether the limit on output tokens is the user's own, not a default of ours. */
  public static final ProtocolPart<Boolean> LIMIT_NAMED = new ProtocolPart<>(true);

  /** Whether the server is known to count the tokens of each event on request. */
  static final ProtocolPart<Boolean> COUNTS_EVENTS = new ProtocolPart<>(false);

  /** Whether the server is an engine in this JVM, for the JVM warm-up. */
  static final ProtocolPart<Boolean> IN_THIS_JVM = new ProtocolPart<>(false);

  /** Whether all settings are in it, so that none overrides it again. */
  public static final ProtocolPart<Boolean> PLANNED = new ProtocolPart<>(false);

  public static final ProtocolPart<Map<String, Object>> WARM_UP_SESSION =
      new ProtocolPart<>(Map.of(), true);

  public static final ProtocolPart<@Nullable AutoCloseable> CLOSED_AFTER_RUN =
      new ProtocolPart<>(null);

  public static final ProtocolPart<Map<String, String>> NOTES = new ProtocolPart<>(Map.of());

  /** What it changes in the protocol of the entire simulation. */
  static final ProtocolPart<@Nullable UnaryOperator<LlmProtocol>> CHANGES =
      new ProtocolPart<>(null);

  private final T byDefault;
  private final boolean isForWarmUp;

  private ProtocolPart(T byDefault) {
    this(byDefault, false);
  }

  private ProtocolPart(T byDefault, boolean isForWarmUp) {
    this.byDefault = byDefault;
    this.isForWarmUp = isForWarmUp;
  }

  T byDefault() {
    return byDefault;
  }

  /** Whether the JVM warm-up has it too. */
  boolean isForWarmUp() {
    return isForWarmUp;
  }
}
