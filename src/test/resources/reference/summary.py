#!/usr/bin/env python3
"""Recomputes the main figures of a run from its records, independently of the Java code.

    summary.py <run>/llm                 prints them as JSON
    summary.py <run>/llm --compare       compares them with summary.json; exit 1 on a difference

Needs run.json (measure windows) and requests.jsonl. Standard library only. Percentiles are nearest
rank over all values, so they may differ from summary.json by its histogram's 0.1 %.
"""

import json
import math
import sys
from fractions import Fraction
from pathlib import Path

S = 1_000_000_000


def nanos(seconds):
    return None if seconds is None else round(Fraction(str(seconds)) * S)


def windows(run):
    found = []
    for stage in run["stages"]:
        for phase in stage["phases"]:
            if phase["phase"] == "measure":
                end = phase["end_unix_ns"] or run["end_unix_ns"]
                found.append((stage["label"], stage["target"], phase["start_unix_ns"], end))
    return found


def union(intervals):
    total, covered = 0, None
    for start, end in sorted(intervals):
        start = start if covered is None else max(start, covered)
        if end > start:
            total += end - start
            covered = end
    return total


def per_event(record):
    """Tokens of each event: the server's, else N shared evenly, at least one each."""
    offsets = record["event_offsets_us"]
    if len(record["event_tokens"]) == len(offsets):
        return record["event_tokens"]
    n = record["streamed_tokens"]
    share = 1 if n is None or n < len(offsets) else n / len(offsets)
    return [share] * len(offsets)


def arrivals(record):
    """(epoch nanoseconds, tokens) of everything that arrived."""
    if record["gate_wait_s"] is None:
        return
    admitted = record["start_unix_ns"] + nanos(record["gate_wait_s"])
    first, last = nanos(record["ttft_s"]), nanos(record["latency_s"])
    if record["event_offsets_us"]:
        for offset, tokens in zip(record["event_offsets_us"], per_event(record)):
            yield admitted + offset * 1000, tokens
    elif first is not None:
        n = record["streamed_tokens"] or record["output_tokens"] or record["events"]
        for i in range(n):
            yield admitted + first + math.floor((last - first) * i / max(1, n - 1) + 0.5), 1
    elif not record["streamed"] and last is not None and record["output_tokens"] is not None:
        yield admitted + last, record["output_tokens"]


def gaps(record):
    """(raw gap, gap per token, how many tokens it counts for) in milliseconds."""
    offsets = record["event_offsets_us"]
    choices = record["event_choices"] or [0] * len(offsets)
    known = len(record["event_tokens"]) == len(offsets)
    tokens = per_event(record)
    last_event, last_token = {}, {}
    for i, (at, choice) in enumerate(zip(offsets, choices)):
        if known:
            count = tokens[i]
        else:
            count = math.floor((i + 1) * tokens[i] + 1e-9) - math.floor(i * tokens[i] + 1e-9)
        if choice in last_event:
            span = at - last_token[choice]
            yield (at - last_event[choice]) / 1e3, span / 1e3 / (tokens[i] or 1), count
        if choice not in last_event or count > 0:
            last_token[choice] = at
        last_event[choice] = at


def distribution(values):
    if not values:
        return {"count": 0}
    values.sort()
    n = len(values)
    mean = math.fsum(values) / n
    figures = {
        "count": n,
        "mean": mean,
        "std": math.sqrt(math.fsum((v - mean) ** 2 for v in values) / n),
        "min": values[0],
        "max": values[-1],
    }
    for name, permille in (("p50", 500), ("p75", 750), ("p90", 900), ("p95", 950), ("p99", 990), ("p999", 999)):
        figures[name] = values[-(-n * permille // 1000) - 1]
    return figures


def figures(records, spans):
    length = union([(start, end) for _, _, start, end in spans]) / S
    names = ["ttft_ms", "ttft_from_schedule_ms", "itl_ms", "icl_ms", "tpot_ms", "e2e_ms", "queue_wait_ms",
             "prompt_tokens", "output_tokens"]
    values = {name: [] for name in names}
    tokens = ended = started = ok = 0

    def inside(record, at):
        return any(t == record["target"] and start <= at < end for _, t, start, end in spans)

    for record in records:
        for at, count in arrivals(record):
            tokens += count if inside(record, at) else 0
        if record["gate_wait_s"] is not None and record["closed_s"] is not None and record["ok"]:
            closed = record["start_unix_ns"] + nanos(record["gate_wait_s"]) + nanos(record["closed_s"])
            ended += inside(record, closed)
        if record["phase"] != "measure" or (record["stage"], record["target"]) not in {s[:2] for s in spans}:
            continue
        started += 1
        if not record["ok"]:
            continue
        ok += 1
        for name, key in (("ttft_ms", "ttft_s"), ("ttft_from_schedule_ms", "ttft_from_schedule_s"),
                          ("tpot_ms", "tpot_s"), ("e2e_ms", "latency_s"), ("queue_wait_ms", "queue_wait_s")):
            if record[key] is not None:
                values[name].append(record[key] * 1e3)
        prompt = record["prompt_tokens"] if record["prompt_tokens"] is not None else record["prompt_tokens_local"]
        for name, value in (("prompt_tokens", prompt), ("output_tokens", record["output_tokens"])):
            if value is not None:
                values[name].append(value)
        for raw, per_token, count in gaps(record):
            values["icl_ms"].append(raw)
            values["itl_ms"].extend([per_token] * count)
    return {
        "metrics": {name: distribution(values[name]) for name in names},
        "throughput": {"output_tokens_per_s": tokens / length, "requests_per_s": ended / length},
        "counts": {"started": started, "ok": ok},
    }


def differences(expected, actual, path):
    for key, value in expected.items():
        other = actual[key]
        if isinstance(value, dict):
            yield from differences(value, other, f"{path}/{key}")
        else:
            percentile = key.startswith("p") and key[1:].isdigit()
            allowed = abs(value) * 1e-3 + 6e-4 if percentile else abs(value) * 1e-7 + 1e-5
            if other is None or abs(other - value) > allowed:
                yield f"{path}/{key}: expected {value}, summary.json says {other}"


def main(folder, compare):
    run = json.loads((folder / "run.json").read_text())
    with open(folder / "requests.jsonl", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines if line.strip()]
    spans = windows(run)
    found = figures(records, spans)
    found["stages"] = [figures(records, [span]) for span in spans]
    if not compare:
        print(json.dumps(found, indent=2))
        return 0
    summary = json.loads((folder / "summary.json").read_text())
    stages = found.pop("stages")
    wrong = list(differences(found, summary, ""))
    for i, stage in enumerate(stages):
        wrong += differences(stage, summary["stages"][i], f"/stages/{i}")
    print("\n".join(wrong) or f"{len(records)} records, {len(stages)} stages: all figures agree")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), "--compare" in sys.argv[2:]))
