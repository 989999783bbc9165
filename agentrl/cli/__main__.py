"""`python -m agentrl.cli`, for where the `agentrl` command is not on the path."""

from __future__ import annotations

import sys

from agentrl.cli.main import main

sys.exit(main())
