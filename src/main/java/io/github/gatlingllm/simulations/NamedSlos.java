package io.github.gatlingllm.simulations;

import io.github.gatlingllm.record.Slo;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The objectives of the setting {@code slo}: {@code ttft<200ms,C:ttft<1s,vLLM:e2e<5s}. */
record NamedSlos(Slo all, Map<String, Slo> named) {

  static final NamedSlos NONE = new NamedSlos(Slo.NONE, Map.of());

  /** Parses objectives; a name ends at the last colon before the limit. */
  static NamedSlos parse(String text) {
    Map<String, List<String>> parts = new LinkedHashMap<>();
    for (String part : text.split(",", -1)) {
      int colon = part.substring(0, Math.max(0, part.indexOf('<'))).lastIndexOf(':');
      String name = colon < 0 ? "" : part.substring(0, colon).strip();
      parts.computeIfAbsent(name, n -> new ArrayList<>()).add(part.substring(colon + 1));
    }
    Map<String, Slo> slos = new LinkedHashMap<>();
    parts.forEach((name, limits) -> slos.put(name, Slo.parse(String.join(",", limits))));
    Slo all = slos.remove("");
    return new NamedSlos(all == null ? Slo.NONE : all, slos);
  }

  NamedSlos each(UnaryOperator<Slo> change) {
    Map<String, Slo> changed = new LinkedHashMap<>(named);
    changed.replaceAll((name, slo) -> change.apply(slo));
    return new NamedSlos(change.apply(all), changed);
  }

  /** The objectives of a target's requests, except requests with their own. */
  Slo of(String target) {
    return named.getOrDefault(target, all);
  }

  boolean isEmpty() {
    return all.isEmpty() && named.isEmpty();
  }

  @Override
  public String toString() {
    Stream<String> own =
        named.entrySet().stream()
            .flatMap(
                each -> each.getValue().objectives().stream().map(o -> each.getKey() + ":" + o));
    Stream<String> ofAll = all.isEmpty() ? Stream.empty() : Stream.of(all.toString());
    return Stream.concat(ofAll, own).collect(Collectors.joining(","));
  }
}
