"""What all tests share."""

from __future__ import annotations

import os

from hypothesis import settings

# A busy machine is no failure, so examples have no deadline. CI draws the same ones each time: what it finds is found
# again, and a change is not blamed for an example that nobody had tried before.
settings.register_profile("here", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")
