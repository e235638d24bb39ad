package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.metric.ValueRecorder.Moments;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Counts properties of answers that affect figures, by target, of measured requests. */
@SuppressWarnings("EnumOrdinal") // an array of counters, one per property
public final class AnswerCounts {

  public enum Property {
    OK,
    STREAMED,
    /** Ok answers that arrived as one body although a stream was requested. */
    NOT_STREAMED,
    /** Answers that should have exactly {@code max_tokens} tokens. */
    PINNED,
    /** Of these, answers with another length. */
    NOT_PINNED,
    /** Token counts that the server did not report. */
    ESTIMATED,
    /** Impossible token counts. */
    REFUSED,
    COUNTED_BY_TOKENIZER,
    COUNTED_BY_CHUNKS,
    /** Answers whose tokens were divided evenly among their events. */
    SHARED,
    /** Streams whose N was not counted from their events. */
    COMPARABLE,
    /** Of these, streams whose events do not add up to N. */
    DISAGREEING,
    /** Streams of {@value #MIN_TOKENS} tokens or more. */
    LONG_STREAMS,
    /** Of these, streams whose tokens all arrived at their end. */
    BUFFERED,
    /** Of these, answers to requests with tools, which a parser may hold back. */
    BUFFERED_WITH_TOOLS,
    EVENTS,
    /** Events that arrived in the same read as the previous one. */
    COALESCED,
    RESENT,
    /** Complete answers whose body the server did not end. */
    LEFT_OPEN,
    /** Ok answers with text in a field that no API is known to have. */
    UNKNOWN_FIELD,
    /** Ok answers with a finish reason that no known server has. */
    UNKNOWN_FINISH,
    CANCELLED,
    /** Of these, requests that were never sent. */
    NEVER_ADMITTED
  }

  /** A stream whose tokens all arrive within this share of E2E was buffered. */
  private static final double BUFFERED_SHARE = 0.02;

  private static final int MIN_TOKENS = 8;

  private final Predicate<String> pinnedTargets;
  private final Map<String, long[]> byTarget = new TreeMap<>();
  private long[] counts = new long[Property.values().length];
  private final Set<String> refusedCounts = new TreeSet<>();
  private final CountComparison prompts = new CountComparison();
  private final CountComparison outputs = new CountComparison();

  /** For targets with pinned answers, which should have exactly {@code max_tokens} tokens. */
  AnswerCounts(Predicate<String> pinnedTargets) {
    this.pinnedTargets = pinnedTargets;
  }

  /** The count of all targets together. */
  public long of(Property property) {
    return byTarget.values().stream().mapToLong(own -> own[property.ordinal()]).sum();
  }

