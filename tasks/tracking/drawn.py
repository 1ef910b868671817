"""The pages of a study that is being logged: drawn beside it, and waited for when nothing else is left to write."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

from synthrisk.metrics.errors import InputError
from synthrisk.tasks.tracking.logged import Pages
from synthrisk.tasks.tracking.waiting import Waiting, keep_waiting
from synthrisk.tasks.workspace.failure import DiskError, RunError, told_safely
from synthrisk.tasks.workspace.store import private_folder


@dataclass(frozen=True, eq=False)
class Drawn:
    """A study on its way to its store, with pages that may still be drawn."""

    waiting: Waiting
    draw: Callable[[], Pages]  # waits for them, where they are not there yet

    @cached_property
    def pages(self) -> Pages:
        """Report and pages of exposure, waited for once; the study waits with them from then on.

        Where drawing fails they say why: the numbers stand without them.

        Raises:
            DiskError: A disk takes no more.
        """
        if self.waiting.pages is not None:
            return self.waiting.pages
        try:
            return told_safely(private_folder(self.waiting.workspace), "pages", self._drawn_and_kept)
        except DiskError:
            raise
        except (InputError, RunError) as error:
            return Pages("", {}, str(error))

    def _drawn_and_kept(self) -> Pages:
        pages = self.draw()
        keep_waiting(replace(self.waiting, pages=pages))
        return pages
