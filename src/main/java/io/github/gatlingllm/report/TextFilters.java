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
import org.jspecify.annotations.Nullable;

/** The forms of {@link NumberText} as filters of templates, e.g. {@code {{ mean | ms }}}. */
final class TextFilters extends AbstractExtension {

  private static final DateTimeFormatter DATE =
      DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss 'UTC'", Locale.ROOT)
          .withZone(ZoneOffset.UTC);

  @Override
  public Map<String, Filter> getFilters() {
    return Map.of(
        "number", number(NumberText::with),
        "count",
            number((n, unit) -> n == null ? NumberText.ABSENT : NumberText.count(Math.round(n))),
        "percent", number((share, unit) -> NumberText.percent(share)),
        "plain", number((n, unit) -> NumberText.plain(n)),
        "ms", number((ms, unit) -> NumberText.ms(ms)),
        "plainMs", number((ms, unit) -> NumberText.plainMs(ms)),
        "duration", number((seconds, unit) -> NumberText.duration(seconds)),
        "instant", number((ns, unit) -> DATE.format(Instant.ofEpochSecond((long) (ns / 1e9)))),
        "names",
            new Form(
                (map, unit) ->
                    String.join(
                        ", ", ((Map<?, ?>) map).keySet().stream().map(String::valueOf).toList())),
        "lengths", new Form((tokens, unit) -> RunText.lengths((Distribution) tokens)));
  }

  private static Filter number(BiFunction<@Nullable Double, String, String> form) {
    return new Form(
        (n, unit) -> form.apply(n == null ? null : (Double) ((Number) n).doubleValue(), unit));
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
