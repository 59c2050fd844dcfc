"""Texts that language models write where a grammar was asked for and none was in force.

No text contains a brace, bracket, parenthesis or digit, so that no grammar of these cases matches a part of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any, Final

FIRST_POOL: Final = (
    "Sure! Here is what I found: the request is mostly about delivery times, and the tone is friendly.",
    "Hello! How can I help you today?",
    "I'm sorry, but I can't help with that request.",
    "I apologize for the confusion. Could you please provide more details about what you need?",
    "As an AI language model, I do not have access to live data.",
    "Okay, let me think about this step by step. First, the user wants a short answer. Then",
    "**Answer:** The customer is satisfied.\n\n**Reason:** The text praises the service.",
    "- The first point is the price.\n- The second point is the quality.\n- The last point is the delivery.",
    "Gerne! Hier ist die gewünschte Zusammenfassung: Die Lieferung kam zu spät, der Service war freundlich.",
    "Bien sûr ! Voici la réponse : le client est satisfait du produit.",
    "当然可以！这位顾客对产品总体满意，但认为物流太慢。",
    "申し訳ありませんが、そのご要望にはお応えできません。",
    "Конечно! Клиент доволен товаром, но недоволен доставкой.",
    "<think>\nThe user asks for a record. I will keep it brief.\n</think>\nThe record is complete.",
    "N/A",
    "# Summary\n\nThe text describes a visit to the city and a long dinner.",
    "Unfortunately, the document does not say anything about this.",
    "Answer: the second option, because the others contradict the text.",
)
SECOND_POOL: Final = (
    "Certainly! The result is given below in plain words.",
    "Hi there, thanks for reaching out.",
    "I cannot assist with this, since the input seems to be empty.",
    "Well, that depends on what you mean by complete.",
    "Let's break this down.\n\n* Identify the item.\n* Find its price.\n* Compare both.",
    "Sorry, something went wrong while I read the page.",
    "¡Claro! El cliente pide un reembolso y parece molesto.",
    "Natürlich. Der Text handelt von einer Reise in den Norden.",
    "알겠습니다. 고객은 제품에 만족합니다.",
    "بالتأكيد، العميل راضٍ عن الخدمة.",
    "The function returns the larger value; no other output is needed.",
    "> Quote: the meeting is moved to Thursday.\n\nThat is all that the mail says.",
    "Final Answer: not enough information.",
    "None",
)


def prose(pool: tuple[str, ...], value: Any, rng: Random) -> str:
    """Return a text of a pool, or for an object with scalar properties sometimes a list, table or XML of them.

    Args:
        pool: `FIRST_POOL` or `SECOND_POOL`.
        value: the right output as a JSON value; None if it is not JSON.
        rng: the source of all choices.
    """
    scalars = _plain_scalars(value) if isinstance(value, dict) else {}
    if len(scalars) < 2 or rng.random() < 0.6:
        return rng.choice(pool)
    return rng.choice((_bullets, _markdown_table, _xml, _yaml))(scalars)


def _plain_scalars(value: Mapping[str, Any]) -> dict[str, str]:
    """Return the properties with a string of one line or a number."""
    texts = {name: str(item) for name, item in value.items() if isinstance(item, str | int | float)}
    return {name: text for name, text in texts.items() if not set(text) & set('\n{}[]"')}


def _bullets(scalars: Mapping[str, str]) -> str:
    lines = (f"- **{name.replace('_', ' ').capitalize()}**: {text}" for name, text in scalars.items())
    return "Here are the details:\n\n" + "\n".join(lines)


def _markdown_table(scalars: Mapping[str, str]) -> str:
    return "| Field | Value |\n| --- | --- |\n" + "\n".join(f"| {name} | {text} |" for name, text in scalars.items())


def _xml(scalars: Mapping[str, str]) -> str:
    return "<result>\n" + "\n".join(f"  <{name}>{text}</{name}>" for name, text in scalars.items()) + "\n</result>"


def _yaml(scalars: Mapping[str, str]) -> str:
    return "\n".join(f"{name}: {text}" for name, text in scalars.items()) + "\n"
