"""A ZIP or a folder with one table: `containers.choose_table` finds it among the files."""

from nspca.data.formats.base import Format

FORMAT = Format("a ZIP or folder", lambda source: source.files is not None)
