"""What the adapters share: their arguments, a tokenizer that needs no network, and the file that the harness reads.

An adapter is called with <port> <streams> <requests> <tokens> <folder> and leaves <folder>/streams.jsonl: a line per request with
`number` (the server's, from the text of the answer) or `id` (its X-Request-Id), and `offsets_ns` of its tokens since it was sent.
"""

import json
import pathlib
import re
import sys
from typing import NamedTuple

PROMPT = "Tell me a story about a river, its mill and the people who live there."


class Load(NamedTuple):
    port: int
    streams: int
    requests: int
    tokens: int
    folder: pathlib.Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


def load() -> Load:
    port, streams, requests, tokens = map(int, sys.argv[1:5])
    return Load(port, streams, requests, tokens, pathlib.Path(sys.argv[5]).resolve())


def number(text: str) -> int:
    """The server's number of a request; each of its tokens is `r` and a million more than that."""
    return int(re.search(r"r(\d{7,})", text).group(1)) - 1_000_000


def tokenizer(folder: pathlib.Path) -> pathlib.Path:
    """A tokenizer of words, in the form of Hugging Face."""
    made = folder / "tokenizer"
    made.mkdir(exist_ok=True)
    vocabulary = {word: i for i, word in enumerate(["[UNK]", *(f"w{i}" for i in range(2000))])}
    (made / "tokenizer.json").write_text(
        json.dumps(
            {
                "version": "1.0",
                "added_tokens": [],
                "normalizer": None,
                "pre_tokenizer": {"type": "Whitespace"},
                "post_processor": None,
                "decoder": None,
                "truncation": None,
                "padding": None,
                "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]"},
            }
        )
    )
    (made / "tokenizer_config.json").write_text(
        json.dumps({"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "[UNK]", "eos_token": "[UNK]"})
    )
    return made


def write(load: Load, streams: list[dict]) -> None:
    """Each with its offsets in seconds; what a client counts beyond the tokens, like the finish reason, is left out."""
    with open(load.folder / "streams.jsonl", "w") as out:
        for stream in streams:
            offsets = stream.pop("offsets")[: load.tokens]
            out.write(json.dumps({**stream, "offsets_ns": [round(1e9 * at) for at in offsets]}) + "\n")
