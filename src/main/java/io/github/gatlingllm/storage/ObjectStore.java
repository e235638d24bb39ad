package io.github.gatlingllm.storage;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.TRUNCATE_EXISTING;
import static java.nio.file.StandardOpenOption.WRITE;

import io.github.gatlingllm.record.InjectorRun.InjectorEnd;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.storage.S3Location.StoredObject;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.checksums.ResponseChecksumValidation;
import software.amazon.awssdk.core.exception.RetryableException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.sync.ResponseTransformer;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.regions.providers.AwsProfileRegionProvider;
import software.amazon.awssdk.regions.providers.AwsRegionProviderChain;
import software.amazon.awssdk.regions.providers.SystemSettingsRegionProvider;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ClientBuilder;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Response;
import software.amazon.awssdk.services.s3.model.NoSuchKeyException;
import software.amazon.awssdk.services.s3.model.S3Exception;
import software.amazon.awssdk.services.s3.model.S3Object;

/**
 * Runs below an {@code s3://bucket/prefix}, the only class that uses the AWS SDK, an optional
 * dependency: its synchronous client, since the transfer manager needs the SDK's Netty client,
 * which sometimes reports a refused connection as a timeout of its pool. Every {@link IOException}
 * has a one-line message with place and cause.
 */
final class ObjectStore implements AutoCloseable {

  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);
  private static final Duration READ_TIMEOUT = Duration.ofSeconds(20);

  /** After a lookup of a name fails, the JVM looks again in 10 s at the earliest. */
  private static final Duration NEXT_LOOKUP = Duration.ofSeconds(11);

  private static final int LOOKUPS = 4;

  private static final int THREADS = 4;

  /** S3's limit for one request. */
  private static final long MAX_BYTES = 5L << 30;

  private static final int FORBIDDEN = 403;
  private static final int PRECONDITION_FAILED = 412;

  /** Servers other than Amazon's accept any region. */
  private static final Region ANY_REGION = Region.US_EAST_1;

  /** Pages of a listing, each of at most 1,000 objects. */
  private static final int MAX_PAGES = 200;

  /** The folder of a run or an ended injector, and the file in it. */
  private static final Pattern RECORD =
      Pattern.compile(
          "(?:(.+)/)?("
              + new RunFiles(Path.of(""))
                  .records().stream()
                      .map(file -> Pattern.quote(file.toString().replace('\\', '/')))
                      .collect(Collectors.joining("|"))
              + "|"
              + InjectorEnd.FILE
              + ")");

  /** At most 32 folders, none of which leads out. */
  private static final Pattern SAFE =
      Pattern.compile("(?:(?!\\.{1,2}/)[^/\\\\:\\x00]+/){0,32}[^/]+");

  private final S3Location place;
  private final S3Client client;
  private final String endpoint;
  private final ExecutorService threads =
      Executors.newFixedThreadPool(THREADS, new DefaultThreadFactory("llm-s3", true));

  private ObjectStore(S3Location place, S3Client client, String endpoint) {
    this.place = place;
    this.client = client;
    this.endpoint = endpoint;
  }

  static ObjectStore open(S3Location place) throws IOException {
    Optional<URI> endpoint;
    try (S3Client any = builder().region(ANY_REGION).build()) {
      endpoint = any.serviceClientConfiguration().endpointOverride();
    }
    try {
      return endpoint.isEmpty()
          ? new ObjectStore(place, builder().crossRegionAccessEnabled(true).build(), "")
          : new ObjectStore(place, clientOfCustomEndpoint(), " at " + endpoint.get());
    } catch (SdkException e) {
      throw new IOException("s3://" + place.bucket() + ": no region was found; set AWS_REGION", e);
    }
  }

  private static S3ClientBuilder builder() {
    return S3Client.builder()
        .httpClientBuilder(
            UrlConnectionHttpClient.builder()
                .connectionTimeout(CONNECT_TIMEOUT)
                .socketTimeout(READ_TIMEOUT));
  }

  /** A client without signed chunks and trailing checksums, which not all servers support. */
  private static S3Client clientOfCustomEndpoint() {
    Region region;
    try {
      region =
          new AwsRegionProviderChain(
                  new SystemSettingsRegionProvider(), new AwsProfileRegionProvider())
              .getRegion();
    } catch (SdkException none) {
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

  void check() throws IOException {
    await(
        "s3:ListBucket",
        place,
        threads.submit(
            () ->
                client.listObjectsV2(
                    list -> list.bucket(place.bucket()).prefix(place.below()).maxKeys(1))));
  }

  SortedMap<String, Map<String, StoredObject>> runs() throws IOException {
    SortedMap<String, Map<String, StoredObject>> runs = new TreeMap<>();
    transfer(
        "s3:ListBucket",
        Map.of(
            place,
            () -> {
              int pages = 0;
              for (ListObjectsV2Response page :
                  client.listObjectsV2Paginator(
                      list -> list.bucket(place.bucket()).prefix(place.below()))) {
                if (++pages > MAX_PAGES) {
                  throw new IOException("more than 200,000 objects; name a longer prefix");
                }
                page.contents().forEach(object -> addTo(runs, object));
              }
              return runs;
            }));
    return runs;
  }

  /** Skips all objects but records, and keys that lead out of the place. */
  private void addTo(SortedMap<String, Map<String, StoredObject>> runs, S3Object object) {
    boolean isBelow = object.key().startsWith(place.below()) && object.size() != null;
    String path = isBelow ? object.key().substring(place.below().length()) : "";
    Matcher parts = RECORD.matcher(path);
    if (parts.matches() && SAFE.matcher(path).matches()) {
      String run = parts.group(1) == null ? "" : parts.group(1);
      runs.computeIfAbsent(run, r -> new TreeMap<>())
          .put(
              parts.group(2),
              new StoredObject(
                  object.key(),
                  object.size(),
                  object.eTag(),
                  Objects.requireNonNullElse(object.lastModified(), Instant.MAX)));
    }
  }

  void download(Map<Path, StoredObject> objects) throws IOException {
    Map<S3Location, Callable<?>> downloads = new LinkedHashMap<>();
    for (Map.Entry<Path, StoredObject> each : objects.entrySet()) {
      StoredObject object = each.getValue();
      if (!isCurrent(each.getKey(), object)) {
        downloads.put(
            new S3Location(place.bucket(), object.key()), () -> download(object, each.getKey()));
      }
    }
    transfer("s3:GetObject", downloads);
  }

  private static boolean isCurrent(Path file, StoredObject object) throws IOException {
    return Files.isRegularFile(file)
        && Files.size(file) == object.size()
        && !Files.getLastModifiedTime(file).toInstant().isBefore(object.modified());
  }

  private Path download(StoredObject object, Path file) throws IOException {
    Path part = file.resolveSibling(file.getFileName() + ".part");
    Files.createDirectories(file.getParent());
    ResponseTransformer<GetObjectResponse, Long> toPart =
        (response, content) -> {
          long bytes;
          try (FileChannel to = FileChannel.open(part, CREATE, WRITE, TRUNCATE_EXISTING)) {
            bytes = to.transferFrom(Channels.newChannel(content), 0, object.size() + 1);
          }
          if (bytes > object.size()) {
            throw new IOException("it has more than the " + object.size() + " bytes listed");
          }
          if (bytes < object.size()) { // HttpURLConnection takes a broken connection for the end
            throw RetryableException.create(
                "the connection broke after " + bytes + " of " + object.size() + " bytes");
          }
          return bytes;
        };
    client.getObject(
        get -> get.bucket(place.bucket()).key(object.key()).ifMatch(object.etag()), toPart);
    return Files.move(part, file, StandardCopyOption.REPLACE_EXISTING);
  }

  void upload(S3Location prefix, Map<String, Path> files) throws IOException {
    Map<S3Location, Callable<?>> uploads = new LinkedHashMap<>();
    files.forEach(
        (name, file) -> uploads.put(prefix.at(name), () -> upload(file, prefix.at(name))));
    transfer("s3:PutObject", uploads);
  }

  private Object upload(Path file, S3Location to) throws IOException {
    if (Files.size(file) > MAX_BYTES) {
      throw new IOException(
          "its %s bytes are more than the 5 GiB that S3 takes in one request; upload it with aws s3 cp"
              .formatted(Files.size(file)));
    }
    return client.putObject(put -> put.bucket(to.bucket()).key(to.prefix()), file);
  }

  /** A run must not be lost because its server's name is unknown for a moment. */
  private static Object lookedUp(Callable<?> transfer) throws Exception {
    for (int lookup = 1; ; lookup++) {
      try {
        return transfer.call();
      } catch (SdkException e) {
        if (lookup == LOOKUPS || !(root(e) instanceof UnknownHostException)) {
          throw e;
        }
        TimeUnit.SECONDS.sleep(NEXT_LOOKUP.toSeconds());
      }
    }
  }

  private static Throwable root(Throwable failure) {
    Throwable cause = failure;
    while (cause.getCause() != null && !(cause instanceof S3Exception)) {
      cause = cause.getCause();
    }
    return cause;
  }

  /** Transfers files concurrently; the first failure cancels the others. */
  private void transfer(String action, Map<S3Location, Callable<?>> all) throws IOException {
    Map<S3Location, Future<?>> started = new LinkedHashMap<>();
    all.forEach((at, transfer) -> started.put(at, threads.submit(() -> lookedUp(transfer))));
    try {
      for (Map.Entry<S3Location, Future<?>> each : started.entrySet()) {
        await(action, each.getKey(), each.getValue());
      }
    } finally {
      started.values().forEach(each -> each.cancel(true));
    }
  }

  private void await(String action, S3Location at, Future<?> call) throws IOException {
    try {
      call.get();
    } catch (ExecutionException e) {
      throw failure(action, at, e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("the transfer of " + at + " was interrupted");
    }
  }

  private IOException failure(String action, S3Location location, Throwable failure) {
    Throwable cause = root(failure);
    String at = location + endpoint + ": ";
    if (cause instanceof S3Exception answer) {
      String code = answer.awsErrorDetails() == null ? "" : answer.awsErrorDetails().errorCode();
      if ("NoSuchBucket".equals(code)) {
        return new IOException("unknown bucket " + place.bucket() + endpoint, answer);
      }
      if (answer.statusCode() == PRECONDITION_FAILED || answer instanceof NoSuchKeyException) {
        return new IOException(at + "it was replaced or removed meanwhile; try again", answer);
      }
      String status = at + answer.statusCode() + (code == null ? "" : " " + code);
      return answer.statusCode() == FORBIDDEN
          ? new AccessDeniedException(
              null, null, status + "; its credentials need to be allowed " + action)
          : new IOException(status, answer);
    }
    String message = String.valueOf(cause.getMessage());
    return new IOException(
        at
            + (message.contains("credentials")
                ? "no credentials were found; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a"
                    + " profile or a role"
                : cause instanceof UnknownHostException ? "unknown host " + message : message),
        failure);
  }

  /** Waits until cancelled transfers have ended. */
  @Override
  public void close() {
    threads.shutdownNow();
    try {
      boolean unused = threads.awaitTermination(READ_TIMEOUT.toSeconds(), TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    client.close();
  }
}
