#!/usr/bin/env python3
"""Recomputes the main figures of a run from its records, independently of the Java code.

    summary.py <run>/llm                 prints them as JSON
    summary.py <run>/llm --compare       compares them with summary.json; exit 1 on a difference

Needs run.json (measure windows), requests.jsonl, and server.jsonl for power. Standard library only. Percentiles are nearest
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
                found.append((stage["label"], stage["target"], stage.get("scenario"), phase["start_unix_ns"], end))
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
    elif last is not None and record["output_tokens"] is not None:
        yield admitted + last, record["output_tokens"] if record["streamed_tokens"] is None else record["streamed_tokens"]


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
        tail = record.get("tail_tokens") or 0 if i == len(offsets) - 1 else 0
        count = max(0, count - tail)
        if choice in last_event:
            span = at - last_token[choice]
            yield (at - last_event[choice]) / 1e3, span / 1e3 / ((count if known else tokens[i]) or 1), count
        if choice not in last_event or count > 0:
            last_token[choice] = at
        last_event[choice] = at


def joules(samples, target, start, end):
    """Energy of a target's GPUs in a window, by counters or gauges; None if less than 95 % of counters was read."""
    latest, grown, covered = {}, 0, {}
    for sample in samples:
        value = (sample.get("values") or {}).get("gpu_energy_j")
        if sample["target"] != target or sample["error"] is not None or value is None:
            continue
        before, latest[sample["url"]] = latest.get(sample["url"]), sample
        if before is None:
            continue
        old, since = before["values"]["gpu_energy_j"], before["unix_ns"]
        more = value if sample["reset"] or value < old else value - old
        overlap = max(0, min(end, sample["unix_ns"]) - max(start, since))
        grown += more * overlap / (sample["unix_ns"] - since)
        covered[sample["url"]] = covered.get(sample["url"], 0) + overlap
    if not any(covered.values()):
        return metered(samples, target, start, end)
    read = sum(covered.values()) / len(covered)
    return grown / read * (end - start) if read >= 0.95 * (end - start) else None


def metered(samples, target, start, end):
    """The same by power gauges: their mean over the readings in the window, of all pages read within 10 s."""
    latest, watts = {}, []
    for sample in samples:
        if sample["target"] != target or sample["error"] is not None:
            continue
        latest[sample["url"]] = sample
        if "gpu_power_w" in sample["values"] and start <= sample["unix_ns"] < end:
            fresh = [page for page in latest.values() if sample["unix_ns"] - page["unix_ns"] <= 10 * S]
            watts.append(math.fsum(page["values"].get("gpu_power_w", 0) for page in fresh))
    return math.fsum(watts) / len(watts) * (end - start) / S if watts else None


def efficiency(found, samples, spans):
    """Adds the power of all windows, which must not overlap, and the tokens per joule."""
    each = [joules(samples, target, start, end) for _, target, _, start, end in spans]
    length = sum(end - start for _, _, _, start, end in spans) / S
    watts = None if None in each else sum(each) / length
    tokens = found["throughput"]["output_tokens_per_s"]
    found["efficiency"] = {"power_w": watts, "output_tokens_per_joule": None if watts is None else tokens / watts}


PERCENTILES = {"p50": 500, "p75": 750, "p90": 900, "p95": 950, "p99": 990, "p999": 999}
CUT = ("cancelled", "abandoned")
LOW_PERCENTILES = {"p1": 10, "p5": 50, "p10": 100}


