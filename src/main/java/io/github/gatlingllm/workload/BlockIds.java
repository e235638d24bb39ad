package io.github.gatlingllm.workload;

import java.util.Arrays;

/**
 * Lists of block ids, most of which begin as others do: each list is a path from the root of a
 * tree, so that what lists share is stored once, with 12 bytes per id. A list is known by the node
 * of its last id; nodes have ascending numbers from the root on.
 */
final class BlockIds {

  /** The node of a list without ids. */
  static final int ROOT = -1;

  private static final int FIRST_SIZE = 64;

  private long[] ids = new long[FIRST_SIZE];
  private int[] parents = new int[FIRST_SIZE];
  private int size;

  /** Nodes plus one by parent and id, open addressing; 0 is free. */
  private int[] table = new int[2 * FIRST_SIZE];

  private int[] last = {};

  /** Adds a list; returns its node. */
  int add(long[] list) {
    int[] path = new int[list.length];
    int node = ROOT;
    boolean isSame = true; // as the list before, so far
    for (int i = 0; i < list.length; i++) {
      isSame = isSame && i < last.length && ids[last[i]] == list[i];
      node = isSame ? last[i] : child(node, list[i]);
      path[i] = node;
    }
    last = path;
    return node;
  }

  private int child(int parent, long id) {
    if (2 * size >= table.length) {
      grow();
    }
    int at = slot(parent, id);
    if (table[at] == 0) {
      ids[size] = id;
      parents[size] = parent;
      table[at] = ++size;
    }
    return table[at] - 1;
  }

  private int slot(int parent, long id) {
    int mask = table.length - 1;
    int at = Long.hashCode((id * 31 + parent) * 0x9e3779b97f4a7c15L) & mask;
    while (table[at] != 0 && (ids[table[at] - 1] != id || parents[table[at] - 1] != parent)) {
      at = (at + 1) & mask;
    }
    return at;
  }

  private void grow() {
    ids = Arrays.copyOf(ids, 2 * ids.length);
    parents = Arrays.copyOf(parents, 2 * parents.length);
    table = new int[2 * table.length];
    for (int node = 0; node < size; node++) {
      table[slot(parents[node], ids[node])] = node + 1;
    }
  }

  /** Gives up what only adding needs. */
  void close() {
    ids = Arrays.copyOf(ids, size);
    parents = Arrays.copyOf(parents, size);
    table = new int[0];
    last = table;
  }

  /** The nodes of a list, from its first id on. */
  int[] path(int node) {
    int length = 0;
    for (int at = node; at != ROOT; at = parents[at]) {
      length++;
    }
    int[] path = new int[length];
    for (int at = node; at != ROOT; at = parents[at]) {
      path[--length] = at;
    }
    return path;
  }

  long[] list(int node) {
    return Arrays.stream(path(node)).mapToLong(each -> ids[each]).toArray();
  }

  /** For each node the highest of its value and those of the nodes behind it. */
  int[] highest(int[] values) {
    int[] highest = Arrays.copyOf(values, size);
    for (int node = size - 1; node >= 0; node--) {
      int parent = parents[node];
      if (parent != ROOT) {
        highest[parent] = Math.max(highest[parent], highest[node]);
      }
    }
    return highest;
  }

  int size() {
    return size;
  }

  /** How many ids two lists share from their first one on. */
  static int common(int[] path, int[] other) {
    int shared = 0;
    int max = Math.min(path.length, other.length);
    while (shared < max) { // they differ from the first different node on
      int middle = (shared + max + 1) >>> 1;
      boolean isShared = path[middle - 1] == other[middle - 1];
      shared = isShared ? middle : shared;
      max = isShared ? max : middle - 1;
    }
    return shared;
  }
}
