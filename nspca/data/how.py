"""How somebody wants a file to be read: what is not said is found out."""

from dataclasses import dataclass


@dataclass(frozen=True)
class How:
    """The choices of `nspca.data.read`, which describes them."""

    header: str | bool = "auto"
    delimiter: str | None = None
    id_column: str | int | None = None
    label_column: str | int | None = None
    features_in_rows: bool = False
    missing: str = "refuse"
