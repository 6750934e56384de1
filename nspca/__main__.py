"""``python -m nspca`` and the script ``nspca``: see `nspca.cli`."""

import sys

from nspca.cli.entry import main

if __name__ == "__main__":
    sys.exit(main())
