"""A study's findings with moderated intervals: each kind of quantity is pooled over its measures and generators.

Kinds are risk, the risk of control records, memorization, and gain and difference of each yardstick; each group of
vulnerable records has kinds of its own, and so has the yardstick that is attacked as a generator is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from synthrisk.metrics.intervals.moderated import moderate
from synthrisk.metrics.intervals.yardsticks import Yardstick
from synthrisk.metrics.study.findings import Finding, gained

_BESIDE = ("gain", "difference")


def moderated_findings(found: Sequence[Finding], confidence: float) -> list[Finding]:
    """Return a study's findings with moderated intervals (``moderated.moderate``), those of groups included.

    Reference generators count as other generators do. The gain over the guess follows from the risk. ``found`` are all
    findings of one role, ``yardstick`` or not, with crossed intervals.
    """
    done = _with_quantities(found, confidence)
    for name in dict.fromkeys(group for f in found for group in f.groups):
        places = [place for place, f in enumerate(found) if name in f.groups]
        apart = _with_quantities([found[place].groups[name] for place in places], confidence)
        for place, group in zip(places, apart, strict=True):
            done[place] = replace(done[place], groups={**done[place].groups, name: group})
    return done


def with_moderated_beside(found: Sequence[Finding], confidence: float) -> list[Finding]:
    """Return findings whose further intervals have the moderated one beside the crossed one, where that was made."""
    done = list(found)
    for quantity in ("risk", "memorization"):
        places = [place for place, f in enumerate(found) if "crossed" in f.intervals.get(quantity, {})]
        made = moderate([found[place].intervals[quantity]["crossed"] for place in places], confidence)
        for place, each in zip(places, made, strict=True):
            if each.method == "moderated":
                own = done[place].intervals
                done[place] = replace(done[place], intervals={**own, quantity: {**own[quantity], "moderated": each}})
    return done


def moderated_yardsticks(found: Sequence[Mapping[str, Yardstick]], confidence: float) -> list[dict[str, Yardstick]]:
    """Return the yardsticks of each finding with moderated intervals of gain and difference.

    What follows from another estimate (beside the guess; a difference that is memorization) is left as it is.
    """
    done = [dict(each) for each in found]
    for name in dict.fromkeys(name for each in found for name in each):
        own = [each for each in done if name in each]
        for part in _BESIDE:
            for each, made in zip(own, moderate([getattr(e[name], part) for e in own], confidence), strict=True):
                each[name] = replace(each[name], **{part: made})
    return done


def _with_quantities(found: Sequence[Finding], confidence: float) -> list[Finding]:
    risks = moderate([f.risk for f in found], confidence)
    controls = moderate([f.risk_control for f in found], confidence)
    memorization = moderate([f.memorization for f in found], confidence)
    return [
        replace(f, risk=r, risk_control=c, memorization=m, risk_gain=gained(r, f.guess))
        for f, r, c, m in zip(found, risks, controls, memorization, strict=True)
    ]
