package io.github.gatlingllm.store;

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
 * Takes the records of runs out of a {@code .tar.gz}, {@code .tgz} or {@code .zip}, and nothing
 * else: no pages, no links. The archive may come from anywhere: no name in it leads out of the
 * folder that it is unpacked into, and what a few bytes may become is bounded.
 */
final class Archive {

  /** All that an archive may hold, unpacked. */
  private static final long MOST_BYTES = 256L << 30;

  private static final int MOST_ENTRIES = 100_000;

  /** Unpacked to packed, beyond the first 64 MiB. Records are packed to about a tenth. */
  private static final int MOST_RATIO = 200;

  private static final long SMALL = 64L << 20;

  private static final Pattern NAME = Pattern.compile("(?i)(.+?)\\.(tar\\.gz|tgz|zip)");
  private static final int BUFFER = 1 << 16;

  private final Path file;
  private final Path folder;
  private final long most;
  private long bytes;

  private Archive(Path file, Path folder) throws IOException {
    this.file = file;
    this.folder = folder;
    most = Math.min(MOST_BYTES, Math.max(SMALL, Files.size(file) * MOST_RATIO));
  }

  /** Whether a name is that of an archive. */
  static boolean isMeant(String name) {
    return NAME.matcher(name).matches();
  }

  /** The name of the archive without its ending. */
  static String stem(Path file) {
    return NAME.matcher(String.valueOf(file.getFileName())).replaceFirst("$1");
  }

  /**
   * Unpacks the records of all its runs.
   *
   * @param folder where to; what lies in no folder of the archive comes right below it
   * @throws IOException in one line with the archive's name, where it is damaged or beyond a bound
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
        bound(++entries);
        Path target = target(name);
        if (target != null) {
          Files.copy(tar, target);
        }
      }
    }
  }

  private void unzip() throws IOException {
    try (ZipFile zip = new ZipFile(file.toFile())) {
      bound(zip.size());
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

  private static void bound(int entries) throws IOException {
    if (entries > MOST_ENTRIES) {
      throw new IOException("it holds more than " + MOST_ENTRIES + " files, which is the bound");
    }
  }

  /** Where a file of that name goes; null for nowhere. */
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

  /** What is unpacked, up to the bound. */
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
      if (bytes > most) {
        throw new IOException(
            most == MOST_BYTES
                ? "it holds more than 256 GiB, which is the bound"
                : "it unpacks to more than "
                    + MOST_RATIO
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
