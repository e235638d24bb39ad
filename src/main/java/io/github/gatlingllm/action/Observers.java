package io.github.gatlingllm.action;

import io.github.gatlingllm.record.GeneratorSecond;
import io.github.gatlingllm.run.LiveLevelTally;
import io.github.gatlingllm.run.Run;
import io.github.gatlingllm.run.RunConsole;
import io.github.gatlingllm.run.RunObserver;
import io.github.gatlingllm.run.UploadObserver;
import io.github.gatlingllm.run.health.GeneratorLog;
import io.github.gatlingllm.run.live.GenAiMeters;
import io.github.gatlingllm.run.live.LiveView;
import io.github.gatlingllm.run.server.ServerWatch;
import io.github.gatlingllm.storage.S3Location;
import io.netty.util.concurrent.EventExecutor;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The observers of a run, from the settings of the process. A run without one of the lines in
 * {@link #of} completes, with its records whole.
 */
record Observers(LiveView.Options live, @Nullable S3Location upload) {

  static Observers ofProcess() {
    S3Location upload = S3Location.ofProcess(System.getProperties(), System.getenv());
    UploadObserver.check(upload);
    return new Observers(LiveView.Options.of(System.getProperties(), System.getenv()), upload);
  }

  List<RunObserver> of(Run run, Iterable<? extends EventExecutor> eventLoops) {
    GenAiMeters meters = meters(run);
    LiveView page = LiveView.open(run, live, meters);
    Consumer<GeneratorSecond> seconds = page == null ? second -> {} : page::generatorSecond;
    return Stream.of(
            new LiveLevelTally(run),
            new RunConsole(run),
            new GeneratorLog(run, eventLoops, seconds),
            new ServerWatch(run),
            page,
            meters,
            UploadObserver.of(run, upload))
        .filter(Objects::nonNull)
        .toList();
  }

  /** Null without Micrometer too, an optional dependency that the class of the meters needs. */
  private @Nullable GenAiMeters meters(Run run) {
    try {
      return GenAiMeters.open(run, live);
    } catch (NoClassDefFoundError noMicrometer) {
      if (live.otlp() != null) {
        System.out.println(
            "LLM otlp: no meters are sent; add io.micrometer:micrometer-registry-otlp to the class"
                + " path");
      }
      return null;
    }
  }
}
