"""The address of a store as it is used, with its password: of a block, or with its variables filled in."""

from typing import TYPE_CHECKING, cast

from synthrisk.conf import Study, resolve
from synthrisk.conf.study import Tracking
from synthrisk.metrics.errors import InputError

if TYPE_CHECKING:
    from synthrisk.tasks.tracking_block import SynthriskTracking

_RECORDS = ("none", "hashed", "full")  # each tracks more than the one before


def uri_of(tracking: Tracking) -> str | None:
    """Return the address that a study names, itself or through a block; None where it names none.

    Raises:
        InputError: There is no such block, or a variable is not set.
    """
    if tracking.block:
        return resolve(_block(tracking.block).uri.get_secret_value())
    return resolve(tracking.uri) if tracking.uri else None


def with_block(study: Study) -> Study:
    """Return a study with the workspace of its block, if that has one, and with no more of records than it allows.

    Raises:
        InputError: There is no such block.
    """
    if not study.tracking.block:
        return study
    workspace = _block(study.tracking.block).workspace or study.workspace
    return study.model_copy(update={"tracking": allowed(study.tracking), "workspace": workspace})


def allowed(tracking: Tracking) -> Tracking:
    """Return where results go with no more of single records than the block allows.

    Raises:
        InputError: There is no such block.
    """
    if not tracking.block:
        return tracking
    records = min(tracking.records, _block(tracking.block).records, key=_RECORDS.index)
    return tracking.model_copy(update={"records": records})


def _block(name: str) -> "SynthriskTracking":
    from synthrisk.tasks.tracking_block import SynthriskTracking

    try:
        found = SynthriskTracking.load(name, _sync=True)  # type: ignore[call-arg]  # Prefect adds it to both kinds
    except ValueError:
        raise InputError(
            f"tracking.block must name a block of Prefect of the type SynthriskTracking, got {name!r}, which is none"
        ) from None
    return cast("SynthriskTracking", found)
