"""The pages of a study that is being logged: drawn beside it, and waited for when all its numbers are written."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from synthrisk.metrics.errors import InputError
from synthrisk.tasks.tracking.logged import Pages
from synthrisk.tasks.tracking.waiting import Waiting
from synthrisk.tasks.workspace.failure import DiskError, RunError, told_safely
from synthrisk.tasks.workspace.store import private_folder


@dataclass(frozen=True, eq=False)
class Drawn:
    """A study on its way to its store, with pages that may still be drawn."""

    waiting: Waiting
    draw: Callable[[], Pages]  # waits for them, where they are not there yet

    @cached_property
    def pages(self) -> Pages:
        """Report and pages of exposure, waited for once; where drawing fails they say why: the numbers stand without.

        Raises:
            DiskError: A disk takes no more.
        """
        if self.waiting.pages is not None:
            return self.waiting.pages
        try:
            return told_safely(private_folder(self.waiting.workspace), "pages", self._checked)
        except DiskError:
            raise
        except (InputError, RunError) as error:
            return Pages("", {}, str(error))

    def _checked(self) -> Pages:
        pages = self.draw()
        if not isinstance(pages, Pages):
            raise InputError(f"pages must be a function that returns Pages, got {type(pages).__name__} of it")
        return pages
