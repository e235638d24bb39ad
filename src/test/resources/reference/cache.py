#!/usr/bin/env python3
"""Recomputes how much of each prompt an ideal prefix cache would have, from the recorded texts of a run.

    cache.py <run>/llm       compares with ideal_cached_tokens of requests.jsonl; exit 1 on a difference

Needs a run with recordText=true and without a warm-up. Compares each prompt with the texts of all earlier ones, where
the Java code looks up hashes. Standard library only.
"""

import json
import sys
from pathlib import Path


def texts(record):
    if record.get("prompt") is not None:
        return [record["prompt"].encode()]
    found = []
    for message in json.loads(record["messages"]) if isinstance(record["messages"], str) else record["messages"]:
        content = message.get("content") or []
        found += [content] if isinstance(content, str) else [part["text"] for part in content]
    return [text.encode() for text in found]


def common(prompt, other):
    """Bytes that both begin with: whole texts, then steps of the first text that differs."""
    found = 0
    for text, known in zip(prompt, other):
        steps = [*range(64, 1 << 14, 64), *range(1 << 14, max(len(text), len(known)), 256)]
        if text != known:
            same = [step for step in steps if step < len(text) and step <= len(known) and text[:step] == known[:step]]
            whole = len(text) in steps and known.startswith(text)
            return found + (len(text) if whole else max(same, default=0))
        found += len(text)
    return found


def main(folder):
    records = [json.loads(line) for line in (Path(folder) / "requests.jsonl").read_text("utf-8").splitlines()]
    events = []
    for record in records:
        start = record["start_unix_ns"]
        events.append((start, 0, record))
        events.append((start + round(1e9 * (record["gate_wait_s"] + record["closed_s"])), 1, record))
    earlier, wrong = {}, []
    for _, is_answer, record in sorted(events, key=lambda event: event[:2]):
        known = earlier.setdefault((record["target"], record["model"]), [])
        prompt = texts(record)
        if is_answer and record["turn"] is not None:
            known.append([*prompt, record["answer"].encode()])
        elif not is_answer:
            tokens = record["prompt_tokens"] or record["prompt_tokens_local"]
            share = max((common(prompt, other) for other in known), default=0) / sum(map(len, prompt))
            ideal = int(share * tokens + 0.5)
            if ideal != record["ideal_cached_tokens"]:
                wrong.append(f"{record['request_id']}: {record['ideal_cached_tokens']} of {tokens}, expected {ideal}")
            known.append(prompt)
    print("\n".join(wrong) if wrong else f"{len(records)} requests agree")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
