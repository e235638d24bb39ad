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
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** An image in a user message; see {@link LlmDsl#image(String)}. */
public sealed class Image permits NoiseImage {
  private static final Pattern IMAGE = Pattern.compile("(?i).*\\.(png|jpe?g|gif|webp)");

  private final Supplier<Dynamic<String>> url;

  Image(Supplier<Dynamic<String>> url) {
    this.url = url;
  }

  /** For internal use only: the URL that is sent; an image that is generated is made now. */
  public final Dynamic<String> url() {
    return url.get();
  }

  static Image of(Dynamic<String> url) {
    return new Image(() -> url);
  }

  /** The image of a file, or the images of a folder in turn. */
  static Image of(String file) {
    return checked("image", '"' + file + '"', () -> Image.of(inTurn(dataUrls(file))));
  }

  private static List<String> dataUrls(String file) {
    Path path = Path.of(file);
    return (Files.isDirectory(path) ? images(path) : List.of(path))
        .stream()
            .map(Path::toString)
            .map(each -> dataUrl(DataFile.of(each).bytes(), mimeType(each)))
            .toList();
  }

  static Image of(byte[] bytes, String mimeType) {
    if (!mimeType.startsWith("image/")) {
      throw InvalidSimulation.because(
          "image(…, \"" + mimeType + "\"): expected a type such as image/png");
    }
    return of(Dynamic.of(dataUrl(bytes, mimeType)));
  }

  /** The URLs in turn, starting over after the last one. */
  private static Dynamic<String> inTurn(List<String> urls) {
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

  /** The URLs of generated images. */
  static Dynamic<String> ofPngs(Stream<byte[]> pngs) {
    return inTurn(pngs.map(png -> dataUrl(png, "image/png")).toList());
  }

  /** A data URL, as RFC 2397 defines it. */
  private static String dataUrl(byte[] bytes, String mimeType) {
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
