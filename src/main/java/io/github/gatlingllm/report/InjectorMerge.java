package io.github.gatlingllm.report;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.util.Objects.requireNonNull;

import io.github.gatlingllm.figures.level.RunStatistics;
import io.github.gatlingllm.figures.level.RunStatistics.RecordSource;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.record.ConfigKey;
import io.github.gatlingllm.record.ConfigKey.Identifies;
import io.github.gatlingllm.record.InjectorRun;
import io.github.gatlingllm.record.InjectorRun.InjectorShare;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RecordFile;
import io.github.gatlingllm.record.RecordFile.ReadReport;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.RunInfo.ReportOptions;
import io.github.gatlingllm.record.RunInfo.TargetFacts;
import io.github.gatlingllm.record.RunOutcome.Connections;
import io.github.gatlingllm.record.RunOutcome.PromptRepeats;
import io.github.gatlingllm.record.RunOutcome.SingleStream;
import io.github.gatlingllm.record.ServerSample.ServerFile;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BinaryOperator;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Merges the runs of injectors that loaded the same servers at the same time: what their {@code
 * run.json} states, and their files in one pass, in which a record goes to the statistics and is
 * copied.
 */
final class InjectorMerge implements RecordSource {

  private static final ReadReport NOTHING = ReadReport.of(0);

  private final RunFiles target;
  private final List<InjectorPart> parts;
  private final List<RunInfo> runs;
  private final boolean isForced;
  private final List<String> forced = new ArrayList<>();
  private final LevelMerge levels;
  private final RunInfo merged;
  private final List<String> damages = new ArrayList<>();
  private List<InjectorRun> read = List.of();
  private long moved;
  private long measured;

  private record InjectorPart(RunFiles files, RunInfo info) {

    /** One that died early may have no records. */
    static InjectorPart of(Path run) throws IOException {
      RunFiles files = new RunFiles(run);
      RunInfo completed =
          RunStatistics.completed(
              files.requireInfo(),
              sink ->
                  Files.exists(files.requests())
                      ? RecordFile.read(files.requests(), sink)
                      : NOTHING);
      return new InjectorPart(files, completed);
    }

    /** Index of the injector; runs that do not record it come last in their order. */
    int index() {
      InjectorShare share = info.share();
      return share == null ? Integer.MAX_VALUE : share.index();
    }
  }

  /** Throws with one line if the runs are not of one load test and the merge is not forced. */
  InjectorMerge(RunFiles target, List<Path> folders, @Nullable Integer expected, boolean isForced)
      throws IOException {
    this.target = target;
    this.isForced = isForced;
    List<InjectorPart> all = new ArrayList<>();
    for (Path folder : folders) {
      all.add(InjectorPart.of(folder));
    }
    if (all.size() < 2 && expected == null && all.get(0).info.share() == null) {
      throw new IllegalArgumentException(
          folders.get(0)
              + " is one run; name two or more to merge, or their expected number with --expect");
    }
    all.sort(Comparator.comparingInt(InjectorPart::index));
    parts = List.copyOf(all);
    runs = parts.stream().map(InjectorPart::info).toList();
    requireDistinct();
    Integer count = count(expected);
    requireSame("simulation", RunInfo::simulation);
    requireSame(
        "SLO",
        run ->
            run.objectives().slo().isEmpty()
                ? "none"
                : run.objectives().slo() + " at " + run.objectives().sloPercentile() + " %");
    requireSame("SLO rule", run -> run.objectives().sloRule());
    requireSame("SLO by request", run -> run.objectives().sloByRequest());
    requireSame("SLO percentile by request", run -> run.objectives().sloHeldByRequest());
    requireSame("SLO by target", run -> run.objectives().sloByTarget());
    requireSame("SLO by tier", run -> run.objectives().sloTiers());
    requireCommon("model", record -> record.identity().model());
    requireCommon("endpoint", record -> record.identity().endpoint());
    requireOnePlan();
    levels = new LevelMerge(runs, this::refuse);
    String id = String.valueOf(target.run().toAbsolutePath().normalize().getFileName());
    RunInfo run = merge(id).injectors(injectors(), count);
    merged = forced.isEmpty() ? run : run.config("merged by force", String.join("; ", forced));
  }

  RunInfo merged() {
    return merged;
  }

  private void refuse(String why) {
    if (!isForced) {
      throw new IllegalArgumentException(why + "; --force merges anyway");
    }
    forced.add(why);
  }

