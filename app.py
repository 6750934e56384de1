"""The page Home, and the server of all pages: ``streamlit run app.py``, as `python -m nspca app` does it."""

if __name__ == "__main__":  # a visit
    from nspca.dashboard import home
    from nspca.dashboard.app import frame

    with frame.page("Home"):
        home.opening()
        home.explorer(home.digits())
        home.ways_on()
elif __name__ == "app":  # the server; worker processes import this file under another name
    import streamlit as st

    from nspca.dashboard.app import server

    app = st.App(__file__, **server.options())
