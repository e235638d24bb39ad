#!/usr/bin/env python3
"""What the exports of a run have to say, from its records, independently of the Java code.

    export.py <run>/llm                  prints a JSON object: <format>: <load level>: values by their paths

Needs run.json (measure windows) and requests.jsonl. Standard library only. Percentiles are nearest rank over all values.
"""

import json
import math
import sys
from pathlib import Path

from summary import figures, gaps, nanos, objectives, windows


def statistics(values):
    values = sorted(values)
    n = len(values)
    mean = math.fsum(values) / n
    found = {"mean": mean, "std": math.sqrt(math.fsum((v - mean) ** 2 for v in values) / n)}
    found.update(min=values[0], max=values[-1], count=n, sum=math.fsum(values))
    for permille in (1, 10, 50, 100, 250, 500, 750, 900, 950, 990, 999):
        found[f"p{permille / 10:g}"] = values[-(-n * permille // 1000) - 1]
    return found


def scaled(found, factor):
    return {name: value if name == "count" else value * factor for name, value in found.items()}


def per_token(record, first):
    tokens = record["output_tokens"]
    if record["ttft_s"] is None or record["latency_s"] is None or tokens is None or tokens <= first:
        return None
    return (nanos(record["latency_s"]) - nanos(record["ttft_s"])) / 1e6 / (tokens - first)


def first_tokens(record):
    return 1 if record["first_event_tokens"] is None else record["first_event_tokens"]


def known(values):
    return [value for value in values if value is not None]


def ms(records, key):
    return [record[key] * 1e3 for record in records if record[key] is not None]


def distributions(good):
    """In milliseconds or tokens; those without values are left out."""
    pooled = [gap for record in good for gap in gaps(record)]
    found = {
        "ttft": ms(good, "ttft_s"),
        "e2e": ms(good, "latency_s"),
        "tpot": ms(good, "tpot_s"),
        "less_one": known(per_token(record, 1) for record in good),
        "less_first": known(per_token(record, first_tokens(record)) for record in good),
        "icl": [raw for raw, _, _ in pooled],
        "itl": [token for _, token, count in pooled for _ in range(count)],
        "prompt": known(record["prompt_tokens"] for record in good),
        "output": known(record["output_tokens"] for record in good),
        "per_token": [
            record["latency_s"] * 1e3 / (record["streamed_tokens"] or record["output_tokens"])
            for record in good
            if record["latency_s"] and (record["streamed_tokens"] or record["output_tokens"])
        ],
    }
    return {name: statistics(values) for name, values in found.items() if values}


def vllm(all_of, good, found, seconds):
    result = {
        "duration": seconds,
        "completed": len(good),
        "failed": len(all_of) - len(good),
        "num_prompts": len(all_of),
        "total_input_tokens": found["prompt"]["sum"],
        "total_output_tokens": found["output"]["sum"],
        "request_throughput": len(good) / seconds,
        "output_throughput": found["output"]["sum"] / seconds,
        "total_token_throughput": (found["prompt"]["sum"] + found["output"]["sum"]) / seconds,
    }
    names = {"mean": "mean", "std": "std", "median": "p50", "p50": "p50", "p75": "p75", "p90": "p90", "p95": "p95", "p99": "p99"}
    for figure, of in {"ttft": "ttft", "tpot": "less_one", "itl": "icl", "e2el": "e2e"}.items():
        for name, statistic in names.items():
            result[f"{name}_{figure}_ms"] = found[of][statistic]
    columns = {
        "input_lens": [record["prompt_tokens"] or 0 for record in all_of],
        "output_lens": [record["output_tokens"] or 0 if record["ok"] else 0 for record in all_of],
        "ttfts": [record["ttft_s"] or 0 for record in all_of],
        "latencies": [record["latency_s"] or 0 for record in all_of],
        "itls": [raw / 1e3 for record in all_of for raw, _, _ in gaps(record)],
    }
    for name, values in columns.items():
        result.update({f"{name}.count": len(values), f"{name}.sum": math.fsum(values)})
    result["errors.count"] = len(all_of)
    return result


def aiperf(all_of, good, found, seconds):
    names = {"avg": "mean", "std": "std", "min": "min", "max": "max", "count": "count", "sum": "sum"}
    names.update({p: p for p in ("p1", "p5", "p10", "p25", "p50", "p75", "p90", "p95", "p99")})
    result = {
        "request_throughput.avg": len(good) / seconds,
        "request_count.avg": len(good),
        "error_request_count.avg": len(all_of) - len(good),
        "output_token_throughput.avg": found["output"]["sum"] / seconds,
        "benchmark_duration.avg": seconds,
        "total_isl.avg": found["prompt"]["sum"],
        "total_osl.avg": found["output"]["sum"],
    }
    metrics = {
        "time_to_first_token": "ttft", "request_latency": "e2e", "inter_token_latency": "less_first", "inter_chunk_latency": "icl",
        "input_sequence_length": "prompt", "output_sequence_length": "output",
    }
    for metric, of in metrics.items():
        for name, statistic in names.items():
            result[f"{metric}.{name}"] = found[of][statistic]
    return result


def benchmark_report(all_of, level, found):
    names = {"mean": "mean", "stddev": "std", "min": "min", "max": "max", "p0p1": "p0.1", "p99p9": "p99.9"}
    names.update({p: p for p in ("p1", "p5", "p10", "p25", "p50", "p75", "p90", "p95", "p99")})
    cut = sum(record["status"] in ("cancelled", "abandoned") for record in all_of)
    ok = sum(record["ok"] for record in all_of)
    result = {"requests.total": len(all_of), "requests.failures": len(all_of) - ok - cut, "requests.incomplete": cut}
    metrics = {
        "latency.time_to_first_token": ("ttft", 1e-3), "latency.request_latency": ("e2e", 1e-3),
        "latency.time_per_output_token": ("tpot", 1e-3), "latency.inter_token_latency": ("itl", 1e-3),
        "latency.normalized_time_per_output_token": ("per_token", 1e-3),
        "requests.input_length": ("prompt", 1), "requests.output_length": ("output", 1),
    }
    for metric, (of, factor) in metrics.items():
        for name, statistic in names.items():
            result[f"{metric}.{name}"] = scaled(found[of], factor)[statistic]
    rates = {"input_token_rate": "input_tokens_per_s", "output_token_rate": "output_tokens_per_s",
             "total_token_rate": "total_tokens_per_s", "request_rate": "requests_per_s"}
    for rate, of in rates.items():
        result[f"throughput.{rate}.mean"] = level["throughput"][of]
    return {f"results.request_performance.aggregate.{path}": value for path, value in result.items()}


def main(folder):
    run = json.loads((folder / "run.json").read_text())
    with open(folder / "requests.jsonl", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines if line.strip()]
    expected = {"benchmark-report": {}, "vllm": {}, "aiperf": {}}
    for span in windows(run):
        label, target = span[:2]
        all_of = [r for r in records if r["phase"] == "measure" and r["stage"] == label and r["target"] == target]
        good = [record for record in all_of if record["ok"]]
        found = distributions(good)
        admitted = [record["start_unix_ns"] + (nanos(record["gate_wait_s"]) or 0) for record in all_of]
        ends = [at + (nanos(record["closed_s"]) or 0) for at, record in zip(admitted, all_of)]
        seconds = (max(ends) - min(admitted)) / 1e9
        expected["vllm"][label] = vllm(all_of, good, found, seconds)
        expected["aiperf"][label] = aiperf(all_of, good, found, seconds)
        level = figures(records, [span], list(objectives(run["slo"])))
        expected["benchmark-report"][label] = benchmark_report(all_of, level, found)
    print(json.dumps(expected, indent=1))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
