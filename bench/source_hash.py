#!/usr/bin/env python3
"""Hashes of stages' sources, by which a recorded time is known to be that of today's code.

A stage's hash covers its .cu file and every header of the repository that it includes, directly or
not, without comments and white space, and without the emulator, which a GPU does not see.

    source_hash.py             prints "conv2d/direct 0123456789abcdef" for every stage
    source_hash.py --include F writes the same as C++ initializers to F
"""

import hashlib
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
NOT_SEEN_BY_GPUS = "gpu/simt/"


def stages():
    """[(primitive, stage), ...] of all lists, in their order."""
    found = []
    for path in sorted(ROOT.glob("gpu/*/stages.def")):
        names = re.findall(r"^SEVENLOOPS_STAGE\((\w+)\)", path.read_text(), re.MULTILINE)
        found += [(path.parent.name, name) for name in names]
    return found


def code_of(text):
    """The text without comments and white space."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)
    return re.sub(r"\s+", "", text)


def files_of(primitive, stage):
    """The stage's file and all headers it reaches, as sorted paths from the root."""
    seen, ahead = set(), [f"gpu/{primitive}/{stage}.cu"]
    while ahead:
        path = ahead.pop()
        if path in seen or path.startswith(NOT_SEEN_BY_GPUS) or not (ROOT / path).is_file():
            continue
        seen.add(path)
        ahead += re.findall(r'^\s*#\s*include\s+"([^"]+)"', (ROOT / path).read_text(), re.MULTILINE)
    return sorted(seen)


def hash_of(primitive, stage):
    """16 hexadecimal digits."""
    digest = hashlib.sha256()
    for path in files_of(primitive, stage):
        digest.update(f"{path}\0{code_of((ROOT / path).read_text())}\0".encode())
    return digest.hexdigest()[:16]


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--include":
        lines = [f'{{"{p}/{s}", "{hash_of(p, s)}"}},\n' for p, s in stages()]
        pathlib.Path(sys.argv[2]).write_text("".join(lines))
    elif len(sys.argv) == 1:
        for p, s in stages():
            print(f"{p}/{s} {hash_of(p, s)}")
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
