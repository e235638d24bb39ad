package io.github.gatlingllm.record;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The instants of one request, as they happen: stamped on a monotonic nanosecond clock, turned into
 * durations once at the end.
 *
 * <pre>
 * scheduled ─ start ─ admitted ─ written ─ headers ─ first event ─ first token … last token ─ closed
 *   └ start lag ┘ └ gate wait ┘ └ connect ┘          └──────────── TTFT, E2E from admitted ────────┘
 * </pre>
 *
 * <p>Costs one comparison, a few stores and, amortised, no allocation per token event. Not thread
 * safe: belongs to one event loop until the request ends.
 */
public final class Timeline {

  private static final long NONE = Long.MIN_VALUE;

  private final long scheduled;
  private final long start;
  private long admitted = NONE;
  private long paced = NONE;
  private long written = NONE;
  private long headers = NONE;
  private long firstEvent = NONE;
  private long firstToken = NONE;
  private long firstOutput = NONE;
  private long lastToken = NONE;
  private long body = NONE;
  private long closed = NONE;

  private int[] offsetsMicros = new int[32];

  /** Tokens of each event, kept as long as the server says them. */
  private int[] tokens = new int[0];

  private int[] choices = new int[0];
  private int count;
  private boolean everyEventCounted = true;
  private int coalesced;
  private int late;
  private boolean done;
  private long longestGap = NONE;

  /** First and last token instant of each choice; choice 0 only, until another is seen. */
  private long[] choiceFirst = {NONE};

  private long[] choiceLast = {NONE};

  /**
   * @param scheduled planned arrival; without a plan, when its user was free for it
   * @param start the request is ready to go; not before {@code scheduled}
   */
  public Timeline(long scheduled, long start) {
    this.scheduled = scheduled;
    this.start = start;
  }

  /** The request left the in-flight gate. */
  public void admitted(long now) {
    admitted = now;
  }

  /** So long it was held back to stay below a number of requests or tokens a minute. */
  public void paced(long nanos) {
    paced = nanos;
  }

  /** The request's bytes were handed to a connected channel. */
  public void written(long now) {
    written = now;
  }

  /** Response status line and headers are in. */
  public void headers(long now) {
    headers = now;
  }

  /** An event with data came, of any kind. */
  public void event(long now) {
    if (firstEvent == NONE) {
      firstEvent = now;
    }
  }

  /**
   * An event with tokens came.
   *
   * @param choice index of the choice that it belongs to
   * @param now instant of the read that completed it; several events of one read share it
   * @param output whether any of it is not reasoning
   * @param tokensInEvent how many tokens it held; negative when the server did not say
   */
  public void tokens(int choice, long now, boolean output, int tokensInEvent) {
    if (firstToken == NONE) {
      firstToken = now;
    }
    if (output && firstOutput == NONE) {
      firstOutput = now;
    }
    lastToken = now;
    ofChoice(choice, now);
    append(choice, now, tokensInEvent);
  }

  /** The last byte of a body that was not streamed. */
  public void body(long now) {
    body = now;
  }

  /** The stream announced its end. */
  public void done() {
    done = true;
  }

  /** An event with data came after the end was announced. */
  public void late() {
    late++;
  }

  /** Nothing more will come. */
  public void closed(long now) {
    closed = now;
  }

  private void ofChoice(int choice, long now) {
    if (choice >= choiceFirst.length) {
      int from = choiceFirst.length;
      choiceFirst = Arrays.copyOf(choiceFirst, choice + 1);
      choiceLast = Arrays.copyOf(choiceLast, choice + 1);
      Arrays.fill(choiceFirst, from, choice + 1, NONE);
      Arrays.fill(choiceLast, from, choice + 1, NONE);
    }
    if (choiceFirst[choice] == NONE) {
      choiceFirst[choice] = now;
    } else {
      long gap = now - choiceLast[choice];
      longestGap = Math.max(longestGap, gap);
      if (gap == 0) {
        coalesced++;
      }
    }
    choiceLast[choice] = now;
  }

