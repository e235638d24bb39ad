package io.github.gatlingllm.javaapi;

import io.github.gatlingllm.action.InvalidSimulation;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import javax.imageio.ImageIO;

/**
 * A PNG image of seeded coloured noise, generated when the simulation is built. Noise does not
 * compress: a pixel takes about 3 bytes, and 4 bytes in a request. Servers may cache processed
 * images; see {@link #variants}.
 */
public final class NoiseImage extends Image {

  private static final int MAX_PIXELS = 64_000_000;

  private final int width;
  private final int height;
  private final long seed;
  private final int variants;

  private NoiseImage(int width, int height, long seed, int variants) {
    super(
        () ->
            ofPngs(
                IntStream.range(0, variants)
                    .mapToObj(variant -> png(width, height, seed ^ ((long) variant << 32)))));
    this.width = width;
    this.height = height;
    this.seed = seed;
    this.variants = variants;
  }

  static NoiseImage of(int width, int height) {
    if (width < 1 || height < 1 || (long) width * height > MAX_PIXELS) {
      throw InvalidSimulation.because(
          "image(" + width + ", " + height + "): expected 1 to " + MAX_PIXELS + " pixels");
    }
    return new NoiseImage(width, height, 0, 1);
  }

  /** The same seed gives the same image; 0 by default. */
  public NoiseImage seed(long seed) {
    return new NoiseImage(width, height, seed, variants);
  }

  /** Generates several different images, 1 by default, which are sent in turn, one per request. */
  public NoiseImage variants(int images) {
    return new NoiseImage(
        width, height, seed, InvalidSimulation.requireMin(1, "variants", images, "image"));
  }

  private static byte[] png(int width, int height, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    BufferedImage image = new BufferedImage(width, height, BufferedImage.TYPE_INT_RGB);
    for (int y = 0; y < height; y++) {
      for (int x = 0; x < width; x++) {
        image.setRGB(x, y, random.nextInt());
      }
    }
    try (ByteArrayOutputStream out = new ByteArrayOutputStream()) {
      ImageIO.write(image, "png", out);
      return out.toByteArray();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
