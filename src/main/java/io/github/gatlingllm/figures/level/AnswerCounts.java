package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.metric.ValueRecorder.Moments;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestRecord.TokenSource;
import io.github.gatlingllm.record.RequestStatus;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/** Counts properties of answers that affect figures, by target, of measured requests. */
@SuppressWarnings("EnumOrdinal") // an array of counters, one per property
public final class AnswerCounts {

  /** A row states what a request scheduled in measure adds; those from OK on are of ok answers. */
  public enum Property {
    /** Cancelled requests that were never sent. */
    NEVER_ADMITTED(
        a ->
            a.record.outcome().status() == RequestStatus.CANCELLED
                && a.record.timing().gateWaitNanos() == null),
    RESENT(a -> a.record.outcome().resent()),
    OK(Answer::isOk),
    STREAMED(Answer::isStream),
    /** Ok answers that arrived as one body although a stream was requested. */
    NOT_STREAMED(a -> a.isOk() && a.record.isOneBody() && a.record.identity().streamed()),
    /** Answers that should have exactly {@code max_tokens} tokens. */
    PINNED(a -> a.isOk() && a.isPinned),
    /** Of these, answers with another length. */
    NOT_PINNED(
        a ->
            a.isOk()
                && a.isPinned
                && ("stop".equals(a.record.outcome().finishReason()) || a.hasOtherLength())),
    /** Token counts that the server did not report. */
    ESTIMATED(a -> a.isOk() && a.tokens().estimated()),
    /** Impossible token counts. */
    REFUSED(a -> a.isOk() && !a.tokens().refused().isEmpty()),
    COUNTED_BY_TOKENIZER(a -> a.isOk() && a.tokens().source() == TokenSource.TOKENIZER),
    COUNTED_BY_CHUNKS(a -> a.isOk() && a.tokens().source() == TokenSource.CHUNKS),
    /** Answers whose tokens were divided evenly among their events. */
    SHARED(a -> a.isOk() && a.isShared),
    /** Streams whose N was not counted from their events. */
    COMPARABLE(Answer::isComparable),
    /** Of these, streams whose events do not add up to N. */
    DISAGREEING(a -> a.isComparable() && a.disagrees()),
    /** Streams of {@value #MIN_TOKENS} tokens or more. */
    LONG_STREAMS(Answer::isLong),
    /** Of these, streams whose tokens all arrived at their end. */
    BUFFERED(Answer::isBuffered),
    /** Of these, answers to requests with tools, which a parser may hold back. */
    BUFFERED_WITH_TOOLS(a -> a.isBuffered() && a.record.identity().hasTools()),
    EVENTS(Answer::isStream, record -> record.events().count()),
    /** Events that arrived in the same read as the previous one. */
    COALESCED(Answer::isStream, record -> record.events().coalesced()),
    /** Complete answers whose body the server did not end. */
    LEFT_OPEN(a -> a.isOk() && a.record.outcome().leftOpen()),
    /** Ok answers with text in a field that no API is known to have. */
    UNKNOWN_FIELD(a -> a.isOk() && !a.record.events().unknownFields().isEmpty()),
    /** Ok answers with a finish reason that no known server has. */
    UNKNOWN_FINISH(Answer::hasUnknownFinish);

    @SuppressWarnings("ImmutableEnumChecker") // its functions have no state
    private final Predicate<Answer> applies;

    @SuppressWarnings("ImmutableEnumChecker")
    private final ToIntFunction<RequestRecord> count;

    Property(Predicate<Answer> applies) {
      this(applies, record -> 1);
    }

    Property(Predicate<Answer> applies, ToIntFunction<RequestRecord> count) {
      this.applies = applies;
      this.count = count;
    }
  }

  private static final Property[] PROPERTIES = Property.values();

  private static final int MIN_TOKENS = 8;

  /**
   * What rows read of a request.
   *
   * @param isShared whether its tokens were divided evenly among its events
   * @param isPinned whether answers of its target have exactly {@code max_tokens} tokens
   */
  private record Answer(RequestRecord record, boolean isShared, boolean isPinned) {

    /** A stream whose tokens all arrive within this share of E2E was buffered. */
    private static final double BUFFERED_SHARE = 0.02;

