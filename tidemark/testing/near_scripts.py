"""Says which script of a project a wrong name may mean."""

from difflib import get_close_matches
from pathlib import Path

from tidemark.local_state.deployment.project_files import python_files

MAX_NEAR = 4


def near_scripts(project: Path, script: str) -> str:
    """Return which scripts of a project a name may mean, or which there are in `glue_jobs`."""
    names = sorted(path.relative_to(project).as_posix() for path in python_files(project))
    by_end = {Path(name).name: name for name in names}
    near = [
        *get_close_matches(script, names, 3),
        *(by_end[end] for end in get_close_matches(Path(script).name, by_end, 3)),
        *(name for name in names if "/" in script and Path(name).parent == Path(script).parent),
    ]
    if near:
        return f"did you mean {' or '.join(list(dict.fromkeys(near))[:MAX_NEAR])}?"
    there = [name for name in names if name.startswith("glue_jobs/")]
    return f"scripts in {project / 'glue_jobs'}: {', '.join(there) or 'none'}"
