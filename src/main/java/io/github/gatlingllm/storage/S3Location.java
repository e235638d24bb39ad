package io.github.gatlingllm.storage;

import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.RunInfo;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A place in object storage, {@code s3://bucket/prefix}.
 *
 * @param prefix empty, or without a slash at its end
 */
public record S3Location(String bucket, String prefix) {

  private static final String SCHEME = "s3://";
  private static final Pattern FORM =
      Pattern.compile("s3://([A-Za-z0-9][A-Za-z0-9._-]{1,254})(?:/(?:([^/].*?)?/*)?)?");

  public static boolean isS3Url(String text) {
    return text.startsWith(SCHEME);
  }

  public static S3Location parse(String text) {
    Matcher parts = FORM.matcher(text);
    if (!parts.matches()) {
      throw new IllegalArgumentException(
          "'" + text + "' is not a location in object storage; expected s3://bucket/prefix");
    }
    return new S3Location(parts.group(1), parts.group(2) == null ? "" : parts.group(2));
  }

  String below() {
    return prefix.isEmpty() ? "" : prefix + "/";
  }

  public S3Location at(String name) {
    return new S3Location(bucket, below() + name);
  }

  /** The last segment of the prefix; the bucket if the prefix is empty. */
  public String name() {
    return prefix.isEmpty() ? bucket : prefix.substring(prefix.lastIndexOf('/') + 1);
  }

  /** Throws with a one-line message if the AWS SDK is not on the class path, or has no region. */
  private ObjectStore open() throws IOException {
    try {
      return ObjectStore.open(this);
    } catch (NoClassDefFoundError missing) {
      throw new IOException(
          this
              + " needs the AWS SDK: add software.amazon.awssdk:s3 and url-connection-client"
              + " (2.x), without netty-nio-client, to the dependencies",
          missing);
    }
  }

  /** The recorded files of each run by their names, by the run's path below this place. */
  public SortedMap<String, Map<String, StoredObject>> runs() throws IOException {
    try (ObjectStore store = open()) {
      return store.runs();
    }
  }

  /** Downloads objects; files that are complete from an earlier attempt are reused. */
  public void download(Map<Path, StoredObject> objects) throws IOException {
    try (ObjectStore store = open()) {
      store.download(objects);
    }
  }

  public void upload(String name, Path file) throws IOException {
    try (ObjectStore store = open()) {
      store.upload(this, Map.of(name, file));
    }
  }

  /** Throws with a one-line message if uploads cannot work, as far as can be known. */
  public void check() throws IOException {
    try (ObjectStore store = open()) {
      store.check();
    } catch (AccessDeniedException e) {
      // The credentials may permit writing only.
    }
  }

  /** The place of a run below this prefix, without the injector for a merged run. */
  public S3Location of(RunInfo info) {
    boolean isMerged = info.injector().contains(",");
    return at(
        (isMerged ? info.id() : info.id() + "-" + info.injector())
            .replaceAll("[^A-Za-z0-9._-]+", "-"));
  }

  /**
   * Uploads the recorded files of a run, {@code run.json} after the others, so that its presence
   * means that they are complete.
   */
  public void uploadRecords(RunFiles files) throws IOException {
    List<Path> records = new ArrayList<>(files.records());
    records.remove(files.info());
    upload(files, records);
    upload(files, List.of(files.info()));
  }

  /** Uploads the report, without Gatling's own pages and its {@code simulation.log}. */
  public void uploadReport(RunFiles files) throws IOException {
    List<Path> report = new ArrayList<>(files.exported());
    report.addAll(
        List.of(
            files.page(),
            files.summaryJson(),
            files.summaryMarkdown(),
            files.junit(),
            files.csv()));
    upload(files, report);
  }

  private void upload(RunFiles files, List<Path> all) throws IOException {
    Map<String, Path> byName = new LinkedHashMap<>();
    for (Path file : all) {
      if (Files.isRegularFile(file)) {
        byName.put(files.run().relativize(file).toString().replace('\\', '/'), file);
      }
    }
    try (ObjectStore store = open()) {
      store.upload(this, byName);
    }
  }

  @Override
  public String toString() {
    return SCHEME + bucket + (prefix.isEmpty() ? "" : "/" + prefix);
  }

  /** An object; the ETag changes with its content. */
  public record StoredObject(String key, long size, String etag, Instant modified) {}
}
