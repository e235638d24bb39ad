package io.github.gatlingllm.workload;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Locale;
import java.util.Objects;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;

/** Finds a file by name in the file system, else on the class path, as for Gatling's resources. */
public final class DataFile {

  private DataFile() {}

  /** The file, or a copy that is deleted at the end if it is in a jar or compressed. */
  public static Path of(String location) {
    try {
      Path file = found(location);
      return isGzip(location) ? unpacked(location, file) : file;
    } catch (ZipException e) {
      throw new IllegalArgumentException(
          location + " is no gzip file (" + e.getMessage() + "); unpack it or drop the .gz", e);
    } catch (IOException e) {
      throw new IllegalArgumentException(
          location + " cannot be read (" + e.getMessage() + "); expected a readable file", e);
    }
  }

  private static Path found(String location) throws IOException {
    try {
      Path path = Path.of(location);
      if (Files.isRegularFile(path)) {
        return path;
      }
      if (Files.isDirectory(path)) {
        throw new IllegalArgumentException("'" + location + "' is a directory; expected a file");
      }
    } catch (InvalidPathException e) {
      // It may still be the name of a resource.
    }
    ClassLoader loader =
        Objects.requireNonNullElse(
            Thread.currentThread().getContextClassLoader(), DataFile.class.getClassLoader());
    URL resource = loader.getResource(location);
    if (resource == null) {
      throw new IllegalArgumentException(
          location + ": no such file, neither in the file system nor on the class path");
    }
    if (resource.getProtocol().equals("file")) {
      try {
        return Path.of(resource.toURI());
      } catch (URISyntaxException e) {
        throw new IOException(e.getMessage(), e);
      }
    }
    try (InputStream in = resource.openStream()) {
      return copied(in);
    }
  }

  private static boolean isGzip(String location) {
    return location.toLowerCase(Locale.ROOT).endsWith(".gz");
  }

  private static Path unpacked(String location, Path file) throws IOException {
    try (InputStream in =
        new GZIPInputStream(new BufferedInputStream(Files.newInputStream(file)), 1 << 16)) {
      return copied(in);
    } catch (java.io.EOFException e) {
      throw new IOException(location + " ends before its gzip data does", e);
    }
  }

  private static Path copied(InputStream in) throws IOException {
    Path copy = Files.createTempFile("gatling-llm-", ".data");
    copy.toFile().deleteOnExit();
    Files.copy(in, copy, StandardCopyOption.REPLACE_EXISTING);
    return copy;
  }
}
