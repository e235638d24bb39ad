package io.github.gatlingllm.simulations.cli;

import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.record.DurationText;
import io.netty.util.internal.logging.InternalLoggerFactory;
import io.netty.util.internal.logging.JdkLoggerFactory;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** The command {@code engine}: serves the embedded engine until it is stopped. */
@Command(
    name = "gatling-llm engine",
    description = {
      "Serves an OpenAI-compatible engine without a GPU until it is stopped: continuous batching,"
          + " prefill, a prefix cache, a queue. /v1/chat/completions,"
          + " /v1/completions, /v1/responses, /v1/messages, /v1/embeddings, /v1/models, /health,"
          + " and /metrics with vLLM's names.",
      "A decode step of a batch of n takes <decode-step> × (1 + <growth> × n)."
    },
    mixinStandardHelpOptions = true)
final class EngineCommand implements Callable<Integer> {

  private static final Pattern REJECTED =
      Pattern.compile("reject:(\\d{3}):(\\d{1,3}(?:\\.\\d{1,9})?)%");

  @Option(names = "--host", description = "address to listen on [${DEFAULT-VALUE}]")
  private String host = "127.0.0.1";

  @Option(names = "--port", description = "TCP port; 0 takes any free one [${DEFAULT-VALUE}]")
  private int port = 8000;

  @Option(names = "--model", description = "name of its only model [${DEFAULT-VALUE}]")
  private String model = "embedded";

  @Option(
      names = "--api-key",
      paramLabel = "<key>",
      description = "API key that requests must have as bearer token [none]")
  private @Nullable String apiKey;

  @Option(names = "--seed", description = "pins answers and faults [${DEFAULT-VALUE}]")
  private long seed;

  @Option(names = "--prefill", description = "prompt tokens processed per second [20000]")
  private double prefill = 20_000;

  @Option(
      names = "--decode-step",
      defaultValue = "5ms",
      paramLabel = "<time>",
      converter = Time.class,
      description = "decode step of an empty engine [${DEFAULT-VALUE}]")
  private Duration decodeStep = Duration.ZERO;

  @Option(
      names = "--growth",
      paramLabel = "<share>",
      description = "how much each request in the batch lengthens a decode step [${DEFAULT-VALUE}]")
  private double growth = 0.05;

  @Option(
      names = "--max-batch",
      description = "maximum number of requests in a batch [${DEFAULT-VALUE}]")
  private int maxBatch = 24;

  @Option(
      names = "--max-context",
      description = "maximum number of tokens of prompt and answer together [${DEFAULT-VALUE}]")
  private int maxContext = 8_192;

  @Option(names = "--reasoning", description = "reasoning tokens per answer [${DEFAULT-VALUE}]")
  private int reasoning;

  @Option(
      names = "--prefix-caching",
      negatable = true,
      defaultValue = "true",
      fallbackValue = "true",
      description = "shares the blocks of common prefixes [true]")
  private boolean prefixCaching;

  @Option(
      names = "--fixed",
      split = ",",
      paramLabel = "<ttft>,<itl>",
      hideParamSyntax = true,
      converter = Time.class,
      description = "fixed times instead, whatever the load, e.g. 100ms,20ms [none]")
  private List<Duration> fixed = List.of();

  @Option(
      names = "--fault",
      paramLabel = "reject:<status>:<share>%",
      description =
          "answers a share of the requests with that status; can be given several times [none]")
  private List<String> faults = List.of();

  @Override
  public Integer call() {
    // The unconfigured logging library of the class path would print Netty's debug messages.
    InternalLoggerFactory.setDefaultFactory(JdkLoggerFactory.INSTANCE);
    EmbeddedEngine engine = builder().start();
    System.out.println(engine.baseUrl());
    engine.awaitClose();
    return 0;
  }

  EmbeddedEngine.EngineBuilder builder() {
    EmbeddedEngine.EngineBuilder builder =
        EmbeddedEngine.builder()
            .model(model)
            .prefillTokensPerSecond(prefill)
            .decodeStep(decodeStep)
            .decodeGrowth(growth, 0)
            .maxBatch(maxBatch)
            .host(host)
            .port(port)
            .seed(seed)
            .maxContext(maxContext)
            .reasoning(reasoning)
            .prefixCaching(prefixCaching);
    for (String fault : faults) {
      Matcher form = REJECTED.matcher(fault);
      if (!form.matches()) {
        throw new IllegalArgumentException(
            "--fault="
                + fault
                + " is not a fault; expected reject:<status>:<share>%, as reject:429:1%");
      }
      double percent = Double.parseDouble(form.group(2));
      builder = builder.reject(Integer.parseInt(form.group(1)), percent / 100);
    }
    if (!fixed.isEmpty()) {
      if (fixed.size() != 2) {
        throw new IllegalArgumentException("--fixed needs two times, e.g. 100ms,20ms");
      }
      builder = builder.fixed(fixed.get(0), fixed.get(1));
    }
    return apiKey == null ? builder : builder.apiKey(apiKey);
  }

  private static final class Time implements ITypeConverter<Duration> {

    private static final Pattern FORM = Pattern.compile("\\d{1,9}(?:\\.\\d{1,9})?(?:us|ms|s)");

    @Override
    public Duration convert(String text) {
      if (!FORM.matcher(text).matches()) {
        throw new TypeConversionException(
            "'" + text + "' is not a time; expected a number with us, ms or s");
      }
      return Duration.ofNanos(DurationText.nanos(text, "s"));
    }
  }
}
