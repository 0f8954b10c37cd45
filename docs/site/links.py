"""Fails if a page of a built site has a link inside the site to a missing file or a missing anchor: links.py HTML

Pages of rustdoc and javadoc are checked only as targets. Links to other sites are not checked.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The link targets and the anchors of a page."""

    def __init__(self, text):
        super().__init__()
        self.targets, self.anchors = set(), set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("href", "src") and value:
                self.targets.add(value)
            elif name == "id" or (name == "name" and tag == "a"):
                self.anchors.add(value)


def broken(path, target, html, pages):
    """Returns the defect of a link target, or None."""
    parts = urlsplit(target)
    if parts.scheme or parts.netloc:
        return None
    file = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if file.is_dir():
        file /= "index.html"
    if not file.is_file() or html not in file.parents:
        return "there is no such file"
    if parts.fragment and file in pages and unquote(parts.fragment) not in pages[file].anchors:
        return "that page has no such anchor"
    return None


def report(html):
    html = html.resolve()
    own = [path for path in html.rglob("*.html") if not {"rust", "java"} & set(path.relative_to(html).parts)]
    pages = {path: Page(path.read_text()) for path in own}
    wrong = [
        f"{path.relative_to(html)}: {target}: {problem}"
        for path in own
        for target in sorted(pages[path].targets)
        if (problem := broken(path, target, html, pages))
    ]
    print("\n".join(wrong or [f"{len(own)} pages, {sum(len(page.targets) for page in pages.values())} links"]))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(report(Path(sys.argv[1])))
