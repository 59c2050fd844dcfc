"""Chat templates are hostile input: each is rendered as transformers renders it, or refused with a message."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from catalogue_texts import text_pattern
from tiny_models import TEMPLATE, save_tiny

from engine.models import ModelError, chat_template, chat_template_child, load_model
from engine.models.chat_template import ChatTemplateError, render
from engine.source import CancelledError, CancelToken

MESSAGES = [
    {"role": "system", "content": "Be brief.\n"},
    {"role": "user", "content": "  What is “ä”? <b>&</b> "},
    {"role": "assistant", "content": "A letter."},
    {"role": "user", "content": "Thanks"},
]
VARIABLES = {
    "messages": MESSAGES,
    "tools": None,
    "documents": None,
    "add_generation_prompt": True,
    "bos_token": "<s>",
    "eos_token": "</s>",
}
CHATML = (
    "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}"
    "{{ '<|im_start|>system\nYou are helpful<|im_end|>\n' }}{% endif %}"
    "{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
GOOD = {
    "chatml": CHATML,
    "llama 2": (
        "{% if messages[0]['role'] == 'system' %}{% set loop_messages = messages[1:] %}"
        "{% set system_message = messages[0]['content'] %}{% else %}{% set loop_messages = messages %}"
        "{% set system_message = false %}{% endif %}{% for message in loop_messages %}"
        "{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}"
        "{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}{% endif %}"
        "{% if loop.index0 == 0 and system_message != false %}"
        "{% set content = '<<SYS>>\n' + system_message + '\n<</SYS>>\n\n' + message['content'] %}"
        "{% else %}{% set content = message['content'] %}{% endif %}"
        "{% if message['role'] == 'user' %}{{ bos_token + '[INST] ' + content.strip() + ' [/INST]' }}"
        "{% elif message['role'] == 'assistant' %}{{ ' '  + content.strip() + ' ' + eos_token }}{% endif %}{% endfor %}"
    ),
    "namespace": (
        "{%- set ns = namespace(found=false, text='') -%}\n{% for m in messages %}\n  {% if not ns.found %}\n"
        "{% set ns.found = m.role == 'user' %}{% set ns.text = ns.text ~ m.content ~ loop.index %}\n"
        "{% endif %}{% endfor %}\n{{ ns.text }}"
    ),
    "macro": (
        "{% macro show(m, width=2) -%}{{ m.role|upper|center(12) }}:{{ m['content']|trim|indent(width) }}"
        "{%- endmacro %}\n{%- for m in messages[::-1] %}{{ show(m, width=4) }}{% endfor %}"
    ),
    "filters": (
        "{{ messages|map(attribute='role')|unique|sort|join(', ') }} {{ messages|tojson(indent=2) }}"
        "{{ messages|selectattr('role', 'equalto', 'user')|list|length }} {{ '%s-%05d' % ('a', 7) }}"
        "{{ '{:>8}|{x}'.format('b', x=1.5) }} {{ 7|round(2) }} {{ 'a,b'.split(',')|last }} {{ 2 ** 10 }} {{ 'ab' * 3 }}"
    ),
    "loop controls": "{% for i in range(9) %}{% if i == 5 %}{% break %}{% endif %}{{ i }}{{ loop.length }}{% endfor %}",
    "generation": "{% for m in messages %}{% generation %}{{ m.content }}{% endgeneration %}{% endfor %}",
    "filtered loop": "{% for m in messages if m.role == 'user' %}{{ loop.index }}{% else %}no{% endfor %}",
    "recursive loop": "{% for x in [1, [2, [3]]] recursive %}{{ loop(x) if x is iterable else x }}{% endfor %}",
    "iterator": "{% for r, c in messages|map('items')|map('list') %}{{ r }}{{ loop.last }}{% endfor %}",
    "none": "{{ tools }}{{ documents is none }}{{ unknown }}{{ dict(a=1) }}{% if tools %}x{% endif %}",
    "long sum": "{{ 1" + " + 1" * 100 + " }}",
}
FAILING: dict[str, tuple[str, int | None, str]] = {
    "division": ("a\n{{ 1/0 }}", 2, "fails in line 2: ZeroDivisionError: division by zero"),
    "undefined": ("a\n\n{{ a.b.c }}", 3, "fails in line 3: 'a' is undefined"),
    "refusal": ("{{ raise_exception('no {0}!') }}", 1, "refuses these messages (no {0}!); change their roles"),
    "syntax": ("a\nb {% if %}", 2, "is not valid in line 2: Expected an expression"),
    "unknown filter": ("{{ 1|nope }}", 1, "is not valid in line 1: No filter named 'nope'"),
    "include": ("{% include '/etc/passwd' %}", 1, "no loader"),
    "hidden attribute": ("{{ ''.__class__.__mro__ }}", 1, "is unsafe"),
    "hidden namespace attribute": ("{{ namespace(__class__=1) }}", 1, "cannot have an attribute"),
    "endless macro": ("{% macro f() %}{{ f() }}{% endmacro %}\n{{ f() }}", 1, "calls itself too often"),
    "endless recursive loop": ("{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}", 1, "calls itself too often"),
    "product": ("\n{{ 'a' * 10**11 }}", 2, "the result of * is longer than 4,000,000"),
    "list product": ("{{ [0] * 10**9 }}", 1, "the result of * is longer than 4,000,000"),
    "power": ("{{ 10**(10**8) }}", 1, "the result of ** has more than 100,000 bits"),
    "nested loops": (
        "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
        1,
        "500,000 steps",
    ),
    "loop that takes nothing": (
        "{% for i in range(99999) %}\n{% for j in range(99999) if false %}{% endfor %}{% endfor %}",
        2,
        "500,000 steps",
    ),
    "huge range": ("{% for i in range(10**9) %}{% endfor %}", 1, "more than 100,000 items"),
    "endless range": ("{% for i in range(10**30) %}{% endfor %}", 1, "more than 100,000 items"),
    "doubling by +": (
        "{% set n = namespace(s='a') %}{% for i in range(99) %}{% set n.s = n.s + n.s %}{% endfor %}",
        1,
        "longer than 4,000,000",
    ),
    "doubling by ~": (
        "{% set n = namespace(s='a') %}{% for i in range(99) %}{% set n.s = n.s ~ n.s %}{% endfor %}",
        1,
        "500,000 steps",
    ),
    "1 GB": ("{% for i in range(99999) %}{{ 'a' * 10000 }}{% endfor %}", None, "writes more than 50,"),
    "1 MB": ("a" * 1_000_000, None, "has 1,000,000 characters, and the limit is 200,000"),
    "many tokens": ("{{ a }}" * 20_000, None, "has more than 40,000 tokens"),
    "nested brackets": ("{{ " + "(" * 3000 + "1" + ")" * 3000 + " }}", None, "nested too deep"),
    "nested operators": ("{{ " + "not " * 5000 + "1 }}", None, "nested too deep"),
    "nested blocks": ("{% if 1 %}" * 150 + "{% endif %}" * 150, None, "nested too deep"),
    "center": ("{{ 'a'|center(10**10) }}", 1, "center has a width above the limit of 10,000"),
    "indent": ("{{ 'a\nb'|indent(10**9) }}", None, "indent has a width above"),
    "round": ("{{ 5|round(-1000000000) }}", 1, "round has a width above"),
    "zfill": ("{{ '1'.zfill(10**10) }}", 1, "zfill has a width above"),
    "to_bytes": ("{{ (1).to_bytes(10**10, 'big') }}", 1, "to_bytes has a width above"),
    "percent format": ("{{ '%1000000000d' % 1 }}", 1, "a format has a width of 10 digits"),
    "percent format of an argument": ("{{ '%*d' % (10**9, 1) }}", 1, "% has a width above"),
    "format": ("{{ '{:1000000000d}'.format(1) }}", 1, "a format has a width of 10 digits"),
    "replace": ("{{ ('a' * 100000).replace('a', 'b' * 100000) }}", 1, "the result of replace is longer"),
    "json": ("{{ [[1]]|tojson(indent=10**9) }}", 1, "tojson has a width above"),
    "expensive filters": (
        "{% for i in range(999) %}{% set x = range(9999)|list|sort %}{% endfor %}",
        1,
        "500,000 steps",
    ),
    "nested repr": (
        "{% set n = namespace(a=[]) %}{% for i in range(5000) %}{% set n.a = [n.a] %}{% endfor %}{{ n.a }}",
        1,
        "calls itself too often",
    ),
    "surrogate": ("{{ undefined_function() }}", 1, "'undefined_function' is undefined"),
}


@pytest.fixture(autouse=True, scope="module")
def ended() -> Iterator[None]:
    yield
    chat_template.end_child()


@pytest.mark.parametrize("name", GOOD)
def test_a_template_is_rendered_as_transformers_does(name: str) -> None:
    from transformers.utils.chat_template_utils import render_jinja_template

    expected, _ = render_jinja_template(
        [MESSAGES], chat_template=GOOD[name], add_generation_prompt=True, bos_token="<s>", eos_token="</s>"
    )
    assert render(GOOD[name], VARIABLES) == expected[0]


@pytest.mark.parametrize("name", FAILING)
def test_a_failing_template_is_a_message_with_its_line(name: str) -> None:
    template, line, message = FAILING[name]
    for _ in range(2):  # the second time it is compiled already
        with pytest.raises(ChatTemplateError) as caught:
            render(template, VARIABLES)
        assert message in str(caught.value)
        has_line = line is not None and caught.value.key != "errors.models.template.refused"
        assert not has_line or f" in line {line}: " in str(caught.value)
    assert render("{{ messages[0].role }}", VARIABLES) == "system"


MEMORY = text_pattern("errors.models.template.exceeded.memory", limit=512)
TIME = text_pattern("errors.models.template.time")


@pytest.mark.skipif("sys.platform == 'win32'", reason="Windows has no limit of memory for a process")
@pytest.mark.parametrize(
    "template",
    [
        "{{ '{:{w}}'.format(1, w=10**9) }}",
        "{{ ('a' * 4000000).join(['a'] * 4000) }}",
        "{{ ('ab' * 2000000).translate({97: 'b' * 4000000})|length }}",
    ],
)
def test_what_is_not_counted_meets_the_limit_of_memory(template: str) -> None:
    with pytest.raises(ChatTemplateError, match=f"{MEMORY}|{TIME}"):
        render(template, VARIABLES)
    assert render("a", VARIABLES) == "a"


def kill_child() -> None:
    """Kill the process that renders, and wait until it is dead, without taking its exit status."""
    (child,) = [each for each in psutil.Process().children() if "chat_template_child" in " ".join(each.cmdline())]
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)


def test_a_child_that_ends_is_replaced() -> None:
    assert render("a", VARIABLES) == "a"
    kill_child()  # a crash, which no known template causes
    assert render("b", VARIABLES) == "b"


def test_a_child_that_ends_within_a_render_is_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    assert render("a", VARIABLES) == "a"

    def end(*_: object) -> None:
        kill_child()
        raise BrokenPipeError

    with monkeypatch.context() as patched:
        patched.setattr(chat_template_child, "write_message", end)
        with pytest.raises(ChatTemplateError) as caught:
            render("b", VARIABLES)
    assert caught.value.key in ("errors.models.template.broken", "errors.models.template.broken_status")
    assert render("c", VARIABLES) == "c"


def test_a_render_is_cancelled() -> None:
    token = CancelToken()
    with token.scope():
        assert render("a", VARIABLES) == "a"
        token.cancel()
        # Its text has exponential length, so that it ends only when it is cancelled or out of processor time.
        endless = (
            "{% set n = namespace(a=[1]) %}{% for i in range(40) %}{% set n.a = [n.a, n.a] %}{% endfor %}{{ n.a }}"
        )
        with pytest.raises(CancelledError):
            render(endless, VARIABLES)
    assert render("b", VARIABLES) == "b"


def test_the_limits_hold_for_each_render_alone() -> None:
    many = "{% for i in range(90000) %}{% endfor %}" * 3
    for _ in range(5):
        assert render(many, VARIABLES) == ""


def test_a_template_that_is_no_text_is_a_message(tmp_path: Path) -> None:
    folder = save_tiny(tmp_path / "chat", special=True, template=TEMPLATE)
    (folder / "chat_template.jinja").unlink(missing_ok=True)
    file = folder / "tokenizer_config.json"
    for wrong in (5, {"a": "b"}, [1]):
        file.write_text(json.dumps({**json.loads(file.read_text()), "chat_template": wrong}))
        with pytest.raises(ModelError):
            load_model(str(folder)).encode_chat([("user", "abc")])


def test_long_messages_may_be_long() -> None:
    content = "a" * 300_000
    variables = {**VARIABLES, "messages": [{"role": "user", "content": content}]}
    assert content in render(CHATML, variables)
