package io.github.gatlingllm.simulations;

import io.github.gatlingllm.javaapi.Image;
import io.github.gatlingllm.javaapi.LlmDsl;
import io.github.gatlingllm.metric.NumberText;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The images of every request: made up, or those of a file or folder.
 *
 * @param perRequest how many; 1 of files
 * @param width in pixels; 0 of files
 * @param height in pixels; 0 of files
 * @param file a file or a folder; null where they are made up
 */
record ShownImages(int perRequest, int width, int height, @Nullable String file) {

  /** Servers keep what they made of an image: so many different ones are made, if they fit. */
  private static final int MOST_VARIANTS = 32;

  /** What all made-up images take at most, about 4 bytes per pixel. */
  private static final long MOST_BYTES = 64L << 20;

  private static final Pattern MADE_UP = Pattern.compile("(\\d{1,3})x(\\d{1,5})x(\\d{1,5})");

  /**
   * Reads {@code 1x512x512}, or a path.
   *
   * @throws IllegalArgumentException for numbers out of range, or a file that is no image
   */
  static ShownImages parse(String text) {
    Matcher form = MADE_UP.matcher(text);
    ShownImages images =
        form.matches()
            ? new ShownImages(
                Integer.parseInt(form.group(1)),
                Integer.parseInt(form.group(2)),
                Integer.parseInt(form.group(3)),
                null)
            : new ShownImages(1, 0, 0, text);
    if (images.perRequest < 1) {
      throw new IllegalArgumentException("expected 1 image or more");
    }
    if (images.file != null) {
      images.of(0); // says what is wrong with it
    } else if (images.width < 1
        || images.height < 1
        || images.perRequest * 4L * images.width * images.height > MOST_BYTES) {
      throw new IllegalArgumentException(
          "expected 1 to " + MOST_BYTES / 4 + " pixels in all images of a request");
    }
    return images;
  }

  /** The images, each of them another one at the next request. */
  List<Image> of(long seed) {
    return file == null
        ? IntStream.range(0, perRequest)
            .<Image>mapToObj(
                i -> LlmDsl.image(width, height).seed(seed + ((long) i << 40)).variants(variants()))
            .toList()
        : Stream.of(LlmDsl.image(file)).toList();
  }

  private int variants() {
    long each = perRequest * 4L * width * height;
    return (int) Math.max(1, Math.min(MOST_VARIANTS, MOST_BYTES / each));
  }

  /** For people. */
  @Override
  public String toString() {
    return file == null
        ? "%s of %s × %s pixels per request, made up; %s, then they come again"
            .formatted(
                NumberText.counted(perRequest, "image"),
                width,
                height,
                NumberText.counted(variants(), "different one"))
        : "1 per request, of " + file + " in turn";
  }
}
