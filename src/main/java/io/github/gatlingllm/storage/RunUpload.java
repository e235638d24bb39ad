package io.github.gatlingllm.storage;

import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.RunInfo;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Uploads the recorded files of a run and its report to object storage, to {@code
 * <prefix>/<run>-<injector>/}, without the injector for a merged run. {@code run.json} is uploaded
 * after the other records, so that its presence means that they are complete; the report follows
 * later. Gatling's own pages and its {@code simulation.log} are not uploaded.
 */
public final class RunUpload implements AutoCloseable {

  private final ObjectStore store;
  private final S3Location place;
  private final RunFiles files;

  private RunUpload(ObjectStore store, S3Location place, RunFiles files) {
    this.store = store;
    this.place = place;
    this.files = files;
  }

  /** Throws with a one-line message if uploads cannot work, as far as can be known. */
  public static void check(S3Location prefix) throws IOException {
    try (ObjectStore store = prefix.open()) {
      store.check();
    } catch (ObjectStore.Denied e) {
      // The credentials may permit writing only.
    }
  }

  public static RunUpload open(S3Location prefix, RunFiles files, RunInfo info) throws IOException {
    boolean isMerged = info.injector().contains(",");
    String name =
        (isMerged ? info.id() : info.id() + "-" + info.injector())
            .replaceAll("[^A-Za-z0-9._-]+", "-");
    return new RunUpload(prefix.open(), prefix.at(name), files);
  }

  public S3Location place() {
    return place;
  }

  public void records() throws IOException {
    List<Path> records = new ArrayList<>(RunInputs.records(files));
    records.remove(files.info());
    upload(records);
    upload(List.of(files.info()));
  }

  public void report() throws IOException {
    upload(
        List.of(
            files.page(),
            files.summaryJson(),
            files.summaryMarkdown(),
            files.junit(),
            files.csv()));
  }

  private void upload(List<Path> all) throws IOException {
    Map<String, Path> byName = new LinkedHashMap<>();
    for (Path file : all) {
      if (Files.isRegularFile(file)) {
        byName.put(files.run().relativize(file).toString().replace('\\', '/'), file);
      }
    }
    store.upload(place, byName);
  }

  @Override
  public void close() {
    store.close();
  }
}
