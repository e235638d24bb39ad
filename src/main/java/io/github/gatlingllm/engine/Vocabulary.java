package io.github.gatlingllm.engine;

import java.util.List;

/**
 * The words of answers: common English words of three letters, or four at the beginning of a text.
 * With the space before it, each word is four characters and one token of cl100k_base. A tokenizer
 * and the rule "chars4" therefore both count the number of tokens that the engine reports, and an
 * answer has the same number of tokens in the prompt of the next turn.
 */
final class Vocabulary {
  static final List<String> WORDS =
      words(
          """
          the and for was not his her had you one all can has out who now him how did its our two way
          may any new old see get got own say she too use day man men boy let put end why try ask big
          few far run set add act age ago air arm art bag bar bed bet bit bow box bus buy car cat cow
          cry cup cut dog dry due ear eat egg eye fit fix fly fun gas hat hit hot ice job joy key kid
          law lay led leg lie log lot low map mix net nor off oil pay pen per pet pop raw red rid row
          sad sat sea sit six sky son sum sun tax tea ten tie tip top toy van via war web win won
          yes yet bay bid cap dad dam dig dot era fan fee gap hip hub inn ion jam jet lab mom odd pan
          pin pit pot ray rib rod rub rug ski tag tap tin ton zip aim aid bee cab fig fin fog fox hay
          hen hop ink jar lap lid mat met nap owl peg pie ram ran sub tan vet fed hid ate but are
          """);
  static final List<String> OPENINGS =
      words(
          """
          This That They Then When What With Here Some Most From Each Just Only Once Well Many Also
          Over Both
          """);

  private Vocabulary() {}

  private static List<String> words(String text) {
    return List.of(text.strip().split("\\s+"));
  }

  /** The word for a hash; it follows a space. */
  static String word(long hash) {
    return WORDS.get((int) Long.remainderUnsigned(hash, WORDS.size()));
  }

  /** The first word of a text, for a hash. */
  static String opening(long hash) {
    return OPENINGS.get((int) Long.remainderUnsigned(hash, OPENINGS.size()));
  }
}