  /** Each run has a value in common with the first, by its first records. */
  private void requireCommon(String what, Function<RequestRecord, @Nullable String> of)
      throws IOException {
    Set<String> first = new TreeSet<>();
    for (InjectorPart part : parts) {
      Set<String> values = new TreeSet<>();
      RecordFile.readFirst(
          part.files.requests(),
          record -> Optional.ofNullable(of.apply(record)).ifPresent(values::add));
      if (first.isEmpty()) {
        first.addAll(values);
      } else if (!values.isEmpty() && Collections.disjoint(first, values)) {
        refuse(what, String.join(", ", first), part.info, String.join(", ", values));
      }
    }
  }

  private void refuse(String what, Object first, RunInfo run, Object other) {
    refuse(
        "%s of %s is '%s', of %s '%s'; injectors of one load test have the same"
            .formatted(what, runs.get(0).id(), first, run.id(), other));
  }

  /** An injector that ended early has only some of the load levels of the others. */
  private void requireOnePlan() {
    RunInfo longest =
        Collections.max(runs, Comparator.comparingInt((RunInfo run) -> run.stages().size()));
    List<LevelInfo.Key> plan = longest.stages().stream().map(LevelInfo::key).toList();
    for (RunInfo run : runs) {
      run.stages().stream()
          .map(LevelInfo::key)
          .filter(key -> !plan.contains(key))
          .findFirst()
          .ifPresent(
              key ->
                  refuse(
                      "run %s has load level %s, run %s has not; injectors of one load test have the same plan"
                          .formatted(run.id(), key, longest.id())));
    }
  }

  private void requireDistinct() {
    Set<List<String>> seen = new HashSet<>();
    for (RunInfo run : runs) {
      if (!seen.add(List.of(run.id(), run.injector()))) {
        throw new IllegalArgumentException(
            "run %s of injector %s was given twice; name each run once"
                .formatted(run.id(), run.injector()));
      }
    }
  }

  private @Nullable Integer count(@Nullable Integer expected) {
    Map<InjectorShare, RunInfo> seen = new HashMap<>();
    Integer count = expected;
    for (RunInfo run : runs) {
      InjectorShare share = run.share();
      if (share == null) {
        continue;
      }
      RunInfo other = seen.put(share, run);
      if (other != null) {
        throw new IllegalArgumentException(
            "runs %s and %s both have share %s; expected each share once"
                .formatted(other.id(), run.id(), share));
      }
      if (count != null && count != share.count()) {
        throw new IllegalArgumentException(
            "run %s has share %s, expected one of %s; name the runs of one load test, and with"
                    .formatted(run.id(), share, count)
                + " --expect how many injectors it had");
      }
      count = share.count();
    }
    if (count != null && count < runs.size()) {
      throw new IllegalArgumentException(
          "%s runs were given, expected at most %s; name each injector's run once"
              .formatted(runs.size(), count));
    }
    return count;
  }

  private void requireSame(String what, Function<RunInfo, Object> of) {
    Object first = of.apply(runs.get(0));
    for (RunInfo run : runs) {
      if (!first.equals(of.apply(run))) {
        refuse(what, first, run, of.apply(run));
        return;
      }
    }
  }

  private RunInfo merge(String id) {
    long start = runs.stream().mapToLong(RunInfo::startUnixNanos).min().orElseThrow();
    long end = runs.stream().mapToLong(run -> requireNonNull(run.endUnixNanos())).max().getAsLong();
    boolean isComplete = runs.stream().allMatch(run -> run.state() == RunInfo.State.COMPLETE);
    RunInfo first = runs.get(0);
    String injectors =
        runs.stream().map(RunInfo::injector).distinct().collect(Collectors.joining(","));
    return RunInfo.started(id, first.simulation(), injectors, start)
        .ended(end, isComplete ? RunInfo.State.COMPLETE : RunInfo.State.INTERRUPTED)
        .seed(
            runs.stream().map(run -> run.seed()).distinct().count() == 1
                ? first.seed()
                : (Long) null)
        .versions(sideBySide(run -> run.versions()))
        .machines(merged(run -> run.machines(), (one, other) -> other))
        .config(sideBySide(RunInfo::config))
        .config(
            "merged from",
            runs.stream()
                .map(run -> run.id() + " (" + run.injector() + ")")
                .collect(Collectors.joining(", ")))
        .slo(first.objectives().common(), first.objectives().sloByTarget())
        .sloTiers(first.objectives().sloTiers())
        .targets(merged(RunInfo::targets, TargetFacts::and))
        .connections(merged(run -> run.outcome().connections(), Connections::and))
        .singleStreams(merged(run -> run.outcome().singleStreams(), SingleStream::or))
        .firstAnswers(merged(run -> run.outcome().firstAnswers(), Math::max))
        .report(runs.stream().map(RunInfo::report).reduce(ReportOptions::and).orElseThrow())
        .dropped(runs.stream().mapToLong(run -> run.outcome().dropped()).sum())
        .planned(sum(run -> run.outcome().planned(), Long::sum))
        .started(sum(run -> run.outcome().started(), Long::sum))
        .notSent(new TreeMap<>(merged(run -> run.outcome().notSent(), Long::sum)))
        .prompts(sum(run -> run.outcome().prompts(), PromptRepeats::and))
        .stages(levels.merged)
        .conclusions(
            runs.stream().flatMap(run -> run.outcome().conclusions().stream()).distinct().toList())
        .assertions(
            runs.stream()
                .flatMap(run -> run.objectives().assertions().stream())
                .distinct()
                .toList());
  }

