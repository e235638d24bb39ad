package io.github.gatlingllm.load;

import static io.github.gatlingllm.figures.metric.NumberText.plain;

import io.github.gatlingllm.figures.metric.Backlog.Queue;
import io.github.gatlingllm.figures.metric.Distribution.Interval;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.figures.metric.Sentence;
import io.github.gatlingllm.load.LoadLevel.Phases;
import io.github.gatlingllm.record.InjectorRun.InjectorShare;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RunOutcome.Conclusion;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Searches for the highest load at which the SLO holds, a rate of arrivals or a number of users of
 * a closed loop: doubles the load until a level fails (or halves it until one holds), bisects
 * between the highest load that holds and the lowest that fails, and then measures both again, with
 * new arrivals. Where the SLO has tiers, it does so for each in turn, by all levels measured so
 * far.
 *
 * <p>A level holds or fails when Wilson's 95 % interval of its share is on one side of the required
 * share; else the measure phase is extended. One that is still undecided holds if it has too few
 * requests for any decision, else its share decides. Of simulated searches more than 90 in 100 find
 * the true load within the precision, if a level lasts 30 times as long as a request.
 *
 * @param ofUsers whether loads are users of a closed loop, integers; else users per second
 * @param precision the bracket is narrowed to half of it, the rest covers random error
 */
