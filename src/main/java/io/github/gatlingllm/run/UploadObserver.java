package io.github.gatlingllm.run;

import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.run.RunView.Stage;
import io.github.gatlingllm.storage.S3Location;
import io.github.gatlingllm.storage.S3Location.RunUpload;
import java.io.IOException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Uploads the records as soon as they are complete, and the report when it is made. */
final class UploadObserver implements RunObserver {

  private final Run run;
  private final S3Location place;
  private Stage sent = Stage.RUNNING;
  private volatile boolean isFailed;

  UploadObserver(Run run, S3Location place) {
    this.run = run;
    this.place = place;
  }

  static void check(@Nullable S3Location place) {
    try {
      if (place != null) {
        RunUpload.check(place);
      }
    } catch (IOException e) {
      throw new IllegalArgumentException(
          Observers.UPLOAD_PROPERTY + ": " + e.getMessage() + "; no load is sent", e);
    }
  }

  @Override
  public String name() {
    return "upload";
  }

  /** Long enough for large files: the machine may not exist any more after the run. */
  @Override
  public Duration patience() {
    return Duration.ofHours(1);
  }

  @Override
  public void tick(RunView view) {
    if (view.stage == sent || isFailed) {
      return;
    }
    sent = view.stage;
    RunUpload upload = RunUpload.of(place, run.files(), run.info());
    try {
      if (sent == Stage.REPORTED) {
        upload.report();
      } else {
        upload.records();
        PrintableText.print("LLM upload: " + upload.place());
      }
    } catch (IOException | RuntimeException | LinkageError e) {
      isFailed = true;
      PrintableText.print(
          "LLM upload failed: %s; the files are kept, copy them with: aws s3 cp --recursive %s %s"
              .formatted(e.getMessage(), run.files().folder(), upload.place().at("llm")));
    }
  }

  @Override
  public boolean isOutputLost() {
    return isFailed;
  }
}
