"""The options of reading a file. Options that are not given are detected from the file.

`read` makes one `ReadOptions` from its arguments, and passes it to the reader of the format.
"""

from dataclasses import dataclass

from nspca.errors import InvalidData, shown


@dataclass(frozen=True)
class ReadOptions:
    """The options of `nspca.data.read`, whose docstring describes each."""

    header: str | bool = "auto"
    delimiter: str | None = None
    id_column: str | int | None = None
    label_column: str | int | None = None
    features_in_rows: bool = False
    missing: str = "refuse"
    decimal: str | None = None
    image_size: int | None = None

    def __post_init__(self) -> None:
        """Refuse values of wrong types, so that no value is silently taken as True or False."""
        if not isinstance(self.header, bool) and not (isinstance(self.header, str) and self.header == "auto"):
            raise InvalidData(f'The header must be "auto", True or False, got {shown(self.header)}.')
        if not isinstance(self.delimiter, str | None):
            raise InvalidData(f"The delimiter must be one character, got {shown(self.delimiter)}.")
        if self.decimal is not None and not (isinstance(self.decimal, str) and self.decimal in (",", ".")):
            raise InvalidData(f'The decimal sign must be "," or ".", got {shown(self.decimal)}.')
        if not isinstance(self.features_in_rows, bool):
            got = shown(self.features_in_rows)
            raise InvalidData(f"Whether features are in rows must be True or False, got {got}.")
