# One image, two commands: the API (default) and the queue worker (node dist/worker.js).

# Append a digest (node:24-bookworm-slim@sha256:...) to pin the image.
ARG NODE_IMAGE=node:24-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --include=dev
COPY .swcrc ./
COPY scripts scripts
COPY migrations migrations
COPY src src
# The image needs only the bundles, not the modules in them.
RUN npm run build && rm -r dist/src dist/migrations \
 # The embedded database and prebuilt accelerators are for machines without containers.
 && npm prune --omit=dev --omit=optional

FROM ${NODE_IMAGE}
COPY scripts/services/python/ansible-3.11.txt /tmp/ansible.txt
RUN apt-get update \
 && apt-get install -y --no-install-recommends \
      bubblewrap ca-certificates git gnupg openssh-client python3-venv sshpass subversion tini \
 && rm -rf /var/lib/apt/lists/* \
 && python3 -m venv /opt/ansible \
 && /opt/ansible/bin/pip install --no-cache-dir --require-hashes -r /tmp/ansible.txt \
 && install -d -o node -g node -m 0700 /data /data/home /keys /keys-of/api /keys-of/worker
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/scripts scripts
COPY --from=build /app/dist dist
ENV NODE_ENV=production \
    PATH=/opt/ansible/bin:$PATH \
    WEB_CONCURRENCY=auto \
    SHUTDOWN_DRAIN_SECONDS=5 \
    HOST=0.0.0.0 \
    PORT=8080 \
    DATA_DIR=/data \
    # For the host keys of code hosts, which must outlive the container.
    HOME=/data/home
USER 1000:1000
VOLUME ["/data", "/keys"]
EXPOSE 8080
# tini reaps the orphaned processes of killed playbooks, which Node as PID 1 would not.
ENTRYPOINT ["/usr/bin/tini", "--"]
CMD ["node", "dist/main.js"]
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health/ready`).then((response) => process.exit(response.ok ? 0 : 1), () => process.exit(1))"]
