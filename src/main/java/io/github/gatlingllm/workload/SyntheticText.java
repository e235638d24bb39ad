package io.github.gatlingllm.workload;

import io.github.gatlingllm.load.SplitMix64;
import java.util.List;
import java.util.SplittableRandom;

/** Synthetic English by a seed: extends prompts, and is a source of prompts. */
record SyntheticText(int sentences) implements Prompts.Source {

  private static final long SALT = 0x73796e7468657469L; // "syntheti"

  private static final List<String> WHO =
      words(
          "the ferry captain,a retired surveyor,the night porter,our neighbour,the youngest clerk,"
              + "an apprentice baker,the harbour office,a travelling choir,the village teacher,"
              + "the archive team,a careful mechanic,the orchard owner,two students,the new mayor,"
              + "a patient gardener,the weather station,an old printer,the rescue crew,my aunt,"
              + "the stage manager,a visiting engineer,the river guide,the evening shift,"
              + "a quiet locksmith");

  private static final List<String> DOES =
      words(
          "repaired,counted,described,measured,forgot,carried,painted,compared,delivered,sorted,"
              + "photographed,replaced,explained,discovered,borrowed,cleaned,protected,sketched,"
              + "inspected,promised,rebuilt,followed,weighed,returned");

  private static final List<String> WHAT =
      words(
          "a box of copper wires,the map of the northern valley,seven broken clocks,the long"
              + " report,an unusual stone,the wooden bridge,a list of missing books,the copper"
              + " roof,three letters without a stamp,the water meter,a basket of late apples,the"
              + " spare engine,an empty notebook,the chapel windows,a rare recording,the lamp above"
              + " the door,a pair of heavy boots,the timetable,the garden wall,a jar of blue"
              + " paint,the second key,the oldest photograph,a bag of flour,the signal tower");

  private static final List<String> WHEN =
      words(
          "before sunrise,on the last day of March,during a short storm,after the meeting,between"
              + " two trains,in the second week,just before noon,while the bells were ringing,on a"
              + " cold evening,without any hurry,for the third time,as soon as the fog had"
              + " gone,late at night,in the middle of the season,at low tide,on the way home");

  private static final List<String> WHY =
      words(
          "because the ink had faded,so that nobody would have to wait,although it was not planned,"
              + "since the road was closed,and nobody objected,which surprised the visitors,"
              + "but the price had doubled,because a friend had asked,until the batteries failed,"
              + "so the work could begin,while the others kept silent,and wrote it down,"
              + "although the rules were strict,because the first attempt had failed,"
              + "which saved almost an hour,and then left for the coast");

  private static final List<String> OPENING =
      words(
          "Later,In that year,As far as we know,According to the diary,Not far from there,By"
              + " chance,To everybody's relief,Once more,In the end,As expected,On closer"
              + " inspection,Some weeks afterwards,In the meantime,Oddly enough,For the"
              + " record,Nevertheless");

  SyntheticText {
    if (sentences < 1) {
      throw new IllegalArgumentException(
          "synthetic text of " + sentences + " sentences; expected 1 or more");
    }
  }

  @Override
  public String origin() {
    return "synthetic text";
  }

  @Override
  public String pick(long seed, long index) {
    SplittableRandom random = SplitMix64.at(seed, SALT, index);
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < sentences; i++) {
      text.append(i == 0 ? "" : " ").append(sentence(random));
    }
    return text.toString();
  }

  /** The text, extended by sentences to at least that number of characters. */
  static String continued(String text, int chars, SplittableRandom random) {
    StringBuilder longer = new StringBuilder(text);
    while (longer.length() < chars) {
      longer.append(longer.isEmpty() ? "" : " ").append(sentence(random));
    }
    return longer.toString();
  }

  private static String sentence(SplittableRandom random) {
    String main = one(WHO, random) + " " + one(DOES, random) + " " + one(WHAT, random);
    String more =
        switch (random.nextInt(4)) {
          case 0 -> main + " " + one(WHEN, random);
          case 1 -> main + ", " + one(WHY, random);
          case 2 -> one(OPENING, random) + ", " + main + " " + one(WHEN, random);
          default -> one(OPENING, random) + ", " + main + ", " + one(WHY, random);
        };
    return Character.toUpperCase(more.charAt(0)) + more.substring(1) + ".";
  }

  private static String one(List<String> words, SplittableRandom random) {
    return words.get(random.nextInt(words.size()));
  }

  private static List<String> words(String commaList) {
    return List.of(commaList.split(","));
  }
}