record GoodputSearch(boolean ofUsers, double startingAt, double precision, long seed, Phases phases)
    implements LoadPlan {

  @Override
  public boolean needsSlo() {
    return true;
  }

  @Override
  public GoodputSearch part(InjectorShare share) {
    if (share.isPart()) {
      throw new IllegalArgumentException(
          "injector "
              + share
              + " cannot search: it sees its own requests, not those of all injectors; search with"
              + " one injector, or offer several rates");
    }
    return this;
  }

  @Override
  public List<Long> startOffsets(InjectorShare share) {
    return List.of(0L);
  }

  /** Maximum steps of doubling or halving. */
  private static final int MAX_STEPS = 20;

  /** Maximum levels; a search that needs more ends without a confirmed result. */
  private static final int MAX_LEVELS = 60;

  /** With this many expected arrivals the chance of none is 0.005 %. */
  private static final double SURELY_SOME = 10;

  public GoodputSearch {
    if (!ofUsers) {
      Arrivals.requireRate(startingAt);
    } else if (startingAt != (int) startingAt) {
      throw new IllegalArgumentException(
          "startingAt(" + startingAt + ") is not a number of users; expected an integer");
    }
    if (!(precision > 0 && precision < 1)) {
      throw new IllegalArgumentException(
          "precision(" + precision + ") cannot be met; expected a share such as 0.05");
    }
  }

  @Override
  public LevelSource source() {
    return new Source();
  }

  @Override
  public @Nullable Long plannedNanos() {
    return null;
  }

  /** The first level of the search. */
  LoadLevel first() {
    return level(startingAt, false, 0);
  }

  private LoadLevel level(double load, boolean again, long arrivals) {
    String label = (ofUsers ? "c=" : "r=") + plain(load) + (again ? LevelInfo.AGAIN : "");
    return ofUsers
        ? new LoadLevel.Closed(label, (int) load, phases)
        : new LoadLevel.Open(label, load, Arrivals.poisson(load, arrivals), phases);
  }

  private double maxLoad() {
    return ofUsers ? LoadLevel.MAX_USERS : Arrivals.MAX_PER_SECOND;
  }

  /** A load of which there is a level: integers for users, else four digits, for short labels. */
  private double rounded(double load) {
    return ofUsers
        ? Math.floor(load)
        : new BigDecimal(load).round(new MathContext(4)).doubleValue();
  }

  private String text(double load) {
    return ofUsers
        ? NumberText.counted((long) load, "user")
        : NumberText.of(plain(load), "requests/s");
  }

  private record Tried(LevelResult result, boolean again) {

    boolean holds() {
      Boolean surely = result.holdsWithConfidence();
      boolean isTooShort = result.attempted() < Interval.minToShow(result.sloPercentile());
      return surely != null ? surely : isTooShort || Boolean.TRUE.equals(result.holdsSlo());
    }

    /** How few requests were judged; null where they are enough. */
    @Nullable Sentence tooFew() {
      double percent = result.sloPercentile();
      Sentence few = Interval.tooFew(result.attempted(), percent, Interval.minToShow(percent));
      return few == null ? null : Sentence.of("sought.few", result.attempted(), few);
    }

    /** Whether it was measured twice, the second time with confidence. */
    boolean isConfirmed() {
      return again && result.holdsWithConfidence() != null;
    }
  }

  private final class Source implements LevelSource {
    private final SplittableRandom seeds = new SplittableRandom(seed);

    /** One, until the first result states which tiers the SLO has. */
    private List<Bracket> brackets = List.of(new Bracket(null));

    private Bracket searched = brackets.get(0);

    private double load;
    private boolean again;
    private int levels;
    private int rounds;
    private @Nullable Sentence failure;

    @Override
    public @Nullable LoadLevel next(@Nullable LevelResult before) {
      if (before != null) {
        note(before);
      }
      Bracket open = failure != null || levels >= MAX_LEVELS ? null : open();
      if (open == null) {
        return null;
      }
      searched = open;
      load = Objects.requireNonNull(open.following());
      again = open.tried.containsKey(load);
      levels++;
      rounds = 1;
      return level(load, again, seeds.nextLong());
    }

    private void note(LevelResult before) {
      LevelResult.FailedInARow row = before.failedInARow();
      if (before.cut() && row != null) {
        failure = Sentence.of("sought.dead", before.label(), StopRule.DEFAULT.brokenBy(before));
      } else if (before.holdsSlo() != null) {
        if (levels == 1 && !before.tiers().isEmpty()) {
          brackets = before.tiers().keySet().stream().map(Bracket::new).toList();
        }
        brackets.forEach(each -> each.tried.put(load, new Tried(each.of(before), again)));
      } else {
        failure =
            before.met() == null && before.ended() > 0
                ? Sentence.of("sought.no_slo")
                : Sentence.of("sought.empty", before.label());
      }
    }

    /** The first whose ends are not both known and measured again; null once all are. */
    private @Nullable Bracket open() {
      return brackets.stream().filter(each -> each.following() != null).findFirst().orElse(null);
    }

    @Override
    public Integer remainingLevels() {
      return Math.max(0, brackets.stream().mapToInt(Bracket::remaining).sum() - 1);
    }

    /** Decided by the tier that is searched for, and by those whose end is measured again. */
    @Override
    public boolean extendsMeasuring(LevelResult soFar) {
      Bracket open = searched;
      boolean needsMore =
          brackets.stream()
              .filter(each -> each == open || (again && each.endsAt(load)))
              .anyMatch(each -> each.needsMore(soFar, again));
      // Perhaps no request has arrived because few are expected, or none of few users has ended.
      boolean mayArrive =
          soFar.ended() == 0
              && (ofUsers || load * phases.measureNanos() / 1e9 * rounds < SURELY_SOME);
      return needsMore && (soFar.attempted() > 0 || mayArrive) && rounds++ < MAX_ROUNDS;
    }

    @Override
    public boolean needsResults() {
      return true;
    }

    /** Ends the search at a server that does not answer. */
    @Override
    public long maxFailuresInARow() {
      return Objects.requireNonNull(StopRule.DEFAULT.maxFailuresInARow());
    }

    @Override
    public @Nullable Conclusion conclusion() {
      return conclusions().get(0);
    }

    @Override
    public List<Conclusion> conclusions() {
      return failure == null
          ? brackets.stream().map(Bracket::conclusion).toList()
          : List.of(
              new Conclusion(
                  "search",
                  Sentence.text("sought.failed", ofUsers, failure),
                  false,
                  null,
                  null,
                  null,
                  null));
    }
  }

  /** What is known of the highest load that holds the SLO, or that of one of its tiers. */
  private final class Bracket {
    private final @Nullable String tier;
    private final NavigableMap<Double, Tried> tried = new TreeMap<>();

    private Bracket(@Nullable String tier) {
      this.tier = tier;
    }

    /** The result by the SLO of the tier. */
    private LevelResult of(LevelResult all) {
      return tier == null ? all : all.tiers().getOrDefault(tier, all);
    }

    /** Lowest load that fails. */
    private Map.@Nullable Entry<Double, Tried> bad() {
      return tried.entrySet().stream().filter(e -> !e.getValue().holds()).findFirst().orElse(null);
    }

    /** Highest load that holds below the lowest that fails. */
    private Map.@Nullable Entry<Double, Tried> good() {
      Map.Entry<Double, Tried> bad = bad();
      return bad == null ? tried.lastEntry() : tried.lowerEntry(bad.getKey());
    }

    private @Nullable Double following() {
      Map.Entry<Double, Tried> good = good();
      Map.Entry<Double, Tried> bad = bad();
      if (good == null || bad == null) {
        double next =
            bad != null ? bad.getKey() / 2 : good != null ? good.getKey() * 2 : startingAt;
        boolean ends = tried.size() > MAX_STEPS || next > maxLoad() || rounded(next) == 0;
        return ends ? null : (Double) rounded(next);
      }
      double low = good.getKey();
      double high = bad.getKey();
      double middle = rounded((low + high) / 2);
      if (high - low > precision / 2 * low && middle > low && middle < high) {
        return middle;
      }
      return !good.getValue().again()
          ? (Double) low
          : bad.getValue().again() ? null : (Double) high;
    }

    /** Assumes that one more level completes the bracket while it has one end only. */
    private int remaining() {
      Map.Entry<Double, Tried> good = good();
      Map.Entry<Double, Tried> bad = bad();
      if (good == null || bad == null) {
        double low = Math.max(1, tried.isEmpty() ? startingAt : tried.lastKey());
        return 2 + bisections(low, 2 * low) + 2;
      }
      int confirmations = (good.getValue().again() ? 0 : 1) + (bad.getValue().again() ? 0 : 1);
      return bisections(good.getKey(), bad.getKey()) + confirmations;
    }

    /** Number of bisections until a bracket is narrow enough; users are integers. */
    private int bisections(double low, double high) {
      double narrow = Math.max(precision / 2 * low, ofUsers ? 1 : 0);
      return (int) Math.max(0, Math.ceil(Math.log((high - low) / narrow) / Math.log(2)));
    }

    private boolean endsAt(double load) {
      return Stream.of(good(), bad()).anyMatch(end -> end != null && end.getKey() == load);
    }

    private boolean needsMore(LevelResult soFar, boolean again) {
      LevelResult own = of(soFar);
      Boolean surely = own.holdsWithConfidence();
      if (again) {
        return surely == null || surely;
      }
      boolean isBracketed = good() != null && bad() != null;
      return surely == null && (isBracketed || !Boolean.TRUE.equals(own.holdsSlo()));
    }

    private Conclusion conclusion() {
      Map.Entry<Double, Tried> good = good();
      Map.Entry<Double, Tried> bad = bad();
      Double fails = bad == null ? null : bad.getKey();
      if (good == null) {
        double lowest = tried.firstKey();
        String text = Sentence.text("sought.none", ofUsers, text(lowest), why(tried.get(lowest)));
        return new Conclusion("search", text, false, null, null, null, fails).by(tier);
      }
      LevelResult best = good.getValue().result();
      long met = Objects.requireNonNull(best.met());
      Interval share = Objects.requireNonNull(Interval.ofShare(met, best.attempted()));
      boolean confirmed =
          good.getValue().isConfirmed() && bad != null && bad.getValue().isConfirmed();
      Sentence few = good.getValue().tooFew();
      Sentence failing =
          bad == null
              ? null
              : Sentence.of("sought.fails", plain(bad.getKey()), why(bad.getValue()));
      boolean hasDetails = few != null || failing != null;
      List<Sentence> text = new ArrayList<>();
      text.add(
          Sentence.of(
              "sought.found",
              bad != null,
              ofUsers,
              text(good.getKey()),
              hasDetails ? Sentence.of("sought.details", few, failing) : null));
      text.add(few == null ? evidence(good) : Sentence.of("sought.use", longer(good)));
      if (bad != null && few == null && !bad.getValue().isConfirmed()) {
        text.add(evidence(bad));
      }
      return new Conclusion(
              "search",
              text.stream().map(Sentence::text).collect(Collectors.joining(". ")),
              confirmed,
              share.low(),
              best.sloPercentile() / 100,
              good.getKey(),
              fails)
          .by(tier);
    }

    /** Why a load fails although its requests met the SLO; null if they did not. */
    private static @Nullable Sentence why(@Nullable Tried tried) {
      Queue queue = tried == null ? null : tried.result().queue();
      if (queue != null && queue.grows()) {
        return queue.reason();
      }
      return tried == null || !tried.result().sheds() ? null : Sentence.of("sought.sheds");
    }

    /** A sentence on the evidence for the result at that load, and on how to get more. */
    private Sentence evidence(Map.Entry<Double, Tried> at) {
      Tried tried = at.getValue();
      LevelResult result = tried.result();
      if (tried.isConfirmed()) {
        return Sentence.of("sought.met", result.met(), result.attempted(), result.objective());
      }
      return tried.again()
          ? Sentence.of(
              "sought.close",
              text(at.getKey()),
              result.sloShare(),
              result.attempted(),
              result.objective(),
              result.sloPercentile(),
              longer(at))
          : Sentence.of("sought.once", text(at.getKey()));
    }

    /** The setting that could decide: four times the requests that decide without a miss. */
    private Sentence longer(Map.Entry<Double, Tried> at) {
      LevelResult result = at.getValue().result();
      double min = (double) Interval.minToShow(result.sloPercentile());
      double needed = 4 * min / MAX_ROUNDS;
      Integer requests = phases.requests();
      if (requests != null) {
        long more = (long) Math.ceil(Math.max(needed, 2.0 * requests));
        return Sentence.of("sought.longer", more, null);
      }
      double seconds = phases.measureNanos() / 1e9;
      // Of a closed loop the server decides how many requests it has in a time.
      double perSecond = ofUsers ? result.attempted() / (MAX_ROUNDS * seconds) : at.getKey();
      seconds = Math.max(needed / perSecond, 2 * seconds);
      return Sentence.of("sought.longer", null, (long) Math.ceil(seconds / 5) * 5);
    }
  }
}
