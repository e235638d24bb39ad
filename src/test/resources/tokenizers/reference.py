"""Makes the two tokenizers and the counts in this folder with the reference implementations.

    pip install tiktoken==0.14.0 tokenizers==0.23.3 && python reference.py

tiktoken downloads its tables, unless TIKTOKEN_CACHE_DIR has them (jtokkit's jar does) under the
SHA-1 of their URLs; it checks their SHA-256 either way. Texts and corpus are written for this project.
"""

import importlib.metadata
import json
import pathlib
import random

import tiktoken
import tokenizers
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors, trainers

HERE = pathlib.Path(__file__).parent
ENCODINGS = ["r50k_base", "p50k_base", "p50k_edit", "cl100k_base", "o200k_base"]

TEXTS = {
    "empty": "",
    "space": " ",
    "spaces and tabs": "  two  spaces\t\ttabs \n\n\nand lines\r\nof Windows   ",
    "english": "The quick brown fox doesn't jump over 12345 lazy dogs; it's tired, they've slept.",
    "capitals": "HTTP/2 servers and APIs: WE'LL see IF THAT'S SO.",
    "german": "Größenmaßstäbe für Straßenbahnen: Übermäßig süße Äpfel, sagte der Bäcker.",
    "french": "L'été, c'est déjà l'automne : où sont les cœurs naïfs ?",
    "turkish": "İstanbul'da ışıklı bir gece, çığlık ve şarkı.",
    "vietnamese": "Tiếng Việt có nhiều dấu: ngữ nghĩa được viết rõ ràng.",
    "russian": "Съешь же ещё этих мягких французских булок, да выпей чаю.",
    "greek": "Η γρήγορη αλεπού πηδάει πάνω από τον τεμπέλη σκύλο.",
    "arabic": "اللغة العربية تكتب من اليمين إلى اليسار ١٢٣.",
    "hebrew": "עברית נכתבת מימין לשמאל, עם נִקּוּד.",
    "hindi": "हिन्दी भाषा देवनागरी लिपि में लिखी जाती है।",
    "thai": "ภาษาไทยไม่มีช่องว่างระหว่างคำ",
    "chinese": "人工智能正在改变世界，大型语言模型可以写诗。",
    "japanese": "東京の天気は晴れです。カタカナとひらがな、漢字。",
    "korean": "한국어 문장을 토큰으로 나누는 방법을 배웁니다.",
    "emoji": "Robots 🤖🤖, a family 👨‍👩‍👧‍👦, flags 🏳️‍🌈🇪🇺, skin 👍🏽 and ❤️‍🔥.",
    "beyond the BMP": "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𝟙𝟚𝟛 𐍈 𒀀 𓂀",
    "combining": "e\u0301 versus \u00e9, Z\u0351\u0343a\u0300\u0301l\u0309go, \u200bzero\u200dwidth\ufeff",
    "numbers": "3.14159265358979 1,000,000 0x7fff 2026-11-21T11:32:52.000001Z 1e-9 ½ ² ٤٢",
    "punctuation": "!!! ??? ... --- ___ *** ### ((([[[{{{ }}}]]])) «» “quoted” ‘single’ — – •",
    "code python": "def fib(n: int) -> int:\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\n\n\nprint([fib(i) for i in range(10)])\n",
    "code java": "record Point(int x, int y) {\n\tstatic final Point ZERO = new Point(0, 0);\n}\n// TODO: hashCode() ?: \"\\u00e9\"\n",
    "code rust": "fn main() -> Result<(), Box<dyn Error>> {\n    let v: Vec<_> = (0..10).map(|x| x * x).collect();\n    Ok(())\n}\n",
    "json": '{"model": "m", "messages": [{"role": "user", "content": "h\\u00e9llo"}], "stream": true, "n": 1}',
    "url": "https://example.org:8443/v1/chat/completions?beta=true&x=%20%2F#frag",
    "special tokens as text": "<|endoftext|> <s>[INST] hi [/INST]</s> <|im_start|>user",
    "a long word": "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft",
    "repeated": "ha" * 300 + " " * 40 + "na " * 100,
    "mixed": "In 東京 kostet ein café 500¥ — това е скъпо! print('привет') 🍣",
}

