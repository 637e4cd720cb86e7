"""Makes ``python -m demo`` tell the story."""

import sys

from demo.story import main

if __name__ == "__main__":
    sys.exit(main())
