package io.github.gatlingllm.stats;

import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.TokenGaps;
import io.github.gatlingllm.stats.CloseUps.EventSize;
import java.util.ArrayList;
import java.util.List;

/**
 * How many tokens the events of ok streams held: the server's count of each event, else N shared
 * evenly over the request's events and rounded down.
 */
final class EventSizes {

  private static final int[] FROM = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 50, 100};

  private final long[] events = new long[FROM.length];

  void add(RequestRecord record) {
    RequestRecord.Events e = record.events();
    if (!record.identity().streamed() || e.count() == 0) {
      return;
    }
    if (e.tokens().length == e.count()) {
      for (int tokens : e.tokens()) {
        events[indexOf(tokens)]++;
      }
    } else {
      events[indexOf((int) TokenGaps.share(e.count(), record.tokens()))] += e.count();
    }
  }

  private static int indexOf(int tokens) {
    int index = Math.min(Math.max(0, tokens), 10);
    while (index + 1 < FROM.length && tokens >= FROM[index + 1]) {
      index++;
    }
    return index;
  }

  /** Those that occur. */
  List<EventSize> sizes() {
    List<EventSize> sizes = new ArrayList<>();
    for (int i = 0; i < FROM.length; i++) {
      if (events[i] > 0) {
        Integer to = i + 1 < FROM.length ? (Integer) FROM[i + 1] : null;
        sizes.add(new EventSize(FROM[i], to, events[i]));
      }
    }
    return sizes;
  }
}
