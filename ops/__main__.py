"""Makes ``python -m ops`` the same as ``tidemark``."""

from ops.cli import main

if __name__ == "__main__":
    main()
