"""Writes a folder as a zip archive: archive.py FOLDER OUT

Each entry has the time of SOURCE_DATE_EPOCH, so that the archive is reproducible.
"""

import os
import sys
import time
import zipfile
from pathlib import Path


def main(folder, out):
    moment = time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))[:6]
    with zipfile.ZipFile(out / f"{folder.name}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            entry = zipfile.ZipInfo(str(path.relative_to(folder.parent)), moment)
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, path.read_bytes())


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
