package io.github.gatlingllm.record;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Locale;
import java.util.Objects;
import java.util.Properties;

/**
 * A name in the configuration of a run that is not a setting, and what all names tell apart; that
 * of settings is in {@code settings.properties}, which is written from their catalogue.
 */
public enum ConfigKey {
  AGENTX_DEVIATIONS("agentxDeviations", Identifies.MEASUREMENT),
  JVM("jvm", Identifies.RUN),
  LATE("late", Identifies.RUN),
  PREFIX_SEED("prefixSeed", Identifies.RUN),
  TARGET("target", Identifies.RUN),
  TOKENIZER_SOURCE("tokenizer_source", Identifies.RUN),
  NONCE_OF_RUN("nonceOfRun", Identifies.INJECTOR),
  PROMPTS_NOT_EXACT("promptsNotExact", Identifies.INJECTOR),
  REPEATED_SESSIONS("repeatedSessions", Identifies.INJECTOR),
  RESULTS("results", Identifies.INJECTOR),
  DEFAULT_SEED("defaultSeed", Identifies.INJECTOR),
  /** {@link #DEFAULT_SEED} in files of earlier versions. */
  EARLIER_DEFAULT_SEED("seedOfTheUnseeded", Identifies.INJECTOR);

  /** What a value tells apart; runs, and injectors, may differ in what identifies only them. */
  public enum Identifies {
    /** What is measured: runs that differ in it are not the same. */
    MEASUREMENT,
    RUN,
    /** A load generator, and so a run too. */
    INJECTOR
  }

  private static final Properties SETTINGS = new Properties();

  static {
    try (InputStream file = ConfigKey.class.getResourceAsStream("settings.properties")) {
      SETTINGS.load(Objects.requireNonNull(file));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    for (ConfigKey key : values()) {
      SETTINGS.put(key.name, key.identifies.name());
    }
  }

  public final String name;
  private final Identifies identifies;

  ConfigKey(String name, Identifies identifies) {
    this.name = name;
    this.identifies = identifies;
  }

  /** Whether runs, or injectors of one run, may differ in the value of that name. */
  public static boolean isOfEach(Identifies what, String name) {
    String identifies = SETTINGS.getProperty(name, Identifies.MEASUREMENT.name());
    return Identifies.valueOf(identifies.toUpperCase(Locale.ROOT)).compareTo(what) >= 0;
  }
}
