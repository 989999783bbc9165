"""Make torchvision importable beside a CPU build of torch.

The ordinary index has torchvision built for CUDA. Its compiled operators then cannot be loaded, which it bears, except
that two of them are described to torch all the same, and the import ends there. vLLM only wants its picture functions,
which are plain torch. So those two descriptions are made to depend on the operators being there.
"""

from __future__ import annotations

import re
import subprocess
import sys
import sysconfig
from pathlib import Path

DESCRIPTION = re.compile(r"^@(torch\.library\.register_fake\(.*\))$", re.MULTILINE)
CONDITIONAL = r"@(\1 if torchvision.extension._has_ops() else lambda function: function)"


def works() -> bool:
    """Can this interpreter import torchvision?"""
    return subprocess.run([sys.executable, "-c", "import torchvision"], capture_output=True).returncode == 0


def main() -> int:
    """Mend it if it is broken; the exit status says whether it can be imported now."""
    if works():
        return 0
    path = Path(sysconfig.get_path("purelib")) / "torchvision" / "_meta_registrations.py"
    path.write_text(DESCRIPTION.sub(CONDITIONAL, path.read_text()))
    if works():
        return 0
    print("torchvision cannot be imported, even without its compiled operators", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
