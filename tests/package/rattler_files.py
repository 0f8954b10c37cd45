"""Installs conda packages from files, and removes all other packages of the prefix: rattler_files.py PREFIX [FILE...]

Like `conda install FILE...`, it does not install the requirements. It leaves no unpacked packages in the cache of the
user.
"""

import asyncio
import sys
import tempfile

import rattler


async def main(prefix, *files):
    records = [await rattler.RepoDataRecord.from_package_archive(file) for file in files]
    with tempfile.TemporaryDirectory() as cache:
        await rattler.install(records, prefix, cache_dir=cache, show_progress=False)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
