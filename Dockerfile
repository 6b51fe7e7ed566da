# The agent: docker build -t petrel . && docker run petrel agent --zookeeper zk1:2181 --node-id a1 --site a
# Hooks run inside the container: base an image of your own on this one that holds what they need.
# Run it with --init: process 1 inherits what a hook leaves behind, and has to reap it. The guardian, which it would be
# else, waits for its own children alone; their zombies count as dead, but fill the table of processes.
# docker stop is SIGTERM to the guardian, hence an orderly handover: give it time by --stop-timeout. See docs/guides/systemd.md.
ARG NODE_IMAGE=node:20-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /petrel
COPY package.json package-lock.json ./
COPY packages packages
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY scripts scripts
COPY src src
COPY strategies strategies
# npm installs no package that this list calls optional: an image based on this one may want them (docs/reference/logs.md).
RUN npm run build && npm pkg delete workspaces devDependencies peerDependencies peerDependenciesMeta \
  && npm prune --omit=dev --ignore-scripts --no-audit --no-fund

FROM ${NODE_IMAGE}
# The version is that of package.json.
LABEL org.opencontainers.image.title="Petrel" \
  org.opencontainers.image.description="Leader election and planned handover for services that must have exactly one active node, on ZooKeeper" \
  org.opencontainers.image.version="0.1.0" \
  org.opencontainers.image.licenses="Apache-2.0"
WORKDIR /petrel
COPY docs docs
COPY deploy/docker/health.mjs deploy/docker/
COPY --from=build /petrel/package.json ./
COPY --from=build /petrel/node_modules node_modules
COPY --from=build /petrel/dist dist
RUN chmod 755 dist/src/cli/main.js \
  && ln -s /petrel/dist/src/cli/main.js /usr/local/bin/petrel \
  && mkdir /var/lib/petrel \
  && chown node: /var/lib/petrel
ENV NODE_ENV=production PETREL_STATE_DIR=/var/lib/petrel
USER node
VOLUME /var/lib/petrel
# For /health, see docs/reference/http.md. `docker run --no-healthcheck` for commands that are not agents.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["node", "/petrel/deploy/docker/health.mjs"]
# As a list, without a shell between: the signal has to reach the guardian.
STOPSIGNAL SIGTERM
ENTRYPOINT ["petrel"]
CMD ["agent"]
