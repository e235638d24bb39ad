package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.metric.Distribution;
import io.github.gatlingllm.figures.metric.NumberText;
import io.pebbletemplates.pebble.extension.AbstractExtension;
import io.pebbletemplates.pebble.extension.Filter;
import io.pebbletemplates.pebble.template.EvaluationContext;
import io.pebbletemplates.pebble.template.PebbleTemplate;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The forms of {@link NumberText} as filters of templates, e.g. {@code {{ mean | ms }}}. */
final class TextFilters extends AbstractExtension {

  private static final DateTimeFormatter DATE =
      DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss 'UTC'", Locale.ROOT)
          .withZone(ZoneOffset.UTC);

  @Override
  public Map<String, Filter> getFilters() {
    return Map.ofEntries(
        number("number", NumberText::with),
        number(
            "count", (n, unit) -> n == null ? NumberText.ABSENT : NumberText.count(Math.round(n))),
        number("percent", (share, unit) -> NumberText.percent(share)),
        number("plain", (n, unit) -> NumberText.plain(n)),
        number("ms", (ms, unit) -> NumberText.ms(ms)),
        number("plainMs", (ms, unit) -> NumberText.plainMs(ms)),
        number("clock", (seconds, unit) -> NumberText.clock(seconds)),
        number("duration", (seconds, unit) -> NumberText.duration(seconds)),
        number("instant", (ns, unit) -> DATE.format(Instant.ofEpochSecond((long) (ns / 1e9)))),
        Map.entry("names", new Form((map, unit) -> names((Map<?, ?>) map))),
        Map.entry("lengths", new Form((of, unit) -> RunText.lengths((Distribution) of))));
  }

  private static String names(Map<?, ?> map) {
    return map.keySet().stream().map(String::valueOf).collect(Collectors.joining(", "));
  }

  private static Map.Entry<String, Filter> number(
      String name, BiFunction<@Nullable Double, String, String> form) {
    return Map.entry(
        name,
        new Form(
            (n, unit) -> form.apply(n == null ? null : (Double) ((Number) n).doubleValue(), unit)));
  }

  private record Form(BiFunction<@Nullable Object, String, String> of) implements Filter {

    @Override
    public List<String> getArgumentNames() {
      return List.of("unit");
    }

    @Override
    public Object apply(
        @Nullable Object input,
        Map<String, Object> arguments,
        PebbleTemplate template,
        EvaluationContext context,
        int line) {
      return of.apply(input, (String) arguments.getOrDefault("unit", ""));
    }
  }
}
