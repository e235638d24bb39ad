package io.github.gatlingllm.storage;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Enumeration;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.zip.CRC32;
import java.util.zip.CheckedInputStream;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.jspecify.annotations.Nullable;

/**
 * Unpacks the records of runs from a {@code .tar.gz}, {@code .tgz} or {@code .zip}; pages, links
 * and all other files are skipped. The archive is untrusted: names that lead out of the target
 * folder are refused, and the number of files, the unpacked size and the compression ratio are
 * limited.
 */
final class Archive {

  /** Largest unpacked size. */
  private static final long MAX_BYTES = 256L << 30;

  private static final int MAX_ENTRIES = 100_000;

  /** Largest ratio of unpacked to packed size above 64 MiB; that of records is about 10. */
  private static final int MAX_RATIO = 200;

  private static final long SMALL = 64L << 20;

  private static final Pattern NAME = Pattern.compile("(?i)(.+?)\\.(tar\\.gz|tgz|zip)");
  private static final int BUFFER = 1 << 16;

  private final Path file;
  private final Path folder;
  private final long largest;
  private long bytes;

  private Archive(Path file, Path folder) throws IOException {
    this.file = file;
    this.folder = folder;
    largest = Math.min(MAX_BYTES, Math.max(SMALL, Files.size(file) * MAX_RATIO));
  }

  /** Whether the name has the extension of an archive. */
  static boolean isMeant(String name) {
    return NAME.matcher(name).matches();
  }

  /** The name of the archive without its extension. */
  static String stem(Path file) {
    return NAME.matcher(String.valueOf(file.getFileName())).replaceFirst("$1");
  }

  /**
   * Unpacks the records of all runs.
   *
   * @param folder the target
   * @throws IOException with a one-line message that names the archive, if it is damaged or exceeds
   *     a limit
   */
  static void unpack(Path file, Path folder) throws IOException {
    try {
      Archive archive = new Archive(file, folder);
      if (file.toString().toLowerCase(Locale.ROOT).endsWith(".zip")) {
        archive.unzip();
      } else {
        archive.untar();
      }
    } catch (IOException | IllegalArgumentException e) {
      throw new IOException(file + " cannot be unpacked: " + e.getMessage(), e);
    }
  }

  private void untar() throws IOException {
    try (InputStream packed = new BufferedInputStream(Files.newInputStream(file), BUFFER);
        TarReader tar = new TarReader(new Counted(new GZIPInputStream(packed, BUFFER)))) {
      int entries = 0;
      for (String name = tar.next(); name != null; name = tar.next()) {
        limitEntries(++entries);
        Path target = target(name);
        if (target != null) {
          Files.copy(tar, target);
        }
      }
    }
  }

  private void unzip() throws IOException {
    try (ZipFile zip = new ZipFile(file.toFile())) {
      limitEntries(zip.size());
      for (Enumeration<? extends ZipEntry> all = zip.entries(); all.hasMoreElements(); ) {
        ZipEntry entry = all.nextElement();
        Path target = entry.isDirectory() ? null : target(entry.getName());
        if (target != null) {
          CRC32 sum = new CRC32();
          try (InputStream content = zip.getInputStream(entry)) {
            Files.copy(new CheckedInputStream(new Counted(content), sum), target);
          }
          if (entry.getCrc() != sum.getValue()) {
            throw new IOException("the checksum of " + entry.getName() + " does not fit");
          }
        }
      }
    }
  }

  private static void limitEntries(int entries) throws IOException {
    if (entries > MAX_ENTRIES) {
      throw new IOException("it holds more than " + MAX_ENTRIES + " files, which is the bound");
    }
  }

  /** The target of a file of that name; null for a file to skip. */
  private @Nullable Path target(String name) throws IOException {
    Path path = RecordedFiles.path(name);
    if (path == null) {
      return null;
    }
    Path target = folder.resolve(path);
    if (Files.exists(target)) {
      throw new IOException("it holds " + name + " twice");
    }
    Files.createDirectories(target.getParent());
    return target;
  }

  /** Counts the unpacked bytes, and fails above the limit. */
  private final class Counted extends InputStream {
    private final InputStream in;

    Counted(InputStream in) {
      this.in = in;
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] buffer, int offset, int length) throws IOException {
      int count = in.read(buffer, offset, length);
      bytes += Math.max(0, count);
      if (bytes > largest) {
        throw new IOException(
            largest == MAX_BYTES
                ? "it holds more than 256 GiB, which is the bound"
                : "it unpacks to more than "
                    + MAX_RATIO
                    + " times its size and 64 MiB, which is the bound");
      }
      return count;
    }

    @Override
    public void close() throws IOException {
      in.close();
    }
  }
}
