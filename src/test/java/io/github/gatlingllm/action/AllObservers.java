package io.github.gatlingllm.action;

import io.github.gatlingllm.run.Run;
import io.github.gatlingllm.run.RunObserver;
import io.github.gatlingllm.run.live.LiveView;
import io.github.gatlingllm.storage.S3Location;
import io.netty.util.concurrent.EventExecutor;
import java.util.List;

/** The list of observers of a run in which every one is enabled; nothing leaves the machine. */
public final class AllObservers {

  private AllObservers() {}

  /** All observers; {@code upload} is a place where nothing is. */
  public static List<RunObserver> of(
      Run run, Iterable<EventExecutor> eventLoops, S3Location upload) {
    return new Observers(
            new LiveView.Options(LiveView.Address.parse("0"), "http://127.0.0.1:1/v1/metrics"),
            upload)
        .of(run, eventLoops);
  }
}