  private void append(int choice, long now, int tokensInEvent) {
    if (count >= FieldType.MOST_EVENTS) {
      count++;
      return;
    }
    if (count == offsetsMicros.length) {
      offsetsMicros = Arrays.copyOf(offsetsMicros, count * 2);
    }
    if (choice > 0 || choices.length > 0) {
      // Zeros stand for the events of choice 0 that came before the first one of another choice.
      choices = choices.length > count ? choices : Arrays.copyOf(choices, offsetsMicros.length);
      choices[count] = choice;
    }
    offsetsMicros[count] = (int) Math.min(Integer.MAX_VALUE, (now - admitted) / 1_000);
    everyEventCounted &= tokensInEvent >= 0;
    if (everyEventCounted) {
      tokens = tokens.length > count ? tokens : Arrays.copyOf(tokens, offsetsMicros.length);
      tokens[count] = tokensInEvent;
    }
    count++;
  }

  /** Planned arrival. */
  public long scheduled() {
    return scheduled;
  }

  /** When the request's bytes were handed to a channel; only after they were. */
  public long written() {
    return written;
  }

  /** Whether the request left the in-flight gate. */
  public boolean isAdmitted() {
    return admitted != NONE;
  }

  /** How many events with tokens came. */
  public int count() {
    return count;
  }

  /**
   * All durations.
   *
   * @param startUnixNanos epoch time of {@code start}
   * @param scheduledOffsetNanos planned arrival since the start of its schedule
   * @param streamedTokens N of the metrics
   */
  public RequestRecord.Timing timing(
      long startUnixNanos, @Nullable Long scheduledOffsetNanos, @Nullable Integer streamedTokens) {
    return new RequestRecord.Timing(
        startUnixNanos,
        scheduledOffsetNanos,
        start - scheduled,
        admitted == NONE ? null : (Long) (admitted - start),
        sinceAdmitted(written),
        sinceAdmitted(headers),
        sinceAdmitted(firstEvent),
        sinceAdmitted(firstToken),
        sinceAdmitted(firstOutput),
        sinceAdmitted(body == NONE ? lastToken : body),
        closed == NONE ? null : (Long) (closed - (admitted == NONE ? start : admitted)),
        tpotNanos(streamedTokens),
        paced == NONE ? null : (Long) paced);
  }

  /**
   * The token-bearing events.
   *
   * @param asked whether to keep one instant per event; those of an endless answer are not kept
   */
  public RequestRecord.Events events(boolean asked) {
    boolean keepTimes = asked && count <= FieldType.MOST_EVENTS;
    boolean counted = count > 0 && everyEventCounted;
    return new RequestRecord.Events(
        keepTimes ? Arrays.copyOf(offsetsMicros, count) : new int[0],
        keepTimes && counted ? Arrays.copyOf(tokens, count) : new int[0],
        keepTimes && choices.length > 0 ? Arrays.copyOf(choices, count) : new int[0],
        count,
        coalesced,
        late,
        done,
        longestGap == NONE ? null : longestGap,
        firstEventTokens());
  }

  private @Nullable Integer firstEventTokens() {
    return tokens.length > 0 ? tokens[0] : null;
  }

  /**
   * TPOT = (last token − first token) / (N − k), k the tokens of the first event: as the server
   * said, else an even share of N. With several choices the spans are added up and the first event
   * of each is taken off. Absent for fewer than 2 events or tokens, and where all came in one read:
   * there is no gap to measure.
   */
  private @Nullable Double tpotNanos(@Nullable Integer streamedTokens) {
    if (streamedTokens == null || count < 2) {
      return null;
    }
    long spans = 0;
    int firsts = 0;
    for (int choice = 0; choice < choiceFirst.length; choice++) {
      if (choiceFirst[choice] != NONE) {
        spans += choiceLast[choice] - choiceFirst[choice];
        firsts++;
      }
    }
    double share = TokenGaps.share(count, streamedTokens);
    double taken = tokens.length > 0 && firsts == 1 ? Math.max(1, tokens[0]) : firsts * share;
    double steps = streamedTokens - taken;
    return steps < 1 || spans == 0 ? null : (Double) (spans / steps);
  }

  private @Nullable Long sinceAdmitted(long instant) {
    return instant == NONE || admitted == NONE ? null : (Long) (instant - admitted);
  }
}
