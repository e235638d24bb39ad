package io.github.gatlingllm.storage;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.function.Supplier;
import software.amazon.awssdk.core.ResponseInputStream;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.checksums.ResponseChecksumValidation;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.regions.providers.AwsProfileRegionProvider;
import software.amazon.awssdk.regions.providers.AwsRegionProviderChain;
import software.amazon.awssdk.regions.providers.SystemSettingsRegionProvider;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ClientBuilder;
import software.amazon.awssdk.services.s3.model.CompletedPart;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;
import software.amazon.awssdk.services.s3.model.NoSuchKeyException;
import software.amazon.awssdk.services.s3.model.S3Exception;
import software.amazon.awssdk.services.s3.model.UploadPartResponse;

/**
 * A bucket of S3-compatible object storage. This is the only class that uses the AWS SDK, an
 * optional dependency. The SDK finds credentials, region, endpoint and retry policy in the
 * environment, system properties, profiles and roles. With a custom endpoint the bucket is a part
 * of the path, as servers other than Amazon's expect. Thread-safe. Every {@link IOException} has a
 * one-line message with place and cause.
 */
final class Bucket implements AutoCloseable {

  private static final Duration CONNECTING = Duration.ofSeconds(5);
  private static final Duration SILENCE = Duration.ofSeconds(20);

  private static final int FORBIDDEN = 403;
  private static final int PRECONDITION_FAILED = 412;

  /** Servers other than Amazon's accept any region. */
  private static final Region ANY_REGION = Region.US_EAST_1;

  private final String name;
  private final S3Client client;
  private final String at;

  /**
   * An object in the bucket.
   *
   * @param size in bytes
   * @param etag changes with the content; in quotes
   */
  record Stored(String key, long size, String etag) {}

  /** The object was replaced or removed since it was listed. */
  static final class Changed extends IOException {
    private static final long serialVersionUID = 1;

    Changed(String message, Throwable cause) {
      super(message, cause);
    }
  }

  /** The credentials do not permit the operation. */
  static final class Denied extends IOException {
    private static final long serialVersionUID = 1;

    Denied(String message, Throwable cause) {
      super(message, cause);
    }
  }

  private Bucket(String name, S3Client client, String at) {
    this.name = name;
    this.client = client;
    this.at = at;
  }

  static Bucket open(String name) throws IOException {
    Optional<URI> endpoint;
    try (S3Client any = builder().region(ANY_REGION).build()) {
      endpoint = any.serviceClientConfiguration().endpointOverride();
    }
    try {
      return endpoint.isEmpty()
          ? new Bucket(name, builder().crossRegionAccessEnabled(true).build(), "")
          : new Bucket(name, clientOfCustomEndpoint(), " at " + endpoint.get());
    } catch (SdkException e) {
      throw new IOException("s3://" + name + ": no region was found; set AWS_REGION", e);
    }
  }

  private static S3ClientBuilder builder() {
    return S3Client.builder()
        .httpClientBuilder(
            UrlConnectionHttpClient.builder().connectionTimeout(CONNECTING).socketTimeout(SILENCE));
  }

  /** A client without signed chunks and trailing checksums, which not all servers support. */
  private static S3Client clientOfCustomEndpoint() {
    Region region;
    try {
      region =
          new AwsRegionProviderChain(
                  new SystemSettingsRegionProvider(), new AwsProfileRegionProvider())
              .getRegion();
    } catch (SdkClientException none) {
      region = ANY_REGION;
    }
    return builder()
        .region(region)
        .forcePathStyle(true)
        .serviceConfiguration(s3 -> s3.chunkedEncodingEnabled(false))
        .requestChecksumCalculation(RequestChecksumCalculation.WHEN_REQUIRED)
        .responseChecksumValidation(ResponseChecksumValidation.WHEN_REQUIRED)
        .build();
  }

  /** All objects whose keys begin with the prefix. */
  List<Stored> list(String prefix) throws IOException {
    return named(
        "s3:ListBucket",
        prefix,
        () -> {
          List<Stored> all = new ArrayList<>();
          client
              .listObjectsV2Paginator(list -> list.bucket(name).prefix(prefix))
              .contents()
              .forEach(object -> all.add(new Stored(object.key(), object.size(), object.eTag())));
          return all;
        });
  }

  /** The object of exactly that key. */
  Optional<Stored> find(String key) throws IOException {
    return named(
        "s3:GetObject",
        key,
        () -> {
          try {
            HeadObjectResponse head = client.headObject(ask -> ask.bucket(name).key(key));
            return Optional.of(new Stored(key, head.contentLength(), head.eTag()));
          } catch (NoSuchKeyException e) {
            return Optional.empty();
          }
        });
  }

  /** Lists at most one object, to check that bucket and credentials work. */
  void reach(String prefix) throws IOException {
    var unused =
        named(
            "s3:ListBucket",
            prefix,
            () -> client.listObjectsV2(list -> list.bucket(name).prefix(prefix).maxKeys(1)));
  }

