"""A Prefect block that says where results go: the entry point of Prefect's collections, so importing it costs little.

The address may hold a password: Prefect keeps it encrypted, and a study names the block alone.
"""

from typing import Literal

from prefect.blocks.core import Block
from pydantic import Field, SecretStr


class SynthriskTracking(Block):
    """Where studies are tracked in MLflow, with a password that no study, parameter or page shows.

    Example:
        >>> block = SynthriskTracking(uri="postgresql+psycopg://writer:secret@host/mlflow", records="none")
        >>> block.uri
        SecretStr('**********')
    """

    _block_type_name = "Synthrisk Tracking"
    _block_type_slug = "synthrisk-tracking"
    _description = "Where disclosure-risk studies are tracked: an MLflow address with its password, and what may go."

    uri: SecretStr = Field(title="Tracking URI", description="MLflow tracking URI, which may hold a password.")
    workspace: str | None = Field(
        default=None, description="Folder of data, releases and ledgers, in place of the study's."
    )
    records: Literal["none", "hashed", "full"] = Field(
        default="hashed", description="The most that may be tracked of single records; a study may ask for less."
    )
