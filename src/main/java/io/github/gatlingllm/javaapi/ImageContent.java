package io.github.gatlingllm.javaapi;

import io.github.gatlingllm.action.Dynamic;
import io.github.gatlingllm.action.InvalidSimulation;
import io.github.gatlingllm.workload.DataFile;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Base64;
import java.util.Locale;

/** An image that is there already. */
record ImageContent(Dynamic<String> url) implements Image {

  static ImageContent of(String file) {
    try {
      return of(Files.readAllBytes(DataFile.of(file)), mimeType(file));
    } catch (IOException e) {
      throw InvalidSimulation.because("image(\"" + file + "\"): cannot be read: " + e.getMessage());
    } catch (IllegalArgumentException e) {
      throw InvalidSimulation.because("image(\"" + file + "\"): " + e.getMessage());
    }
  }

  static ImageContent of(byte[] bytes, String mimeType) {
    if (!mimeType.startsWith("image/")) {
      throw InvalidSimulation.because(
          "image(…, \"" + mimeType + "\"): expected a type such as image/png");
    }
    return new ImageContent(Dynamic.of(dataUrl(bytes, mimeType)));
  }

  /** RFC 2397. */
  static String dataUrl(byte[] bytes, String mimeType) {
    return "data:" + mimeType + ";base64," + Base64.getEncoder().encodeToString(bytes);
  }

  private static String mimeType(String file) {
    String extension = file.substring(file.lastIndexOf('.') + 1).toLowerCase(Locale.ROOT);
    return switch (extension) {
      case "png", "gif", "webp", "jpeg" -> "image/" + extension;
      case "jpg" -> "image/jpeg";
      default ->
          throw new IllegalArgumentException(
              "expected .png, .jpg, .gif or .webp; else pass bytes and type");
    };
  }
}