WORDS = """the a token of text model server request time first last and or not with from to in is was
large small long short answer prompt count byte pair word piece latency stream chunk event load user
größe straße über café naïve для слово привет мир 東京 天気 言語 人工 智能 中文 한국어 hello world code
def return int string new final static void class record fn let print range map list""".split()


def corpus():
    chance = random.Random(7)
    for _ in range(1500):
        line = " ".join(chance.choices(WORDS, k=12))
        yield line.capitalize() + chance.choice([".", "!", "?", ";", ":\n"])
    yield from TEXTS.values()


def byte_level_bpe():
    bpe = tokenizers.Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    special = [("<s>", 0), ("</s>", 1)]
    bpe.post_processor = processors.Sequence(
        [
            processors.ByteLevel(trim_offsets=True),
            processors.TemplateProcessing(single="<s> $A </s>", special_tokens=special),
        ]
    )
    bpe.train_from_iterator(
        corpus(),
        trainers.BpeTrainer(
            vocab_size=1200,
            special_tokens=["<s>", "</s>"],
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    # A file that truncates and pads: whoever counts has to switch both off.
    bpe.enable_truncation(16)
    bpe.enable_padding(length=16, pad_id=1, pad_token="</s>")
    return bpe


def word_piece():
    pieces = tokenizers.Tokenizer(models.WordPiece(unk_token="[UNK]"))
    pieces.normalizer = normalizers.BertNormalizer(lowercase=True)
    pieces.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    pieces.decoder = decoders.WordPiece()
    pieces.train_from_iterator(
        corpus(),
        trainers.WordPieceTrainer(
            vocab_size=900, special_tokens=["[UNK]", "[CLS]", "[SEP]"], show_progress=False
        ),
    )
    pieces.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    return pieces


def unigram():
    pieces = tokenizers.Tokenizer(models.Unigram())
    pieces.normalizer = normalizers.NFKC()
    pieces.pre_tokenizer = pre_tokenizers.Metaspace()
    pieces.decoder = decoders.Metaspace()
    pieces.train_from_iterator(
        corpus(),
        trainers.UnigramTrainer(
            vocab_size=700, special_tokens=["<unk>"], unk_token="<unk>", show_progress=False
        ),
    )
    return pieces


def bare(tokenizer):
    plain = tokenizers.Tokenizer.from_str(tokenizer.to_str())
    plain.no_truncation()
    plain.no_padding()
    return lambda text: len(plain.encode(text, add_special_tokens=False).ids)


def main():
    counters = {}
    for name in ENCODINGS:
        encoding = tiktoken.get_encoding(name)
        counters["tiktoken:" + name] = lambda text, e=encoding: len(e.encode_ordinary(text))
    for name, make in [("bpe", byte_level_bpe), ("wordpiece", word_piece), ("unigram", unigram)]:
        file = HERE / (name + ".tokenizer.json")
        if not file.exists():  # training breaks ties by chance; counts belong to the files that are here
            make().save(str(file), pretty=False)
        counters["hf:" + file.name] = bare(tokenizers.Tokenizer.from_file(str(file)))
    golden = {
        "made_by": {p: importlib.metadata.version(p) for p in ["tiktoken", "tokenizers"]},
        "texts": [
            {"name": name, "text": text, "tokens": {c: count(text) for c, count in counters.items()}}
            for name, text in TEXTS.items()
        ],
    }
    (HERE / "golden.json").write_text(json.dumps(golden, ensure_ascii=True, indent=1) + "\n")


if __name__ == "__main__":
    main()
