package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.metric.EngineFigures.TargetPoints;
import io.github.gatlingllm.record.ServerSample.EngineMetric;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/** The number of replicas of each target over time. */
final class ReplicaTally {

  /** In one interval; servers may name a replica per answer. */
  private static final int MAX_NAMES = 1_000;

  private final long origin;
  private final Map<String, TimeBuckets<Set<String>>> answering = new HashMap<>();

  ReplicaTally(long origin) {
    this.origin = origin;
  }

  private static void join(Set<String> names, Set<String> more) {
    more.stream().limit(MAX_NAMES - names.size()).forEach(names::add);
  }

  /** Adds the replica that answers a request, from its first token to its end. */
  void add(RequestParts parts) {
    if (!parts.outcome().ok() && parts.record().timing().ttftNanos() == null) {
      return;
    }
    TimeBuckets<Set<String>> own =
        answering.computeIfAbsent(
            parts.record().identity().target(),
            target ->
                new TimeBuckets<>(
                    origin, 1_000_000_000L, Series.MAX_BUCKETS, HashSet::new, ReplicaTally::join));
    Set<String> name = Set.of(Grouping.replica(parts.record()));
    long end = Math.max(parts.answered(), parts.closed);
    long next;
    for (long at = parts.answered(); at <= end; at = next) {
      join(own.at(at), name);
      next = own.endOf(at);
    }
  }

  /**
   * By what counts them, their number from each second since the origin on: {@code answering}, if
   * they are several, and {@code ready} by the metrics of the target.
   */
  Map<String, SortedMap<Double, Double>> of(String target, List<TargetPoints> metrics) {
    Map<String, SortedMap<Double, Double>> all = new TreeMap<>();
    TimeBuckets<Set<String>> own = answering.get(target);
    if (own != null && own.all().stream().flatMap(Set::stream).distinct().count() > 1) {
      for (int i = 0; i < own.all().size(); i++) {
        add(all, "answering", i * own.width() / 1e9, own.all().get(i).size());
      }
    }
    metrics.stream()
        .filter(of -> of.target().equals(target))
        .flatMap(of -> of.points().stream())
        .forEach(
            point -> {
              Double replicas = point.of(EngineMetric.REPLICAS);
              if (replicas != null) {
                add(all, "ready", point.startS(), replicas);
              }
            });
    return all;
  }

  private static void add(
      Map<String, SortedMap<Double, Double>> all, String key, double fromS, double replicas) {
    SortedMap<Double, Double> changes = all.computeIfAbsent(key, k -> new TreeMap<>());
    if (changes.isEmpty() || changes.get(changes.lastKey()) != replicas) {
      changes.put(fromS, replicas);
    }
  }
}
