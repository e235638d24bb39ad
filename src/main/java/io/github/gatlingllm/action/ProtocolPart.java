package io.github.gatlingllm.action;

import io.github.gatlingllm.settings.SettingValue.WeightedModel;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A part of a protocol that is not a row of the catalogue, as only code can say it, or as it is
 * found out.
 *
 * @param isRehearsed whether the JVM warm-up keeps it
 */
public record ProtocolPart<T extends @Nullable Object>(
    String name, T byDefault, boolean isRehearsed) {

  public static final ProtocolPart<String> TARGET = new ProtocolPart<>("target", "", false);

  /** URLs that end in {@code /v1} or in the path of an API; users are spread over them. */
  public static final ProtocolPart<List<String>> BASE_URLS =
      new ProtocolPart<>("baseUrls", List.of(), false);

  public static final ProtocolPart<@Nullable Dynamic<String>> API_KEY =
      new ProtocolPart<>("apiKey", null, false);

  public static final ProtocolPart<@Nullable Dynamic<String>> MODEL =
      new ProtocolPart<>("model", null, false);

  /** Models that requests are spread over by weight, in place of {@link #MODEL}. */
  public static final ProtocolPart<List<WeightedModel>> MODELS =
      new ProtocolPart<>("models", List.of(), false);

  public static final ProtocolPart<Map<String, Dynamic<String>>> HEADERS =
      new ProtocolPart<>("headers", Map.of(), false);

  /** The seed of prefixes, where the protocol has none. */
  static final ProtocolPart<@Nullable Long> PREFIX_SEED =
      new ProtocolPart<>("prefixSeed", null, true);

  /** Whether the limit on output tokens is the user's own, not a default of ours. */
  public static final ProtocolPart<Boolean> LIMIT_NAMED =
      new ProtocolPart<>("isLimitNamed", true, false);

  /** Whether the server is known to count the tokens of each event on request. */
  static final ProtocolPart<Boolean> COUNTS_EVENTS =
      new ProtocolPart<>("countsEvents", false, false);

  /** Whether the server is an engine in this JVM, for the JVM warm-up. */
  static final ProtocolPart<Boolean> IN_THIS_JVM = new ProtocolPart<>("inThisJvm", false, false);

  /** Whether all settings are in it, so that none overrides it again. */
  public static final ProtocolPart<Boolean> PLANNED = new ProtocolPart<>("isPlanned", false, false);

  public static final ProtocolPart<Map<String, Object>> WARM_UP_SESSION =
      new ProtocolPart<>("warmUpSession", Map.of(), true);

  public static final ProtocolPart<@Nullable AutoCloseable> CLOSED_AFTER_RUN =
      new ProtocolPart<>("closedAfterRun", null, false);

  public static final ProtocolPart<Map<String, String>> NOTES =
      new ProtocolPart<>("notes", Map.of(), false);

  /** What it changes in the protocol of the whole simulation. */
  static final ProtocolPart<@Nullable UnaryOperator<LlmProtocol>> CHANGES =
      new ProtocolPart<>("changes", null, false);
}
