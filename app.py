"""Home: a first component, solved on the spot, with its proof."""

from nspca.dashboard import home
from nspca.dashboard.app import frame

# Worker processes import this file under another name; they must not draw a page.
if __name__ == "__main__":
    with frame.page("Home"):
        home.opening()
        home.poster()
        curve = home.digits()
        home.explorer(curve)
        home.ways_on()