  /** The entries of all runs; values of the same name are combined. */
  private <T> Map<String, T> merged(Function<RunInfo, Map<String, T>> of, BinaryOperator<T> and) {
    Map<String, T> all = new LinkedHashMap<>();
    runs.forEach(run -> of.apply(run).forEach((name, value) -> all.merge(name, value, and)));
    return all;
  }

  /** The sum over all runs; null if one of them has no value. */
  private <T> @Nullable T sum(Function<RunInfo, @Nullable T> of, BinaryOperator<T> and) {
    List<T> known = runs.stream().map(of).filter(Objects::nonNull).toList();
    return known.size() < runs.size() ? null : known.stream().reduce(and).orElseThrow();
  }

  /** The entries of all runs; different values of the same name are listed side by side. */
  private Map<String, String> sideBySide(Function<RunInfo, Map<String, String>> of) {
    Map<String, Set<String>> values = new LinkedHashMap<>();
    for (RunInfo run : runs) {
      of.apply(run).forEach((k, v) -> values.computeIfAbsent(k, key -> new TreeSet<>()).add(v));
    }
    Map<String, String> all = new LinkedHashMap<>();
    values.forEach((key, different) -> all.put(key, String.join(",", different)));
    return all;
  }

  private List<InjectorRun> injectors() {
    List<Map<String, String>> different = different();
    List<InjectorRun> all = new ArrayList<>();
    for (RunInfo run : runs) {
      all.add(
          new InjectorRun(
              run.injector(),
              run.id(),
              run.share(),
              run.state(),
              run.startUnixNanos(),
              run.endUnixNanos(),
              LevelInfo.planned(run.stages()),
              0,
              run.outcome().started(),
              0,
              run.outcome().dropped(),
              run.stages().stream().map(levels::part).toList(),
              different.get(all.size())));
    }
    return all;
  }

  /** For each run the settings and versions that are not the same in all runs. */
  private List<Map<String, String>> different() {
    List<Map<String, String>> settings = new ArrayList<>();
    Set<String> names = new HashSet<>();
    for (RunInfo run : runs) {
      Map<String, String> own = new TreeMap<>(run.config());
      own.keySet()
          .removeIf(key -> key.contains(" ") || ConfigKey.isOfEach(Identifies.INJECTOR, key));
      run.versions().forEach(own::putIfAbsent);
      settings.add(own);
      names.addAll(own.keySet());
    }
    names.removeIf(name -> settings.stream().map(of -> of.get(name)).distinct().count() == 1);
    settings.forEach(of -> of.keySet().retainAll(names));
    return settings;
  }

  List<String> remarks() {
    List<String> remarks = new ArrayList<>();
    forced.forEach(why -> remarks.add("merged by --force: " + why));
    remarks.addAll(levels.remarks());
    for (LevelInfo stage : merged.stages()) {
      LevelInfo.Key key = stage.key();
      long count = levels.injectorsOf(key);
      if (count < runs.size()) {
        remarks.add("level %s: only %s of %s injectors have it".formatted(key, count, runs.size()));
      }
    }
    if (merged.seed() != null
        && runs.size() > 1
        && runs.stream().allMatch(run -> run.share() == null)) {
      remarks.add(
          "all injectors have seed "
              + merged.seed()
              + ": they sent the same prompts at the same offsets; give each another");
    }
    return remarks;
  }

  // ---- files

