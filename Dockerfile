# ragways serve. Build: docker build -t ragways .   First key: docker compose run --rm ragways key add ME --scope admin
FROM python:3.11-slim AS build
WORKDIR /build
COPY requirements-serve.lock .
RUN python -m venv /app \
 && /app/bin/pip install --no-cache-dir --no-deps --require-hashes -r requirements-serve.lock \
 && pip install --no-cache-dir "hatchling>=1.27"
COPY LICENSE README.md pyproject.toml ./
COPY release release
COPY src src
RUN python -m hatchling build -t wheel && /app/bin/pip install --no-cache-dir --no-deps dist/*.whl

FROM python:3.11-slim
RUN useradd --uid 10001 --create-home ragways && install -d -o ragways -g ragways -m 700 /data
COPY --from=build /app /app
ENV PATH=/app/bin:$PATH PYTHONUNBUFFERED=1 \
    RAGWAYS_CACHE=/data/cache RAGWAYS_SERVE__DATA=/data RAGWAYS_SERVE__HOST=0.0.0.0
USER ragways
WORKDIR /data
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s \
  CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8080/readyz', timeout=9)"]
ENTRYPOINT ["ragways"]
CMD ["serve", "--log-format", "json"]
