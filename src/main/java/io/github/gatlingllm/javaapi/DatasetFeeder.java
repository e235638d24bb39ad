package io.github.gatlingllm.javaapi;

import io.github.gatlingllm.action.LlmProtocol;
import io.github.gatlingllm.load.Arrival.DrawOrder;
import io.github.gatlingllm.load.Arrivals;
import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.workload.Conversation.Dialog;
import io.github.gatlingllm.workload.Dataset;
import io.github.gatlingllm.workload.Dataset.SessionFile;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongFunction;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * A feeder that gives each user a recorded dialog; see {@link LlmDsl#dataset}. It never runs out:
 * after the last dialog it prints one line and gives all dialogs again, in another order. As with
 * all feeders of Gatling, scenarios that use the same occurrence share its dialogs.
 */
public final class DatasetFeeder implements Supplier<Iterator<Map<String, Object>>> {

  private final Dataset dataset;
  private final LongSupplier seed;
  private final boolean isInOrder;

  private DatasetFeeder(Dataset dataset, LongSupplier seed, boolean isInOrder) {
    this.dataset = dataset;
    this.seed = seed;
    this.isInOrder = isInOrder;
  }

  /**
   * For internal use only: the dialogs of an open dataset: those of a trace in its order, others in
   * random order.
   */
  public static DatasetFeeder of(Dataset dataset) {
    return new DatasetFeeder(dataset, Seeds.later(), dataset.isInOrder());
  }

  /** Pins the random order. Has no effect on a dataset that is read in the order of its file. */
  public DatasetFeeder seed(long seed) {
    return new DatasetFeeder(dataset, () -> seed, dataset.isInOrder());
  }

  /** Gives the dialogs in the order of the file. */
  public DatasetFeeder inOrder() {
    return new DatasetFeeder(dataset, seed, true);
  }

  /** For internal use only: the sessions of a file, in its order. */
  public static Supplier<Iterator<Map<String, Object>>> of(SessionFile file) {
    return () ->
        repeated(
            "sessions of " + file,
            file.sessions().size(),
            next ->
                Map.of(
                    Dataset.RecordedSession.KEY,
                    file.inOrder(next),
                    Dataset.RecordedSession.ROUND_KEY,
                    next / file.sessions().size()));
  }

  @Override
  public Iterator<Map<String, Object>> get() {
    long drawnFrom = isInOrder ? 0 : seed.getAsLong();
    return repeated(
        "dialogs of " + dataset,
        dataset.size(),
        next -> attributes(isInOrder ? dataset.inOrder(next) : dataset.dialog(drawnFrom, next)));
  }

  private static Iterator<Map<String, Object>> repeated(
      String what, int size, LongFunction<Map<String, Object>> draw) {
    if (LlmProtocol.isDryRun()) {
      PrintableText.print("LLM dry run: " + what);
    }
    DrawOrder order = Seeds.drawOrder();
    AtomicBoolean again = new AtomicBoolean();
    return Stream.generate(
            () -> {
              long next = order.next();
              if (next >= size && !again.getAndSet(true)) {
                PrintableText.print(
                    "LLM: all "
                        + what.replaceFirst("(: | \\().*", "")
                        + " have been sent and now repeat"
                        + (what.startsWith("sessions") ? "" : "; they may be in prefix caches"));
              }
              Map<String, Object> attributes = new HashMap<>(draw.apply(next));
              attributes.put(DrawOrder.KEY, order.fed(next));
              return attributes;
            })
        .iterator();
  }

  /** Always has all keys: an attribute that this dialog lacks must not retain an earlier value. */
  private Map<String, Object> attributes(Dialog dialog) {
    Map<String, Object> attributes = new HashMap<>();
    attributes.put("dialog", dialog);
    attributes.put("prompt", dialog.prompt());
    attributes.put("system", dialog.system());
    attributes.put("turns", dialog.size());
    attributes.put(Arrivals.Lengths.INPUT_KEY, dialog.inputTokens());
    attributes.put(Arrivals.Lengths.OUTPUT_KEY, dataset.outputTokens(dialog));
    return attributes;
  }
}
