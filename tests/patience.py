"""Wait for an event in another process or thread, never for a fixed time."""

import time

STUCK = 300.0  # seconds until a wait fails, so many that a slow machine is no failure


def wait_for(condition, pause=0.02, state=lambda: "nothing is known of it"):
    """Return the value of `condition` as soon as it is true; a failure tells the value of `state`."""
    give_up = time.monotonic() + STUCK
    while not (value := condition()):
        assert time.monotonic() < give_up, (
            f"what was waited for did not happen in {STUCK:g} seconds: {state()}"
        )
        time.sleep(pause)
    return value