  /** Copies the files other than the records, into an existing folder. */
  void copyOthers() throws IOException {
    copyLines(RunFiles::arrivals);
    copyLines(RunFiles::generator);
    copyServer();
  }

  @Override
  public ReadReport replay(Consumer<RequestRecord> sink) throws IOException {
    List<InjectorRun> found = new ArrayList<>();
    damages.clear();
    moved = 0;
    long records = 0;
    try (OutputStream to =
        new BufferedOutputStream(Files.newOutputStream(target.requests()), 1 << 18)) {
      for (InjectorRun injector : merged.injectors()) {
        InjectorPart part = parts.get(found.size());
        ReadReport file = copy(part, to, sink);
        long damaged = file.badLines() + (file.cutTailBytes() > 0 ? 1 : 0);
        found.add(injector.read(file.records(), measured, injector.dropped() + damaged));
        records += file.records();
        report(part.files, file);
      }
    }
    read = List.copyOf(found);
    if (moved > 0) {
      damages.add(
          NumberText.count(moved)
              + " requests were scheduled outside the common measure window: they count as"
              + " stabilize, cooldown or drain");
    }
    return ReadReport.of(records);
  }

  private ReadReport copy(InjectorPart part, OutputStream to, Consumer<RequestRecord> sink)
      throws IOException {
    measured = 0;
    Path file = part.files.requests();
    if (!Files.exists(file)) {
      return NOTHING;
    }
    return RecordFile.readLines(
        file,
        (record, line) -> {
          RequestRecord placed = levels.placed(record);
          sink.accept(placed);
          measured += LevelMerge.isPlanned(part.info, record) ? 1 : 0;
          boolean isSamePhase = placed.identity().phase() == record.identity().phase();
          moved += isSamePhase ? 0 : 1;
          try {
            if (isSamePhase) {
              to.write(line.array(), line.arrayOffset() + line.position(), line.remaining());
              to.write('\n');
            } else {
              to.write(RecordFile.line(placed));
            }
          } catch (IOException e) {
            throw new UncheckedIOException(e.getMessage(), e);
          }
        });
  }

  /** Adds the counts of the records and writes {@code run.json}. */
  @Override
  public RunInfo ended(RunInfo info) throws IOException {
    RunInfo merged =
        info.dropped(read.stream().mapToLong(InjectorRun::dropped).sum())
            .injectors(read, info.injectorsExpected());
    merged.write(target.info());
    return merged;
  }

  /** What the last pass over the records found. */
  List<String> damages() {
    return List.copyOf(damages);
  }

  /** Each damaged line, or line that is cut off, is a request that no figure includes. */
  private void report(RunFiles run, ReadReport file) {
    if (file.badLines() > 0) {
      long first = file.firstBadLines().firstKey();
      damages.add(
          "%s: %s ignored, the first is line %s: %s"
              .formatted(
                  run.run(),
                  NumberText.counted(file.badLines(), "damaged line"),
                  NumberText.count(first),
                  file.firstBadLines().get(first)));
    }
    if (file.cutTailBytes() > 0) {
      damages.add(
          "%s: the last line is cut off (%s bytes) and ignored"
              .formatted(run.run(), NumberText.count(file.cutTailBytes())));
    }
  }

  @SuppressWarnings("StreamToIterable") // iterated once
  private void copyLines(Function<RunFiles, Path> of) throws IOException {
    for (InjectorPart part : parts) {
      Path file = of.apply(part.files);
      if (Files.isRegularFile(file)) {
        try (Stream<String> lines = Files.lines(file, ISO_8859_1)) {
          Files.write(
              of.apply(target),
              (Iterable<String>) lines::iterator,
              ISO_8859_1,
              StandardOpenOption.CREATE,
              StandardOpenOption.APPEND);
        }
      }
    }
  }

  /** Samples of each page from the first injector that read it; complete runs first. */
  private void copyServer() throws IOException {
    ServerFile to = new ServerFile(target.server());
    Map<String, InjectorPart> readBy = new HashMap<>();
    for (boolean isComplete : new boolean[] {true, false}) {
      for (InjectorPart part : parts) {
        if ((part.info.state() == RunInfo.State.COMPLETE) == isComplete) {
          var unused =
              ServerFile.read(
                  part.files.server(),
                  sample -> {
                    if (readBy.computeIfAbsent(sample.url(), url -> part).equals(part)) {
                      try {
                        to.append(sample);
                      } catch (IOException e) {
                        throw new UncheckedIOException(e.getMessage(), e);
                      }
                    }
                  });
        }
      }
    }
  }
}
