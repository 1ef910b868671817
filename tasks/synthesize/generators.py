"""Who makes the releases of a study: those that are judged, and reference generators, found by what they declare."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from synthrisk.conf import Study
from synthrisk.metrics.errors import InputError
from synthrisk.tasks.synthesize import Synthesizer, check_options, find_synthesizer
from synthrisk.tasks.workspace.references import Generator


def generators(study: Study) -> list[Generator]:
    """Return the synthesizers of a study, its reference generators, and a ``leaky`` for each share of ``power``.

    A share that one of the reference generators leaks already is not run twice.

    Raises:
        InputError: An option is wrong or an extra absent; a reference generator declares no answer; a name is used
            twice.
    """
    found = [generator(each.name, each.kind, each.options) for each in study.synthesizers]
    found += [reference(each.name, each.kind, each.options) for each in study.references]
    run = {each.leaked for each in found}
    found += [_leaky(share) for share in (study.power.shares if study.power else []) if share not in run]
    names = [each.name for each in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"synthesizers and references must have distinct names, got {twice!r} twice")
    return found


def generator(name: str, kind: str, options: Mapping[str, Any]) -> Generator:
    """Return a generator that is judged.

    Raises:
        InputError: There is no such kind, it does not take these options, or needs an extra that is not installed.
    """
    own = find_synthesizer(kind)
    check_options(own, options)
    return Generator(name, kind, dict(options), folder=str(Path.cwd()), epsilon=_promised(own, options))


def reference(name: str, kind: str, options: Mapping[str, Any]) -> Generator:
    """Return a reference generator, with what its kind declares of its releases.

    Raises:
        InputError: As for ``generator``, or the kind declares no ``answer``.
    """
    own = find_synthesizer(kind)
    if own.answer is None:
        raise InputError(f"references must be generators that declare an answer, got {kind!r}, which declares none")
    check_options(own, options)
    leaked = own.leaked(**options) if own.leaked else {"ideal": 0.0}.get(own.answer)
    promised = _promised(own, options)
    return Generator(name, kind, dict(options), "reference", own.answer, leaked, str(Path.cwd()), promised)


def _promised(own: Synthesizer, options: Mapping[str, Any]) -> float | None:
    return own.epsilon(**options) if own.epsilon else None


def _leaky(share: float) -> Generator:
    percent = f"{100 * share:.6g}".replace(".", "_")
    return reference(f"leaky-{percent}pct", "leaky", {"share": share})
