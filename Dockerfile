# docker build --tag quicksilver .
#
# With CUDA: docker build --tag quicksilver:cuda --build-arg TORCH_INDEX= .
# docs/deployment.md says how to run it.
ARG DEBIAN=bookworm-slim

FROM debian:${DEBIAN} AS build
# Where torch comes from: PyTorch's builds for CPUs. Empty takes PyPI's torch, which brings CUDA.
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
ARG EXTRAS=mcp,postgresql,telemetry
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
RUN apt-get update && apt-get install --yes --no-install-recommends ca-certificates python3 python3-venv
RUN python3 -m venv /opt/venv
WORKDIR /app
COPY pyproject.toml constraints.txt README.md LICENSE NOTICE ./
RUN [ -z "$TORCH_INDEX" ] || /opt/venv/bin/pip install --constraint constraints.txt --no-deps --index-url "$TORCH_INDEX" torch
COPY kernels kernels
COPY dlm dlm
COPY voice voice
# The root file system is read-only when the server runs, so Python's bytecode is compiled now.
RUN /opt/venv/bin/pip install --constraint constraints.txt --editable ".[$EXTRAS]" && /opt/venv/bin/python -m compileall -q kernels dlm voice
COPY configs configs
COPY web web

FROM debian:${DEBIAN}
RUN apt-get update && apt-get install --yes --no-install-recommends ca-certificates python3 && rm -rf /var/lib/apt/lists/*
RUN useradd --uid 10001 --home-dir /data --shell /usr/sbin/nologin quicksilver && install --directory --owner=quicksilver /data
COPY --from=build /opt/venv /opt/venv
COPY --from=build /app /app
WORKDIR /app
ENV HOME=/data XDG_CACHE_HOME=/data/cache XDG_DATA_HOME=/data PATH=/opt/venv/bin:/usr/bin:/bin PYTHONUNBUFFERED=1
USER 10001
VOLUME /data
EXPOSE 7860
# On a slow machine the first start may take a while to load.
HEALTHCHECK --interval=30s --timeout=5s --start-period=120s CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:7860/healthz', timeout=4)"]
ENTRYPOINT ["python", "-m", "voice.serve", "--host", "0.0.0.0"]