  /**
   * Appends the missing rest of the object to the file. Returns early if the connection breaks; the
   * file then has what was received.
   *
   * @throws Changed if the object was replaced or removed
   */
  void append(Stored object, Path file) throws IOException {
    long have = Files.exists(file) ? Files.size(file) : 0;
    try (ResponseInputStream<GetObjectResponse> content =
            named(
                "s3:GetObject",
                object.key(),
                () ->
                    client.getObject(
                        get ->
                            get.bucket(name)
                                .key(object.key())
                                .ifMatch(object.etag())
                                .range(have == 0 ? null : "bytes=" + have + "-")));
        OutputStream to =
            Files.newOutputStream(
                file,
                StandardOpenOption.CREATE,
                content.response().contentRange() == null
                    ? StandardOpenOption.TRUNCATE_EXISTING
                    : StandardOpenOption.APPEND)) {
      byte[] buffer = new byte[1 << 16];
      for (int count = read(content, buffer); count > 0; count = read(content, buffer)) {
        to.write(buffer, 0, count);
      }
      content.abort();
    }
  }

  private static int read(InputStream content, byte[] buffer) {
    try {
      return content.read(buffer);
    } catch (IOException | SdkException broken) {
      return -1;
    }
  }

  /** Uploads an object in one request. */
  void put(byte[] content, String key) throws IOException {
    named(
        "s3:PutObject",
        key,
        () -> client.putObject(put -> put.bucket(name).key(key), body(content)));
  }

  private static RequestBody body(byte[] content) {
    return RequestBody.fromContentProvider(
        () -> new ByteArrayInputStream(content), content.length, "application/octet-stream");
  }

  /**
   * Uploads an object in several parts concurrently. The object exists when all parts are uploaded,
   * or not at all.
   *
   * @param count number of parts, at most 10,000
   * @param part reads the content of a part, by its number from 0
   */
  void put(String key, int count, PartReader part, ExecutorService threads) throws IOException {
    String action = "s3:PutObject";
    String id =
        named(action, key, () -> client.createMultipartUpload(to -> to.bucket(name).key(key)))
            .uploadId();
    List<Future<CompletedPart>> sent = new ArrayList<>();
    boolean isWhole = false;
    try {
      for (int i = 0; i < count; i++) {
        int number = i + 1;
        sent.add(
            threads.submit(
                () -> {
                  RequestBody body = body(part.read(number - 1));
                  UploadPartResponse done =
                      client.uploadPart(
                          to -> to.bucket(name).key(key).uploadId(id).partNumber(number), body);
                  return CompletedPart.builder().partNumber(number).eTag(done.eTag()).build();
                }));
      }
      List<CompletedPart> parts = new ArrayList<>();
      for (Future<CompletedPart> each : sent) {
        parts.add(each.get());
      }
      named(
          action,
          key,
          () ->
              client.completeMultipartUpload(
                  to ->
                      to.bucket(name)
                          .key(key)
                          .uploadId(id)
                          .multipartUpload(all -> all.parts(parts))));
      isWhole = true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("the upload of " + key + " was interrupted");
    } catch (ExecutionException e) {
      throw failure(action, key, e.getCause());
    } finally {
      if (!isWhole) {
        sent.forEach(each -> each.cancel(true));
        abort(key, id);
      }
    }
  }

  /** Removes the parts of an incomplete upload, which would cost money as long as they exist. */
  private void abort(String key, String id) {
    try {
      var unused = client.abortMultipartUpload(to -> to.bucket(name).key(key).uploadId(id));
    } catch (SdkException e) {
      // Report the failure of the upload instead.
    }
  }

  /** Reads a part of the upload. */
  interface PartReader {
    byte[] read(int number) throws IOException;
  }

  private <T> T named(String action, String key, Supplier<T> call) throws IOException {
    try {
      return call.get();
    } catch (SdkException e) {
      throw failure(action, key, e);
    }
  }

  private IOException failure(String action, String key, Throwable failure) {
    String place = new S3Location(name, key) + at + ": ";
    if (failure instanceof S3Exception answer) {
      String code = answer.awsErrorDetails() == null ? "" : answer.awsErrorDetails().errorCode();
      if ("NoSuchBucket".equals(code)) {
        return new IOException("there is no bucket " + name + at, answer);
      }
      if (answer.statusCode() == PRECONDITION_FAILED || answer instanceof NoSuchKeyException) {
        return new Changed(place + "it was replaced or removed meanwhile", answer);
      }
      String status = place + answer.statusCode() + (code == null ? "" : " " + code);
      return answer.statusCode() == FORBIDDEN
          ? new Denied(status + "; its credentials need to be allowed " + action, answer)
          : new IOException(status, answer);
    }
    Throwable cause = failure;
    while (cause.getCause() != null) {
      cause = cause.getCause();
    }
    String message = String.valueOf(cause.getMessage());
    return new IOException(
        place
            + (message.contains("credentials")
                ? "no credentials were found; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a"
                    + " profile or a role"
                : cause instanceof UnknownHostException ? "unknown host " + message : message),
        failure);
  }

  /** The endpoint; empty for Amazon's own servers. */
  String at() {
    return at;
  }

  @Override
  public void close() {
    client.close();
  }
}
