package io.github.gatlingllm.run;

import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.storage.S3Location;
import io.github.gatlingllm.storage.S3Location.RunUpload;
import java.io.IOException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Uploads the records as soon as they are complete, and the report when it is made. */
final class UploadObserver implements RunObserver {

  private final RunFiles files;
  private final S3Location place;
  private boolean isFailed;

  UploadObserver(RunFiles files, S3Location place) {
    this.files = files;
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

  /** Long enough for large files: the machine may be gone after the run. */
  @Override
  public Duration patience() {
    return Duration.ofHours(1);
  }

  @Override
  public void recordsWritten(RunInfo info) {
    send(info, false);
  }

  @Override
  public void reportWritten(RunInfo info) {
    send(info, true);
  }

  private void send(RunInfo info, boolean isReport) {
    if (isFailed) {
      return;
    }
    RunUpload upload = RunUpload.of(place, files, info);
    try {
      if (isReport) {
        upload.report();
      } else {
        upload.records();
        PrintableText.print("LLM upload: " + upload.place());
      }
    } catch (IOException | RuntimeException | LinkageError e) {
      isFailed = true;
      PrintableText.print(
          "LLM upload failed: %s; the files are kept, copy them with: aws s3 cp --recursive %s %s"
              .formatted(e.getMessage(), files.folder(), upload.place().at("llm")));
    }
  }

  @Override
  public boolean isOutputLost() {
    return isFailed;
  }
}
