package io.github.gatlingllm.engine;

/**
 * The words that the engine speaks: 256 common English ones. Each is one token of cl100k_base, with
 * or without a space before it, so a tokenizer counts as many tokens in an answer as the engine
 * reports.
 */
final class Vocabulary {
  private static final String[] WORDS =
      """
      the of and to in is that for it as was with be by on not he this are or his from at which but
      have an had they you were their one all we can her has there been if more when will would who
      so no out up into than them then its time some could these two may first other do now such
      any my what him about after only most over also new made many did must before back see
      through way where get much go well your know should down work because long each just those
      people how too little state good very make world still own men year here between both life
      being under three never day same another while last might us great old come since against
      right came take used small few house use place during high without again home around however
      found thought went say part once general upon school every does got number course war until
      always away something fact water public put think hand open far took head yet government
      system set better nothing night end why find going look point key next city give group young
      days order room let word present side best large big face early light need second white
      rather kind form ever door line area name within simple special today music story paper table
      study result reason color money value model level street mother father power history service
      center field force return market energy space month language news film watch
      """
          .strip()
          .split("\\s+");

  private Vocabulary() {}

  /** The word that a hash picks. */
  static String word(long hash) {
    return WORDS[(int) Long.remainderUnsigned(hash, WORDS.length)];
  }

  /** All of them. */
  static String[] words() {
    return WORDS.clone();
  }
}
