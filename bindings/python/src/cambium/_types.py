"""Types of arguments, for type checkers alone."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Union

if TYPE_CHECKING:
    from typing_extensions import Buffer as Buffer
    from typing_extensions import TypeAlias

    Path: TypeAlias = Union[str, bytes, os.PathLike[str], os.PathLike[bytes]]
