# A Space of Hugging Face with the SDK Docker. Its repository is a copy of this tree, with this file as `Dockerfile` at
# the top and a README.md that begins with the lines
#     ---
#     title: nspca
#     sdk: docker
#     app_port: 7860
#     ---
# A Space has no volume: uploads and results are lost when it restarts. The dashboard opens at the address of the Space,
# https://OWNER-NAME.hf.space, which is the host name that is allowed, and not inside another page.
FROM python:3.12-slim

ENV PYTHONUNBUFFERED=1 PIP_NO_CACHE_DIR=1 OPENBLAS_NUM_THREADS=1 NSPCA_HOME=/app/state FORWARDED_ALLOW_IPS=*
RUN useradd --create-home --uid 1000 user && mkdir /app && chown user /app
WORKDIR /app
COPY requirements.txt ./
RUN pip install -r requirements.txt
COPY . .
RUN pip install --no-deps . && rm -rf /app/*
USER user
EXPOSE 7860
CMD STREAMLIT_SERVER_ALLOWED_HOSTS=$SPACE_HOST exec python -m nspca app --address 0.0.0.0 --port 7860
