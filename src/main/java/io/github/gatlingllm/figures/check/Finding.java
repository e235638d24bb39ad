package io.github.gatlingllm.figures.check;

import io.github.gatlingllm.figures.metric.Figures.CheckLevel;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.Sentence;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The answer of a check; null parts are those of the catalogue. */
record Finding(
    @Nullable Double value,
    @Nullable Double threshold,
    @Nullable CheckLevel level,
    List<Sentence> sentences,
    @Nullable Sentence remedy) {

  /** A finding that the catalogue's threshold judges. */
  static Finding of(@Nullable Double value, String id, @Nullable Object... values) {
    return new Finding(value, null, null, List.of(Sentence.of(id, values)), null);
  }

  /** A finding at a load level, which the sentence begins with. */
  static Finding at(LevelFigures level, double value, String id, @Nullable Object... values) {
    return of(value, id, values).at(level.place());
  }

  /** The same, its first sentence about a place. */
  Finding at(String place) {
    Stream<Sentence> all =
        Stream.concat(
            Stream.of(sentences.get(0).at(place)), sentences.subList(1, sentences.size()).stream());
    return new Finding(value, threshold, level, all.toList(), remedy);
  }

  Finding level(CheckLevel own) {
    return new Finding(value, threshold, own, sentences, remedy);
  }

  Finding warnsIf(boolean isDoubtful) {
    return level(isDoubtful ? CheckLevel.WARNING : CheckLevel.OK);
  }

  Finding adding(List<Sentence> more) {
    List<Sentence> all = Stream.concat(sentences.stream(), more.stream()).toList();
    return new Finding(value, threshold, level, all, remedy);
  }

  Finding adding(String id, @Nullable Object... values) {
    return adding(List.of(Sentence.of(id, values)));
  }

  Finding threshold(@Nullable Double own) {
    return new Finding(value, own, level, sentences, remedy);
  }

  Finding remedy(String id, @Nullable Object... values) {
    return new Finding(value, threshold, level, sentences, Sentence.of(id, values));
  }
}
