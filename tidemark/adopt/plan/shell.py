"""Names of others as words of a shell's command."""

import shlex


def in_shell(name: str) -> str:
    r"""Return a name as one word of bash, in which a terminal sees no control character.

    Example:
        >>> print(in_shell("daily orders"), in_shell("a\x1b[2J'"))
        'daily orders' $'a\U0000001b[2J\U00000027'
    """
    if name.isprintable():
        return shlex.quote(name)
    kept = (
        letter if letter.isprintable() and letter not in "\\'" else f"\\U{ord(letter):08x}"
        for letter in name
    )
    return f"$'{''.join(kept)}'"
