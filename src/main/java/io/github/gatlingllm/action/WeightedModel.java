package io.github.gatlingllm.action;

import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.load.Seed;
import java.util.List;
import java.util.stream.Collectors;

/**
 * One of several models that the requests to a target are spread over; its share is its weight ÷
 * the sum of all weights.
 */
public record WeightedModel(String name, double weight) {
  private static final long SALT = 0x6d6f64656c73L; // "models"

  public WeightedModel {
    if (name.isBlank() || !(weight > 0) || Double.isInfinite(weight)) {
      throw InvalidSimulation.because(
          "model(\"%s\", %s): expected a name and a weight above 0".formatted(name, weight));
    }
  }

  /** The model of a conversation, or of a request outside one, with that number. */
  static String drawn(List<WeightedModel> models, long seed, long number) {
    return Seed.weighted(models, WeightedModel::weight, Seed.at(seed, SALT, number)).name();
  }

  /** The warm-up requests that try each model at each URL. */
  public static int tries(List<WeightedModel> models, int urls) {
    return urls * Math.max(1, models.size());
  }

  /** The model of a warm-up request, of those that try each model at each URL. */
  static String tried(List<WeightedModel> models, int urls, long request) {
    return models.get((int) (request / urls % models.size())).name();
  }

  /** Names and shares for readers. */
  public static String shares(List<WeightedModel> models) {
    double all = models.stream().mapToDouble(WeightedModel::weight).sum();
    return models.stream()
        .map(model -> model.name + " " + NumberText.load(100 * model.weight / all) + " %")
        .collect(Collectors.joining(", "));
  }
}
