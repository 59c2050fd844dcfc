"""Audits of tokenizers and of the files beside them."""

import json

import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from engine.compile import compile_grammar
from engine.diagnosis.tokenizer_audit import AuditCode, audit_tokenizer
from engine.vocabulary import Vocabulary

LETTERS = [bytes((byte,)) for byte in range(0x20, 0x7F)]


def vocabulary(*names, ends=(0,)):
    return Vocabulary([*([None] * len(names)), *LETTERS], ends, dict(enumerate(names)))


def codes(found):
    return [each.code for each in found.findings]


@pytest.fixture
def folder(tmp_path):
    """A model folder with a byte-level tokenizer; `<eos>` is 256, `<|im_end|>` 257."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({letter: index for index, letter in enumerate(alphabet)}, []))
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["<eos>", "<|im_end|>"])
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    return tmp_path


def write(folder, name, content):
    (folder / name).write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")


def test_a_sound_vocabulary_has_no_faults():
    assert codes(audit_tokenizer(vocabulary("<eos>"))) == [AuditCode.SPECIAL_HAS_SPELLING]
    assert codes(audit_tokenizer(Vocabulary([*LETTERS, None], [95]))) == []


@pytest.mark.parametrize("mark", ["▁", "Ġ"])
def test_a_table_in_the_tokenizers_own_spelling_is_found(mark):
    letters = [letter for letter in LETTERS if letter != b" "]
    found = audit_tokenizer(Vocabulary([*letters, f"{mark}a".encode(), f"b{mark}".encode(), None], [96]))
    raw = found.findings[0]
    assert raw.code is AuditCode.RAW_PIECES
    assert raw.ids == (94, 95)
    assert codes(found) == [AuditCode.RAW_PIECES, AuditCode.MISSING_BYTES]


def test_characters_without_a_token_are_counted():
    found = audit_tokenizer(Vocabulary([b"a b", b"c", None], [2]))
    assert codes(found) == [AuditCode.MISSING_BYTES]


@pytest.mark.parametrize(
    ("width", "expected"), [(96, []), (128, [AuditCode.LOGITS_WIDTH]), (90, [AuditCode.LOGITS_WIDTH])]
)
def test_the_width_of_the_logits_is_compared(width, expected):
    assert codes(audit_tokenizer(Vocabulary([*LETTERS, None], [95]), width=width)) == expected


def test_a_vocabulary_without_an_end_is_a_fault():
    assert codes(audit_tokenizer(Vocabulary(LETTERS, []))) == [AuditCode.NO_END]


def test_each_file_names_its_end_tokens(folder):
    write(folder, "tokenizer_config.json", {"eos_token": "<|im_end|>"})
    write(folder, "generation_config.json", {"eos_token_id": [256, 257]})
    write(folder, "config.json", {"eos_token_id": 256, "vocab_size": 300})
    write(folder, "chat_template.jinja", "{{ message }}<|im_end|>")
    found = audit_tokenizer(folder)
    assert [(each.file, each.ids) for each in found.ends] == [
        ("tokenizer_config.json", (257,)),
        ("generation_config.json", (256, 257)),
        ("config.json", (256,)),
        ("chat_template.jinja", (257,)),
    ]
    assert found.vocabulary.eos_ids == {256, 257}
    assert found.width == 300
    assert codes(found)[:2] == [AuditCode.LOGITS_WIDTH, AuditCode.ENDS_DIFFER]


def test_an_end_token_of_the_template_that_no_configuration_names_is_unknown(folder):
    write(folder, "config.json", {"eos_token_id": 256})
    write(folder, "tokenizer_config.json", {"eos_token": "<eos>", "chat_template": "{{ message }}<|im_end|>"})
    found = audit_tokenizer(folder)
    assert found.vocabulary.eos_ids == {256}
    unknown = found.findings[0]
    assert (unknown.code, unknown.ids) == (AuditCode.END_UNKNOWN, (257,))
    assert codes(found)[1] is AuditCode.ENDS_DIFFER


@pytest.mark.parametrize(
    ("name", "element"), [("<|im_start|>", "<|im_start|>"), ("<think>", "<think>"), ("[INST]", "<[0]>")]
)
def test_a_special_token_in_quotes_has_the_element_as_its_fix(name, element):
    grammar = compile_grammar("gbnf", f'root ::= "a" | "x{name}" [a-z]')
    found = audit_tokenizer(vocabulary(name), grammar=grammar)
    (finding,) = [each for each in found.findings if each.code is AuditCode.SPECIAL_AS_TEXT]
    assert f"`{element}`" in finding.fix
    assert grammar.source.excerpt(finding.span) == f"x{name}"
    compile_grammar("gbnf", f"root ::= {element}")


def test_a_special_token_in_a_regex_is_found_too():
    found = audit_tokenizer(vocabulary("<think>"), grammar=compile_grammar("regex", "<think>.*"))
    assert AuditCode.SPECIAL_AS_TEXT in codes(found)


def test_an_element_is_no_fault():
    found = audit_tokenizer(vocabulary("<think>"), grammar=compile_grammar("gbnf", 'root ::= <think> "a"'))
    assert AuditCode.SPECIAL_AS_TEXT not in codes(found)


def test_a_padded_vocabulary_of_a_model_is_compared_with_its_files(folder):
    write(folder, "config.json", {"eos_token_id": 256, "vocab_size": 300})
    padded = Vocabulary.from_tokenizer(folder, width=300)
    found = audit_tokenizer(padded, files=folder)
    assert found.width == 300
    assert AuditCode.LOGITS_WIDTH in codes(found)
    assert [each.place for each in found.ends] == ["config.json: eos_token_id"]
    assert AuditCode.LOGITS_WIDTH not in codes(audit_tokenizer(padded))
