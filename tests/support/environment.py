"""The environment that tests and their worker processes run in: no screen, a home of their own, no network, our fonts.

Pictures and widths of texts depend on the fonts of the machine, on its settings for
hinting and on its language. Tests get the eight fonts of DejaVu that matplotlib carries,
one configuration of fontconfig, and `C.UTF-8`. Rejected: `QFontDatabase.addApplicationFont`, which
adds to the fonts of the machine and so leaves the choice of a font for a sign to them.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
from pathlib import Path

HOMES = {
    "HOME": "",
    "XDG_CACHE_HOME": "cache",
    "XDG_CONFIG_HOME": "config",
    "XDG_DATA_HOME": "data",
    "XDG_RUNTIME_DIR": "runtime",
    "XDG_STATE_HOME": "state",
}
SETTINGS = {
    "QT_QPA_PLATFORM": "offscreen",
    "QT_SCALE_FACTOR": "1",
    "QT_FONT_DPI": "96",
    "QT_STYLE_OVERRIDE": "Fusion",
    "LC_ALL": "C.UTF-8",
    "HF_HUB_OFFLINE": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "PYTHONDONTWRITEBYTECODE": "",  # hundreds of processes import the same modules: none compiles what another has
}
FONTS = {
    "DejaVuSans.ttf": "3fdf69cabf06049ea70a00b5919340e2ce1e6d02b0cc3c4b44fb6801bd1e0d22",
    "DejaVuSans-Bold.ttf": "b184b89e3c1075f22f6b71575b6fc20d4972b3cfd3b23322ca6fd596dcaef167",
    "DejaVuSans-Oblique.ttf": "ccdf74b350f11fd3dd5774de50e5e6346a1a5da1f5b7d5fb83590665e97a5213",
    "DejaVuSans-BoldOblique.ttf": "6edf0283160186af451cbee71e7b845f2e4cabf264bb992ce668c83c25465e6f",
    "DejaVuSansMono.ttf": "602ec86b8948cfcd956482fe64f94c36c867770149ef2f791d4613f443bcecb3",
    "DejaVuSansMono-Bold.ttf": "baada9a5172fe20886251aff0433fc38461912d5daf07287e7bee56620a8da96",
    "DejaVuSansMono-Oblique.ttf": "28052813f7a709fc89f52d192dc995ef4f0fdc5c3d7b73a49d6849b1916d0cd0",
    "DejaVuSansMono-BoldOblique.ttf": "a69081c15c76c827e0a27a5a7f5c74b6135c843499955495ffa8c20d3a98288b",
}
"""The fonts of the tests, with their SHA-256: other releases may draw other pictures."""

_FONTCONFIG = """\
<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>{fonts}</dir>
  <cachedir>{cache}</cachedir>
  <alias binding="same"><family>monospace</family><prefer><family>DejaVu Sans Mono</family></prefer></alias>
  <match target="pattern"><edit name="family" mode="append_last"><string>DejaVu Sans</string></edit></match>
  <match target="font">
    <edit name="antialias" mode="assign"><bool>true</bool></edit>
    <edit name="hinting" mode="assign"><bool>true</bool></edit>
    <edit name="autohint" mode="assign"><bool>false</bool></edit>
    <edit name="hintstyle" mode="assign"><const>hintslight</const></edit>
    <edit name="rgba" mode="assign"><const>none</const></edit>
    <edit name="lcdfilter" mode="assign"><const>lcdnone</const></edit>
  </match>
</fontconfig>
"""


def set_environment(home: Path) -> None:
    """Give this process and those that it starts the environment of the tests, with `home` as an empty home.

    It must be called before the application starts: fontconfig reads its configuration once.
    """
    for name, folder in HOMES.items():
        path = home / folder
        path.mkdir(mode=0o700, exist_ok=True)
        os.environ[name] = str(path)
    os.environ.update(SETTINGS)
    os.environ["FONTCONFIG_FILE"] = str(_font_configuration(home))


def _font_configuration(home: Path) -> Path:
    """Write a configuration of fontconfig with the fonts of the tests alone.

    Raises:
        RuntimeError: matplotlib has none of these fonts, or other releases of them.
    """
    package = importlib.util.find_spec("matplotlib")  # which is not imported
    if package is None or package.origin is None:
        raise RuntimeError(
            "The tests need the fonts of matplotlib: pip install -c packaging/constraints.txt matplotlib"
        )
    folder = home / "fonts"
    folder.mkdir()
    for name, digest in FONTS.items():
        font = Path(package.origin).parent / "mpl-data" / "fonts" / "ttf" / name
        if hashlib.sha256(font.read_bytes()).hexdigest() != digest:
            raise RuntimeError(f"{font} is not the font that the pictures were drawn with")
        (folder / name).symlink_to(font)
    configuration = home / "fonts.conf"
    configuration.write_text(_FONTCONFIG.format(fonts=folder, cache=home / "cache" / "fontconfig"), "utf-8")
    return configuration
