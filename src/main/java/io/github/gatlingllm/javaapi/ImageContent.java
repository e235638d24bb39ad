package io.github.gatlingllm.javaapi;

import static io.github.gatlingllm.action.InvalidSimulation.checked;

import io.github.gatlingllm.action.Dynamic;
import io.github.gatlingllm.action.InvalidSimulation;
import io.github.gatlingllm.load.Arrival.DrawOrder;
import io.github.gatlingllm.load.DataFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** An image that exists already: a file, bytes or a URL. */
record ImageContent(Dynamic<String> url) implements Image {

  private static final Pattern IMAGE = Pattern.compile("(?i).*\\.(png|jpe?g|gif|webp)");

  /** The image of a file, or the images of a folder in turn. */
  static ImageContent of(String file) {
    return checked("image", '"' + file + '"', () -> new ImageContent(inTurn(dataUrls(file))));
  }

  private static List<String> dataUrls(String file) {
    Path path = Path.of(file);
    return (Files.isDirectory(path) ? images(path) : List.of(path))
        .stream()
            .map(Path::toString)
            .map(each -> dataUrl(DataFile.of(each).bytes(), mimeType(each)))
            .toList();
  }

  static ImageContent of(byte[] bytes, String mimeType) {
    if (!mimeType.startsWith("image/")) {
      throw InvalidSimulation.because(
          "image(…, \"" + mimeType + "\"): expected a type such as image/png");
    }
    return new ImageContent(Dynamic.of(dataUrl(bytes, mimeType)));
  }

  /** The URLs in turn, starting over after the last one. */
  static Dynamic<String> inTurn(List<String> urls) {
    if (urls.size() == 1) {
      return Dynamic.of(urls.get(0));
    }
    DrawOrder order = Seeds.drawOrder();
    return Dynamic.of(session -> urls.get((int) (Seeds.drawIndex(order, session) % urls.size())));
  }

  /** The images of a folder, in the order of their names. */
  private static List<Path> images(Path folder) {
    try (Stream<Path> files = Files.list(folder)) {
      List<Path> images =
          files.filter(file -> IMAGE.matcher(file.toString()).matches()).sorted().toList();
      if (images.isEmpty()) {
        throw new IllegalArgumentException("has no .png, .jpg, .gif or .webp");
      }
      return images;
    } catch (IOException e) {
      throw new IllegalArgumentException("cannot be read: " + e.getMessage(), e);
    }
  }

  /** A data URL, as RFC 2397 defines it. */
  static String dataUrl(byte[] bytes, String mimeType) {
    return "data:" + mimeType + ";base64," + Base64.getEncoder().encodeToString(bytes);
  }

  private static String mimeType(String file) {
    Matcher image = IMAGE.matcher(file);
    if (!image.matches()) {
      throw new IllegalArgumentException(
          "expected .png, .jpg, .gif or .webp; else pass bytes and type");
    }
    String type = image.group(1).toLowerCase(Locale.ROOT);
    return "image/" + (type.equals("jpg") ? "jpeg" : type);
  }
}
