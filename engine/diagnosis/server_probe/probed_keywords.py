"""The probes of keywords (`engine.peers.keyword_probes`) on a server, by its mask and not by samples."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from engine.diagnosis.server_probe.asking import RefusedSchemaError, asking_of
from engine.peers.keyword_probes import KeywordProbe, instances_of, judged_row, refused_row
from engine.servers import KINDS, ServerClient, ServerError, identify
from engine.servers.grammar_form import GrammarForm
from engine.source import CancelToken
from engine.targets import ProbedKeyword


def probe_server_keywords(
    client: ServerClient, probes: Sequence[KeywordProbe], *, cancel: CancelToken | None = None, today: str = ""
) -> tuple[str, tuple[ProbedKeyword, ...]]:
    """Return the name of a server's data (`engine.targets.ENGINES`), and what it does with each probe.

    Args:
        client: the server.
        probes: the schemas.
        cancel: cancels the work, and receives the progress.
        today: the date of the rows; by default that of the clock.

    Raises:
        ServerError: the server cannot be asked, or its mask decides no texts.
        CancelledError: `cancel` was used.
    """
    cancel = cancel or CancelToken()
    with client.cancelled_by(cancel):
        identity = identify(client)
        asking = asking_of(identity.kind)
        make_judge = asking.text_judges.get(GrammarForm.JSON_SCHEMA)
        judge = None if make_judge is None else make_judge(client, identity.model)
        if judge is None or not judge.is_available:
            raise ServerError("errors.diagnosis.no_text_judge", title=KINDS[identity.kind].title)
        day = today or date.today().isoformat()  # noqa: DTZ011 - the user's day
        rows = []
        for number, probe in enumerate(probes):
            cancel.check()
            cancel.report("progress.trying_keywords", number, len(probes))
            try:
                accepted = [text for text in instances_of(probe) if judge.allows(probe.schema, text)]
                rows.append(judged_row(probe, accepted, identity.version, day))
            except RefusedSchemaError as error:
                rows.append(refused_row(probe, str(error.fields["message"]), identity.version, day))
    return asking.target, tuple(rows)
