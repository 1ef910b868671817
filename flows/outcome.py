"""What a study ends in, and the word and state that sum it up."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from synthrisk.conf.secrets import mask
from synthrisk.metrics.verdicts.results import StudyResult, overview
from synthrisk.metrics.verdicts.verdicts import worst
from synthrisk.tasks.tracking.addresses import Logged
from synthrisk.tasks.workspace.failures import RunError

_ENDS: dict[Any, Any] = {}  # of flow runs that are about to end: what they end in, or the error of a gate
_TOLD = 12  # synthesizers that the message of a state names; the artifact names all


@dataclass(frozen=True)
class Outcome:
    """What a study ends in: numbers, where they are tracked, and where its pages are."""

    result: StudyResult
    logged: Logged
    source: str = ""  # address of the real table, without secrets
    releases: Mapping[str, Sequence[str]] = field(default_factory=dict)  # their addresses, by synthesizer

    @property
    def as_logged(self) -> StudyResult:
        """The numbers under the id that MLflow knows them by: of the same study again, that of the earlier one."""
        return replace(self.result, study_id=self.logged.study_id)

    @property
    def report(self) -> str:
        """Path of the report; empty where it could not be written."""
        return self.logged.pages.report

    @property
    def workspace(self) -> Path:
        """The folder in which all that the study has made is kept."""
        return Path(self.logged.workspace)


class GateError(RunError):
    """A study that a gate stops: its limits are not shown to be kept; ``outcome`` is what it ended in."""

    def __init__(self, text: str, outcome: Outcome) -> None:
        super().__init__(text)
        self.outcome = outcome

    def __reduce__(self) -> tuple[type["GateError"], tuple[str, Outcome]]:
        """Say how the error is made again in another process."""
        return GateError, (str(self), self.outcome)


def concluded(outcome: Outcome, *, gate: bool = False) -> Any:
    """Return a final state that the Prefect UI shows by its verdict; calling the flow gives the outcome.

    The state bears the word of the study, its message a sentence on each synthesizer. It is a completed one, for the
    study has run; with ``gate`` it is a failed one, red, where the command would not end with exit code 0: limits are
    crossed or not shown to be kept, or the study is INVALID. Calling the flow then raises a ``GateError``.
    """
    from prefect.context import FlowRunContext
    from prefect.states import Completed, Failed

    result, message = outcome.result, mask(in_sentences(outcome.result))
    stops = gate and result.exit_code != 0
    end = GateError(message, outcome) if stops else outcome
    if (context := FlowRunContext.get()) is not None and context.flow_run is not None:
        _ENDS[context.flow_run.id] = end
    return (Failed if stops else Completed)(name=word_of(result), message=message, data=end)


def keep_outcome(_flow: Any, run: Any, state: Any) -> None:
    """Put back what a study ends in, as a hook of its flow, where the final state has lost it.

    A server under load is told of that state twice, and its second answer does not hold what the flow has returned.
    """
    end = _ENDS.pop(run.id, None)
    if state.data is None:
        state.data = end


keeps_end: Any = {"on_completion": [keep_outcome], "on_failure": [keep_outcome]}
"""Options of a flow that returns what ``concluded`` does."""


def in_sentences(result: StudyResult) -> str:
    """Return the answer of a study: a sentence on each synthesizer, with its word, those that may go out last.

    An invalid study says why in one sentence for all that did not fail.
    """
    every = overview(result).synthesizers
    own = sorted((e for e in every if result.valid or e.word == "FAILED"), key=lambda each: each.word == "NO EVIDENCE")
    told = [] if result.valid else [f"The study is INVALID, so no verdict may be read: {result.invalid}."]
    told += [f"{each.word or 'NOT JUDGED'}: {each.statement}" for each in own[:_TOLD]]
    told += [f"The artifact of this run names {len(own) - _TOLD} more."] if len(own) > _TOLD else []
    return " ".join(told)


def word_of(result: StudyResult) -> str:
    """Return the word that a study is summed up by: the worst of its synthesizers', ``NOT JUDGED`` without limits."""
    if not result.valid:
        return "INVALID"
    return worst([result.verdict(each.synthesizer) for each in overview(result).synthesizers]) or "NOT JUDGED"
