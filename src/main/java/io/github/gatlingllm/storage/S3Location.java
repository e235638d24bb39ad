package io.github.gatlingllm.storage;

import io.github.gatlingllm.record.ProcessSetting;
import java.io.IOException;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A place in object storage, {@code s3://bucket/prefix}.
 *
 * @param prefix empty, or without a slash at its end
 */
public record S3Location(String bucket, String prefix) {

  /**
   * System property that names where runs are uploaded to; {@code LLM_UPLOAD} in the environment.
   */
  public static final String UPLOAD_PROPERTY = "llm.upload";

  private static final String SCHEME = "s3://";
  private static final Pattern FORM =
      Pattern.compile("s3://([A-Za-z0-9][A-Za-z0-9._-]{1,254})(?:/(?:([^/].*?)?/*)?)?");

  public static boolean isS3Url(String text) {
    return text.startsWith(SCHEME);
  }

  /**
   * Parses {@code s3://bucket} or {@code s3://bucket/prefix}, with or without a slash at the end.
   */
  public static S3Location parse(String text) {
    Matcher parts = FORM.matcher(text);
    if (!parts.matches()) {
      throw new IllegalArgumentException(
          "'" + text + "' is no place in object storage; expected s3://bucket/prefix");
    }
    return new S3Location(parts.group(1), parts.group(2) == null ? "" : parts.group(2));
  }

  /** Where this process uploads its run; null if it does not. */
  public static @Nullable S3Location ofProcess(
      Map<?, ?> properties, Map<String, String> environment) {
    String text = new ProcessSetting(UPLOAD_PROPERTY).text(properties, environment);
    try {
      return text == null ? null : parse(text);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(UPLOAD_PROPERTY + ": " + e.getMessage(), e);
    }
  }

  String below() {
    return prefix.isEmpty() ? "" : prefix + "/";
  }

  S3Location at(String name) {
    return new S3Location(bucket, below() + name);
  }

  /** The last segment of the prefix; the bucket if the prefix is empty. */
  String name() {
    return prefix.isEmpty() ? bucket : prefix.substring(prefix.lastIndexOf('/') + 1);
  }

  /** Throws with a one-line message if the AWS SDK is not on the class path, or has no region. */
  ObjectStore open() throws IOException {
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

  @Override
  public String toString() {
    return SCHEME + bucket + (prefix.isEmpty() ? "" : "/" + prefix);
  }
}
