package io.github.gatlingllm.simulations;

import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.javaapi.Image;
import io.github.gatlingllm.javaapi.LlmDsl;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The images of every request: generated ones, or those of a file or folder. */
record ShownImages(int perRequest, int width, int height, @Nullable String file) {

  /** Most different images; several are needed because servers cache processed images. */
  private static final int MAX_VARIANTS = 32;

  /** Most memory of all generated images, at about 4 bytes per pixel. */
  private static final long MAX_BYTES = 64L << 20;

  private static final Pattern MADE_UP = Pattern.compile("(\\d{1,3})x(\\d{1,5})x(\\d{1,5})");

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
      images.of(0); // throws if it cannot be read
    } else if (images.width < 1
        || images.height < 1
        || images.perRequest * 4L * images.width * images.height > MAX_BYTES) {
      throw new IllegalArgumentException(
          "expected 1 to " + MAX_BYTES / 4 + " pixels in all images of a request");
    }
    return images;
  }

  /** The images of a request; each differs from request to request. */
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
    return (int) Math.max(1, Math.min(MAX_VARIANTS, MAX_BYTES / each));
  }

  @Override
  public String toString() {
    return file == null
        ? "%s of %s × %s pixels per request, generated; %s, which then repeat"
            .formatted(
                NumberText.counted(perRequest, "image"),
                width,
                height,
                NumberText.counted(variants(), "different one"))
        : "1 per request, of " + file + " in turn";
  }
}