    private RequestRecord.Tokens tokens() {
      return record.tokens();
    }

    /** Embeddings have no answer text. */
    private boolean isOk() {
      return record.outcome().ok() && tokens().inputs() == null;
    }

    private boolean isStream() {
      return isOk() && !record.isOneBody();
    }

    private boolean isComparable() {
      return isStream()
          && tokens().streamedTokens() != null
          && tokens().source() != TokenSource.CHUNKS
          && record.events().count() > 0;
    }

    /** Whether the events' tokens do not add up to N, or there are more events than tokens. */
    private boolean disagrees() {
      int n = Objects.requireNonNull(tokens().streamedTokens());
      int[] each = record.events().tokens();
      return each.length == 0
          ? record.events().count() > n
          : Arrays.stream(each).asLongStream().sum() != n;
    }

    private boolean isLong() {
      Integer n = tokens().n();
      RequestRecord.Timing timing = record.timing();
      return isStream()
          && timing.ttftNanos() != null
          && timing.latencyNanos() != null
          && n != null
          && n >= MIN_TOKENS;
    }

    private boolean isBuffered() {
      Long first = record.timing().ttftNanos();
      Long last = record.timing().latencyNanos();
      return isLong() && first != null && last != null && last - first <= BUFFERED_SHARE * last;
    }

    private boolean hasUnknownFinish() {
      String finish = record.outcome().finishReason();
      return isOk() && finish != null && RequestStatus.ofFinishReason(finish) == null;
    }

    /** Choices are counted one by one if the tokens of each event are known, else together. */
    private boolean hasOtherLength() {
      Integer limit = tokens().maxTokens();
      Integer output = tokens().outputTokens();
      if (limit == null || output == null) {
        return false;
      }
      int[] choices = record.events().choices();
      int[] each = record.events().tokens();
      if (choices.length == 0) {
        // Without events the number of choices is unknown.
        boolean mayBeSeveral = record.events().offsetsMicros().length == 0 && limit > 0;
        return mayBeSeveral ? output == 0 || output % limit != 0 : !output.equals(limit);
      }
      int[] ofChoice = new int[Arrays.stream(choices).max().orElse(0) + 1];
      for (int i = 0; i < each.length; i++) {
        ofChoice[choices[i]] += each[i];
      }
      // Billed tokens that were not streamed are in no event.
      boolean isComplete = Arrays.stream(each).sum() == output;
      return output != limit * ofChoice.length
          || (isComplete && Arrays.stream(ofChoice).anyMatch(length -> length != limit));
    }
  }

  private final Predicate<String> pinnedTargets;
  private final Map<String, long[]> byTarget = new TreeMap<>();
  private final Set<String> refusedCounts = new TreeSet<>();
  private final Map<String, TextCounts> prompts = new TreeMap<>();
  private final Map<String, TextCounts> outputs = new TreeMap<>();

  /** For targets with pinned answers, which should have exactly {@code max_tokens} tokens. */
  AnswerCounts(Predicate<String> pinnedTargets) {
    this.pinnedTargets = pinnedTargets;
  }

  public long of(Property property) {
    return byTarget.values().stream().mapToLong(own -> own[property.ordinal()]).sum();
  }

  /** A part ÷ what has a property; null where nothing has it. */
  public @Nullable Double share(String target, long part, Property total) {
    long all = of(target, total);
    return all == 0 ? null : (Double) ((double) part / all);
  }

  public long of(String target, Property property) {
    long[] own = byTarget.get(target);
    return own == null ? 0 : own[property.ordinal()];
  }

  /** Names of the counts that are impossible, or contradict others. */
  public String refusedCounts() {
    return String.join(", ", refusedCounts);
  }

  /** The prompts of ok requests that both the server and our tokenizer counted, by target. */
  public Map<String, TextCounts> prompts() {
    return prompts;
  }

  public Map<String, TextCounts> outputs() {
    return outputs;
  }

