package io.github.gatlingllm.run;

import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RunInfo;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/** Keeps {@code run.json} up to date. Thread-safe; reading waits for no disk. */
final class RunInfoFile {

  private final Path file;
  private final Supplier<List<LevelInfo>> levels;
  private volatile RunInfo info;
  private String lastFailure = "";

  RunInfoFile(Path file, RunInfo started, Supplier<List<LevelInfo>> levels) {
    this.file = file;
    this.levels = levels;
    info = started;
  }

  RunInfo info() {
    return info;
  }

  /** Changes the information and writes it, with the load levels so far. */
  synchronized void change(UnaryOperator<RunInfo> more) {
    info = more.apply(info);
    List<LevelInfo> all = levels.get();
    info = info.stages(all).planned(LevelInfo.planned(all));
    try {
      info.write(file);
    } catch (IOException e) {
      String failure = "LLM run.json could not be written: " + e.getMessage();
      if (!failure.equals(lastFailure)) {
        lastFailure = failure;
        System.out.println(failure);
      }
    }
  }
}