def distribution(values, rate=False):
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
    for name, permille in {**(LOW_PERCENTILES if rate else {}), **PERCENTILES}.items():
        rank = -(-n * permille // 1000)
        figures[name] = values[rank - 1]
        if (rank - 1 if permille < 500 else n - rank) < 10:
            figures.setdefault("low_n", []).append(name)
    return {"low_n": [], **figures}


UNITS = {"us": 1_000, "ms": 1_000_000, "s": S, "m": 60 * S}


def objectives(text):
    """(measure, limit in nanoseconds) of an SLO such as ttft<200ms,tpot<50ms."""
    for part in filter(None, text.split(",")):
        measure, limit = part.split("<")
        unit = limit.lstrip("0123456789.")
        yield measure.strip(), Fraction(limit[: len(limit) - len(unit)]) * UNITS[unit.strip()]


def rank(values, percent):
    return sorted(values)[-(-len(values) * percent // 100) - 1]


def measured(record, measure):
    """What an objective judges, in nanoseconds: waiting in the client included."""
    wait = nanos(record["queue_wait_s"])
    if measure == "ttft":
        return nanos(record["ttft_from_schedule_s"])
    if measure == "e2e":
        return nanos(record["latency_from_schedule_s"])
    if measure == "ttfo":
        return None if record["ttfo_s"] is None or wait is None else nanos(record["ttfo_s"]) + wait
    if measure == "itl":
        own = [value for _, value, count in gaps(record) for _ in range(count)]
        return rank(own, 99) * 1e6 if own else None
    return nanos(record[{"tpot": "tpot_s", "stall": "stall_s"}[measure]])


def record_of(line):
    """The record of a line; its `status` is `verdict` in files of older versions."""
    record = json.loads(line)
    return {**record, "status": record["verdict"]} if "verdict" in record else record


def in_slo(record, slo):
    """True, False, or None where it cannot be told: no SLO, or cancelled too early."""
    if not slo:
        return None
    cancelled = record["status"] in CUT
    lasted = nanos(record["start_lag_s"]) + (nanos(record["gate_wait_s"]) or 0) + (nanos(record["closed_s"]) or 0)
    missed = not record["ok"] and not cancelled
    unknown = False
    for measure, limit in slo:
        value = measured(record, measure)
        if measure == "itl" and record["events"] > 1 and not record["event_offsets_us"]:
            missed |= "itl" in record["slo_missed"]
            unknown |= record["slo_ok"] is None
        elif cancelled and measure == "e2e":
            missed |= lasted >= limit
            unknown = True
        elif cancelled and measure == "stall" and record["latency_s"] is not None and nanos(
            record["closed_s"]
        ) - nanos(record["latency_s"]) >= limit:
            missed = True
        elif value is not None:
            missed |= value >= limit
        elif cancelled:
            missed |= measure in ("ttft", "ttfo") and record["streamed"] and lasted >= limit
            unknown = True
        else:
            missed |= measure == "e2e" or (measure in ("ttft", "ttfo") and record["streamed"])
    return None if unknown and not missed else not missed


def second_event(record):
    """Milliseconds from the first token-bearing event to the next one of its choice."""
    offsets = record["event_offsets_us"]
    choices = record["event_choices"] or [0] * len(offsets)
    return next(((at - offsets[0]) / 1e3 for at, choice in list(zip(offsets, choices))[1:] if choice == choices[0]), None)


TIMES = {"tpot_ms": "tpot_s", "e2e_ms": "latency_s", "e2e_from_schedule_ms": "latency_from_schedule_s",
         "queue_wait_ms": "queue_wait_s", "connect_ms": "connect_s", "stall_ms": "stall_s"}


def figures(records, spans, slo):
    length = union([(start, end) for _, _, _, start, end in spans]) / S
    names = ["ttft_ms", "ttft_from_schedule_ms", "ttfo_ms", *TIMES, "ttst_ms", "failed_e2e_ms", "itl_ms", "icl_ms", "e2e_per_token_ms", "prompt_tokens", "output_tokens"]
    values = {name: [] for name in names}
    rates = {"user_tokens_per_s": [], "decode_tokens_per_s": [], "prefill_tokens_per_s": []}
    ratios = []
    tokens = ended = started = ok = 0
    verdicts = {}
    each = {objective: [0, 0, 0] for objective in slo}
    slo_tokens = slo_ended = attempted = met = excluded = 0
    events = streamed = stalls = 0
    hidden = prompts = in_flight = receiving = prompted = billed = 0
    seconds = {}

    def inside(record, at):
        return any(
            t == record["target"] and s in (None, record["scenario"]) and start <= at < end for _, t, s, start, end in spans
        )

    def overlap(record, first, last):
        return sum(
            max(0, min(last, end) - max(first, start))
            for _, t, s, start, end in spans
            if t == record["target"] and s in (None, record["scenario"])
        )

    for record in records:
        good = in_slo(record, slo)
        for at, count in arrivals(record):
            tokens += count if inside(record, at) else 0
            if inside(record, at):
                seconds[at // S] = seconds.get(at // S, 0) + count
            slo_tokens += count if good and record["ok"] and inside(record, at) else 0
        if record["gate_wait_s"] is not None and record["closed_s"] is not None and record["ok"]:
            closed = record["start_unix_ns"] + nanos(record["gate_wait_s"]) + nanos(record["closed_s"])
            ended += inside(record, closed)
            slo_ended += inside(record, closed) and good is True
        if record["gate_wait_s"] is not None and record["closed_s"] is not None:
            admitted = record["start_unix_ns"] + nanos(record["gate_wait_s"])
            closed = admitted + nanos(record["closed_s"])
            first, last = nanos(record["ttft_s"]), nanos(record["latency_s"])
            in_flight += overlap(record, admitted, closed)
            receiving += overlap(record, admitted + first, admitted + last) if first is not None else 0
            answered = first if first is not None else last
            prompt = record["prompt_tokens"] if record["prompt_tokens"] is not None else record["prompt_tokens_local"]
            if answered is not None and inside(record, admitted + answered):
                prompts += prompt or 0
                prompted += prompt is not None
            if record["token_source"] == "usage" and inside(record, closed if answered is None else admitted + answered):
                billed += 1
                if record["streamed_tokens"] is not None:
                    hidden += record["output_tokens"] - record["streamed_tokens"]
        own_stage = {(record["stage"], record["target"], s) for s in (None, record["scenario"])}
        if record["phase"] != "measure" or not own_stage & {span[:3] for span in spans}:
            continue
        started += 1
        verdicts[record["status"]] = verdicts.get(record["status"], 0) + 1
        for objective, counted in each.items():
            one = in_slo(record, [objective])
            if not may_lack(record, objective[0]):
                counted[0] += one is True
                counted[1] += one is not None
                counted[2] += one is None
        attempted += good is not None
        met += good is True
        excluded += good is None and bool(slo)
        if record["ok"] or record["status"] == "timeout":
            for name in ("ttft", "ttft_from_schedule", "ttfo"):
                if record[name + "_s"] is not None:
                    values[name + "_ms"].append(record[name + "_s"] * 1e3)
        if not record["ok"]:
            if record["status"] not in CUT and record["gate_wait_s"] is not None and record["closed_s"] is not None:
                values["failed_e2e_ms"].append(record["closed_s"] * 1e3)
            continue
        ok += 1
        if second_event(record) is not None:
            values["ttst_ms"].append(second_event(record))
        for name, key in TIMES.items():
            if record[key] is not None:
                values[name].append(record[key] * 1e3)
        prompt = record["prompt_tokens"] if record["prompt_tokens"] is not None else record["prompt_tokens_local"]
        for name, value in (("prompt_tokens", prompt), ("output_tokens", record["output_tokens"])):
            if value is not None:
                values[name].append(value)
        n = record["streamed_tokens"] if record["streamed_tokens"] is not None else record["output_tokens"]
        if n and record["latency_s"]:
            values["e2e_per_token_ms"].append(record["latency_s"] * 1e3 / n)
            rates["user_tokens_per_s"].append(n / record["latency_s"])
        if record["tpot_s"]:
            rates["decode_tokens_per_s"].append(1 / record["tpot_s"])
        fresh = None if prompt is None else prompt - (record["cached_tokens"] or 0)
        if fresh and fresh > 0 and record["ttft_s"]:
            rates["prefill_tokens_per_s"].append(fresh / record["ttft_s"])
        if record["ttft_s"] is not None:
            events += record["events"]
            streamed += record["events"] if n is None else n
        own = []
        for raw, per_token, count in gaps(record):
            values["icl_ms"].append(raw)
            values["itl_ms"].extend([per_token] * count)
            own.extend([per_token] * count)
            stalls += raw > 100
        if own and rank(own, 50) > 0:
            ratios.append(rank(own, 99) / rank(own, 50))
    if len({(start, end) for _, _, _, start, end in spans}) == 1:
        spans_seconds = range(-(-spans[0][3] // S), spans[0][4] // S)
        peak = max((seconds.get(second, 0) for second in spans_seconds), default=None)
    else:
        peak = None
    found = {
        "metrics": {name: distribution(values[name]) for name in names},
        "throughput": {"output_tokens_per_s": tokens / length, "requests_per_s": ended / length,
                       "requests_per_min": 60 * ended / length,
                       "billed_output_tokens_per_s": (tokens + hidden) / length if billed else None,
                       "input_tokens_per_s": prompts / length if prompted else None,
                       "total_tokens_per_s": (tokens + prompts) / length if prompted else None,
                       "effective_concurrency": in_flight / S / length,
                       "active_concurrency": receiving / S / length,
                       **({} if peak is None or not in_flight else {"peak_output_tokens_per_s": peak}),
                       **{name: distribution(rates[name], True) for name in rates}},
        "jitter": {"batch_ratio": streamed / events if events else None,
                   "stalls_per_1k_tokens": 1000 * stalls / streamed if values["icl_ms"] else None},
        "counts": {"started": started, "ok": ok, "verdicts": verdicts},
    }
    itl = found["metrics"]["itl_ms"]
    if itl["count"] and itl["p50"] > 0:
        found["jitter"]["itl_p99_over_p50"] = itl["p99"] / itl["p50"]
    if ratios:
        found["jitter"]["per_request_p50"] = rank(ratios, 50)
    if slo:
        found["goodput"] = {"share": met / attempted if attempted and excluded <= 0.01 * (attempted + excluded) else None,
                            "requests_per_s": slo_ended / length,
                            "tokens_per_s": slo_tokens / length, "attempted": attempted, "met": met,
                            "excluded": excluded}
    found["each"] = list(each.values())
    ended_by_itself = started - sum(verdicts.get(cut, 0) for cut in ("cancelled", "abandoned"))
    found["sheds"] = ended_by_itself - ok > 0.05 * ended_by_itself
    return found


def may_lack(record, measure):
    """Whether an objective does not apply to a request that has no such value."""
    needed = measure == "e2e" or record["streamed"] and measure in ("ttft", "ttfo")
    unseen = measure == "itl" and record["events"] > 1 and not record["event_offsets_us"]
    return record["ok"] and not needed and not unseen and measured(record, measure) is None


def holds(level, run):
    """Whether a load level meets the SLO; None where more than 1 % were cancelled and decide it."""
    goodput = level["goodput"]
    if level["sheds"]:
        return False
    at_once = [(goodput["met"], goodput["attempted"], goodput["excluded"])]
    decided = []
    for met, of, unknown in at_once if run["slo_rule"] == "requests" else level["each"]:
        required = run["slo_percentile"] / 100 - 1e-11
        if of and unknown <= 0.01 * (of + unknown):
            decided.append(met / of >= required)
        elif of + unknown:
            decided.append(False if of and (met + unknown) / (of + unknown) < required else None)
    return False if False in decided else None if None in decided or not decided else True


def knee(curve):
    """The lightest (load, tok/s, label) with 90 % of the most, and whether its load is at most half of the highest."""
    most = max(tokens for _, tokens, _ in curve)
    load, tokens, label = next(level for level in sorted(curve) if level[1] >= 0.9 * most)
    flat = load <= max(curve)[0] / 2
    first = label == min(curve)[2]
    found = {"stage": label, "output_tokens_per_s": tokens, "reached": flat and not first}
    return found if len(curve) == 2 else {**found, "saturated_from_first": flat and first}


def differences(expected, actual, path):
    for key, value in expected.items():
        other = actual.get(key)
        if isinstance(value, dict):
            yield from differences(value, other or {}, f"{path}/{key}")
        else:
            percentile = key.startswith("p") and key[1:].isdigit() or key in ("itl_p99_over_p50", "per_request_p50")
            if value is None or other is None or isinstance(value, (bool, str, list)):
                if value != other or (value is None) != (other is None):
                    yield f"{path}/{key}: expected {value}, summary.json says {other}"
                continue
            allowed = abs(value) * (2e-3 if "50" in key[3:] else 1e-3) + 6e-4 if percentile else abs(value) * 1e-7 + 1e-5
            if abs(other - value) > allowed:
                yield f"{path}/{key}: expected {value}, summary.json says {other}"


def main(folder, compare):
    run = json.loads((folder / "run.json").read_text())
    with open(folder / "requests.jsonl", encoding="utf-8") as lines:
        records = [record_of(line) for line in lines if line.strip()]
    summary = json.loads((folder / "summary.json").read_text()) if compare else None
    spans = windows(run)
    slo = list(objectives(run["slo"]))
    found = figures(records, spans, slo)
    found["stages"] = [figures(records, [span], slo) for span in spans]
    if slo:
        for level in found["stages"]:
            level["goodput"]["holds"] = holds(level, run)
    targets = dict.fromkeys(target for _, target, *_ in spans)
    found["targets"] = [figures(records, [span for span in spans if span[1] == target], slo) for target in targets]
    if (folder / "server.jsonl").exists():
        with open(folder / "server.jsonl", encoding="utf-8") as lines:
            samples = [json.loads(line) for line in lines if line.strip()]
        efficiency(found, samples, spans)
        for level, span in zip(found["stages"], spans):
            efficiency(level, samples, [span])
        for of, target in zip(found["targets"], targets):
            efficiency(of, samples, [span for span in spans if span[1] == target])
    if len(targets) == 1 and len(spans) > 1:
        loads = [stage["offered"] for stage in run["stages"]]
        tried = [(load, figured["throughput"]["output_tokens_per_s"], span[0])
                 for load, figured, span in zip(loads, found["stages"], spans)
                 if figured["counts"]["started"] or figured["throughput"]["effective_concurrency"]]
        found["knee"] = knee(tried)
    names = [named["name"] for named in summary["requests"]] if compare else sorted({r["name"] for r in records})
    found["requests"] = [figures([r for r in records if r["name"] == name], spans, slo) for name in names]
    for part in (found, *found["stages"], *found["targets"], *found["requests"]):
        part.pop("each", None)
        part.pop("sheds", None)
    if not compare:
        print(json.dumps(found, indent=2))
        return 0
    parts = {part: found.pop(part) for part in ("stages", "targets", "requests")}
    wrong = list(differences(found, summary, ""))
    for part, expected in parts.items():
        if len(expected) != len(summary[part]):
            wrong.append(f"/{part}: expected {len(expected)}, summary.json has {len(summary[part])}")
        for i, one in enumerate(expected[: len(summary[part])]):
            wrong += differences(one, summary[part][i], f"/{part}/{i}")
    print("\n".join(wrong) or f"{len(records)} records, {len(spans)} stages: all figures agree")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), "--compare" in sys.argv[2:]))