  void add(RequestRecord record, boolean isShared) {
    String target = record.identity().target();
    Answer answer = new Answer(record, isShared, pinnedTargets.test(target));
    long[] counts = byTarget.computeIfAbsent(target, t -> new long[PROPERTIES.length]);
    for (Property property : PROPERTIES) {
      counts[property.ordinal()] +=
          property.applies.test(answer) ? property.count.applyAsInt(record) : 0;
    }
    RequestRecord.Tokens tokens = record.tokens();
    if (record.outcome().ok()) {
      add(prompts, target, tokens.promptTokens(), tokens.promptTokensLocal());
    }
    if (answer.isOk()) {
      refusedCounts.addAll(tokens.refused());
      if (tokens.source() == TokenSource.USAGE) {
        // The local tokenizer counts streamed tokens only.
        add(outputs, target, tokens.streamedTokens(), tokens.outputTokensLocal());
      }
    }
  }

  private static void add(
      Map<String, TextCounts> counts,
      String target,
      @Nullable Integer server,
      @Nullable Integer local) {
    if (server != null && local != null) {
      counts.computeIfAbsent(target, t -> new TextCounts()).add(server, local);
    }
  }

  /**
   * The target with the largest difference; null if no request was counted by both.
   *
   * @param templates tokens that a target has stated it adds to each text; null if not known
   */
  public static @Nullable String worst(
      Map<String, TextCounts> counts, Function<String, @Nullable Integer> templates) {
    return counts.entrySet().stream()
        .filter(target -> target.getValue().local > 0)
        .max(
            Comparator.comparingDouble(
                    (Map.Entry<String, TextCounts> of) ->
                        Math.abs(of.getValue().difference(templates.apply(of.getKey()))))
                .thenComparing(Map.Entry::getKey, Comparator.reverseOrder()))
        .map(Map.Entry::getKey)
        .orElse(null);
  }

  /**
   * A server's counts of texts, with its template and special tokens, beside ours of the texts
   * alone, which show the tokens that its template adds to each. The caller decides how much
   * suffices: two texts of very different length that are counted exactly before a load show any
   * template; in a load tokenizers vary from text to text, so a line takes several texts and a
   * bound; a difference that is the same for texts of one length only may be another tokenizer's,
   * which a bound makes unlikely.
   */
  public static final class TextCounts {

    /** No template that inexact counts show is longer. */
    static final int MAX_TEMPLATE = 256;

    /** A line through fewer requests does not distinguish a template from chance. */
    private static final int MIN_FITTED = 10;

    private final Moments differences = new Moments();
    private final Moments lengths = new Moments();
    private long server;
    private long local;
    private double squares;
    private double products;

    public void add(int theirs, int own) {
      server += theirs;
      local += own;
      squares += (double) own * own;
      products += (double) own * theirs;
      lengths.add(own, 1);
      differences.add((double) theirs - own, 1);
    }

    public long count() {
      return lengths.count();
    }

    /** Mean per request. */
    public double serverTokens() {
      return (double) server / count();
    }

    /** Mean per request. */
    public double localTokens() {
      return (double) local / count();
    }

    /** Σ (server − template) ÷ Σ local − 1. */
    public double difference(@Nullable Integer template) {
      return (server - templateTokens(template) * count() - local) / local;
    }

    public boolean areEqual() {
      return Integer.valueOf(0).equals(constant());
    }

    /** Tokens that the server adds to each text: as it has stated, else as its counts show. */
    public double templateTokens(@Nullable Integer stated) {
      if (stated != null && stated < serverTokens()) {
        return stated;
      }
      Integer constant = constant();
      if (constant != null && constant >= 0 && lengths.min() != lengths.max()) {
        return constant;
      }
      Long fitted = count() < MIN_FITTED ? null : atLengthZero();
      return fitted == null || fitted > MAX_TEMPLATE ? 0 : Math.max(0, fitted);
    }

    /** The tokens by which the server counts more, where that is the same for all texts. */
    @Nullable Integer constant() {
      return differences.min() == differences.max() ? (Integer) (int) differences.min() : null;
    }

    /**
     * Where counts lie on a line over our lengths, its value at length 0; null where lengths do not
     * differ, or the server counted other texts.
     */
    public @Nullable Long atLengthZero() {
      double deviation = count() * squares - (double) local * local;
      double slope = (count() * products - (double) local * server) / deviation;
      return deviation > 0 && slope > 0.5 && slope < 2
          ? (Long) Math.round((server - slope * local) / count())
          : null;
    }
  }
}
