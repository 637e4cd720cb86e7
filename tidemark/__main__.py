"""Makes ``python -m tidemark`` the same as ``tidemark``."""

from tidemark.cli.main import main

if __name__ == "__main__":
    main()
