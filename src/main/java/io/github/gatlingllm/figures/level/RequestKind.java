package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.level.Summary.Dimension;

/** The names by which the requests of a load level are told apart. */
record RequestKind(String name, String model) {

  String of(Dimension dimension) {
    return switch (dimension) {
      case MODEL -> model;
    };
  }
}
