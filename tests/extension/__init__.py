"""Extensions: each folder adds one object to Turnstile and drives it through window or command line.

| folder | adds | driven by |
|---|---|---|
| `notation` | a notation of grammars | command line, and a window that opens its file |
| `target` | an export target | `turnstile export` |
| `source` | a logit source | `turnstile generate --model SPEC` |
| `processor` | a logits processor with its texts | the dialog, a document, a step, `turnstile generate` |
| `strategy` | a strategy for forced runs | command line, a document, the dialog, a window that steps |
| `peer` | another engine | `turnstile bench` |
| `command` | a command | menu, keys and palette of a window |
| `pane` | a pane | menu, keys and palette of a window |

A folder is what a distribution of others installs: modules in the namespace package `turnstile_extensions`, which
`engine.source.registry` finds on the import path.
"""
