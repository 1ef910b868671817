"""The group of commands: an option that no command has is refused with the one that was meant."""

from typing import Any

import typer
from typer.core import TyperGroup

from synthrisk.flows.cli.ends import UsageError
from synthrisk.metrics.errors import nearest


class Commands(TyperGroup):
    """Commands that know which of their options people mean who bring its name from another tool."""

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]  # its own type of a context is private
        """Run the command that is named.

        Raises:
            UsageError: It has no such option, but another tool calls one of its options so, or the name is mistyped.
        """
        try:
            return super().invoke(ctx)
        except Exception as error:  # what Typer raises of a wrong option has no public name
            name, asked = getattr(error, "option_name", None), getattr(error, "ctx", None)
            if name is None or asked is None or not name.startswith("--"):
                raise
            hint = nearest(name, [option for each in asked.command.params for option in each.opts])
            if not hint:
                raise
            raise UsageError(f"{asked.info_name} takes no option {name}{hint}") from None