  /** A part ÷ what has a property; null where nothing has it. */
  public @Nullable Double share(String target, long part, Property whole) {
    long all = of(target, whole);
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

  public CountComparison prompts() {
    return prompts;
  }

  public CountComparison outputs() {
    return outputs;
  }

  private void count(Property property, boolean applies) {
    counts[property.ordinal()] += applies ? 1 : 0;
  }

  void add(RequestRecord record, boolean isShared) {
    boolean isCancelled = record.outcome().status() == RequestStatus.CANCELLED;
    counts =
        byTarget.computeIfAbsent(
            record.identity().target(), target -> new long[Property.values().length]);
    count(Property.CANCELLED, isCancelled);
    count(Property.NEVER_ADMITTED, isCancelled && record.timing().gateWaitNanos() == null);
    count(Property.RESENT, record.outcome().resent());
    if (!record.outcome().ok()) {
      return;
    }
    RequestRecord.Tokens tokens = record.tokens();
    prompts.add(record.identity().target(), tokens.promptTokens(), tokens.promptTokensLocal());
    if (tokens.inputs() != null) {
      return; // embeddings have no answer text
    }
    count(Property.OK, true);
    count(Property.LEFT_OPEN, record.outcome().leftOpen());
    count(Property.UNKNOWN_FIELD, !record.events().unknownFields().isEmpty());
    String finish = record.outcome().finishReason();
    count(Property.UNKNOWN_FINISH, finish != null && RequestStatus.ofFinishReason(finish) == null);
    count(Property.SHARED, isShared);
    addTokens(record);
    if (record.isOneBody()) {
      count(Property.NOT_STREAMED, record.identity().streamed());
    } else {
      addStream(record);
    }
  }

  private void addTokens(RequestRecord record) {
    RequestRecord.Tokens tokens = record.tokens();
    RequestRecord.TokenSource source = tokens.source();
    String target = record.identity().target();
    if (source == RequestRecord.TokenSource.USAGE) {
      // The local tokenizer counts streamed tokens only.
      outputs.add(target, tokens.streamedTokens(), tokens.outputTokensLocal());
    }
    count(Property.ESTIMATED, tokens.estimated());
    count(Property.REFUSED, !tokens.refused().isEmpty());
    refusedCounts.addAll(tokens.refused());
    count(Property.COUNTED_BY_TOKENIZER, source == RequestRecord.TokenSource.TOKENIZER);
    count(Property.COUNTED_BY_CHUNKS, source == RequestRecord.TokenSource.CHUNKS);
    if (pinnedTargets.test(target)) {
      count(Property.PINNED, true);
      boolean stopped = "stop".equals(record.outcome().finishReason());
      count(Property.NOT_PINNED, stopped || hasOtherLength(record));
    }
  }

  /** Choices are counted one by one if the tokens of each event are known, else together. */
  private static boolean hasOtherLength(RequestRecord record) {
    Integer limit = record.tokens().maxTokens();
    Integer output = record.tokens().outputTokens();
    if (limit == null || output == null) {
      return false;
    }
    int[] choices = record.events().choices();
    int[] tokens = record.events().tokens();
    if (choices.length == 0) {
      // Without events the number of choices is unknown.
      boolean mayBeSeveral = record.events().offsetsMicros().length == 0 && limit > 0;
      return mayBeSeveral ? output == 0 || output % limit != 0 : !output.equals(limit);
    }
    int[] ofChoice = new int[Arrays.stream(choices).max().orElse(0) + 1];
    for (int i = 0; i < tokens.length; i++) {
      ofChoice[choices[i]] += tokens[i];
    }
    // Billed tokens that were not streamed are in no event.
    boolean isComplete = Arrays.stream(tokens).sum() == output;
    return output != limit * ofChoice.length
        || (isComplete && Arrays.stream(ofChoice).anyMatch(length -> length != limit));
  }

  private void addStream(RequestRecord record) {
    RequestRecord.Events events = record.events();
    count(Property.STREAMED, true);
    counts[Property.EVENTS.ordinal()] += events.count();
    counts[Property.COALESCED.ordinal()] += events.coalesced();
    Integer streamed = record.tokens().streamedTokens();
    boolean isOwnCount = record.tokens().source() != RequestRecord.TokenSource.CHUNKS;
    if (streamed != null && isOwnCount && events.count() > 0) {
      count(Property.COMPARABLE, true);
      count(Property.DISAGREEING, disagrees(events, streamed));
    }
    Long first = record.timing().ttftNanos();
    Long last = record.timing().latencyNanos();
    Integer n = record.tokens().n();
    if (first != null && last != null && n != null && n >= MIN_TOKENS) {
      count(Property.LONG_STREAMS, true);
      boolean isBuffered = last - first <= BUFFERED_SHARE * last;
      count(Property.BUFFERED, isBuffered);
      count(Property.BUFFERED_WITH_TOOLS, isBuffered && record.identity().hasTools());
    }
  }

  /** Whether the events' tokens do not add up to N, or there are more events than tokens. */
  private static boolean disagrees(RequestRecord.Events events, int n) {
    return events.tokens().length == 0
        ? events.count() > n
        : Arrays.stream(events.tokens()).asLongStream().sum() != n;
  }

  /**
   * Compares the token counts of each target's server with those of the local tokenizer, over the
   * successful requests that both counted: of prompts, or of answers. The server's count includes
   * its chat template and special tokens; the local count is of the texts alone.
   */
  public static final class CountComparison {

    private final Map<String, TargetCounts> targets = new TreeMap<>();

    void add(String target, @Nullable Integer server, @Nullable Integer local) {
      if (server != null && local != null) {
        targets.computeIfAbsent(target, TargetCounts::new).texts.add(server, local);
      }
    }

    public boolean hasSeveralTargets() {
      return targets.size() > 1;
    }

    /**
     * The target with the largest difference; null if no request was counted by both.
     *
     * @param templates tokens that a target has said it adds to each text; null if not known
     */
    public @Nullable TargetCounts worst(Function<String, @Nullable Integer> templates) {
      return targets.values().stream()
          .filter(target -> target.texts.local > 0)
          .max(
              Comparator.comparingDouble(
                      (TargetCounts of) -> Math.abs(of.difference(templates.apply(of.target))))
                  .thenComparing(TargetCounts::target, Comparator.reverseOrder()))
          .orElse(null);
    }

    public static final class TargetCounts {

      /** A line through fewer requests does not tell a template from chance. */
      private static final int MIN_FITTED = 10;

      private final String target;
      private final TextCounts texts = new TextCounts();

      private TargetCounts(String target) {
        this.target = target;
      }

      public String target() {
        return target;
      }

      public long count() {
        return texts.lengths.count();
      }

      /** Mean per request. */
      public double serverTokens() {
        return (double) texts.server / count();
      }

      /** Mean per request. */
      public double localTokens() {
        return (double) texts.local / count();
      }

      /** Σ (server − template) ÷ Σ local − 1. */
      public double difference(@Nullable Integer template) {
        return (texts.server - templateTokens(template) * count() - texts.local) / texts.local;
      }

      public boolean areEqual() {
        Integer constant = texts.constant();
        return constant != null && constant == 0;
      }

      /** Tokens that the server adds to each text: as it has said, else as its counts show. */
      public double templateTokens(@Nullable Integer said) {
        if (said != null && said < serverTokens()) {
          return said;
        }
        Integer constant = texts.constant();
        if (constant != null && constant >= 0 && texts.lengths.min() != texts.lengths.max()) {
          return constant;
        }
        Long fitted = count() < MIN_FITTED ? null : texts.atLengthZero();
        return fitted == null || fitted > TextCounts.MAX_TEMPLATE ? 0 : Math.max(0, fitted);
      }
    }
  }

  /**
   * A server's counts of texts beside ours, which tell the tokens that its template adds to each.
   * Whoever asks decides how much suffices: two texts of very different length that are counted
   * exactly before a load tell any template; in a load tokenizers vary from text to text, so a line
   * takes several texts and a bound; a difference that is the same for texts of one length only may
   * be another tokenizer's, which a bound makes unlikely.
   */
  public static final class TextCounts {

    /** No template that is told by less than exact counts is longer. */
    static final int MAX_TEMPLATE = 256;

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

    /** The tokens by which the server counts more, where that is the same for all texts. */
    @Nullable Integer constant() {
      return differences.min() == differences.max() ? (Integer) (int) differences.min() : null;
    }

    /**
     * Where counts lie on a line over our lengths, what is left of it at length 0; null where
     * lengths do not differ, or the server's tokens are no tokens of these texts.
     */
    public @Nullable Long atLengthZero() {
      long count = lengths.count();
      double deviation = count * squares - (double) local * local;
      double slope = (count * products - (double) local * server) / deviation;
      return deviation > 0 && slope > 0.5 && slope < 2
          ? (Long) Math.round((server - slope * local) / count)
          : null;
    }
  }
}
