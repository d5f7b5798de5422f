# syntax=docker/dockerfile:1

# A digest holds the base image to one build of it: --build-arg BASE_IMAGE=node:24.21.0-bookworm-slim@sha256:...
ARG BASE_IMAGE=node:24.21.0-bookworm-slim

# The packages that the service runs on. Nothing is compiled: types are stripped when a file is
# loaded, and better-sqlite3 brings its binaries.
FROM ${BASE_IMAGE} AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --omit=optional

FROM ${BASE_IMAGE}
LABEL org.opencontainers.image.title="coatcheck" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.licenses="MIT"
# The service calls no package manager, so none is there to be called by anyone else.
RUN rm -rf /usr/local/lib/node_modules /opt/yarn-* \
      /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack \
      /usr/local/bin/yarn /usr/local/bin/yarnpkg \
    && mkdir /data \
    && chown node:node /data && chmod 700 /data
WORKDIR /app
COPY --from=packages /app/node_modules ./node_modules
# Where compiled code is kept from one start to the next.
RUN mkdir node_modules/.cache && chown node:node node_modules/.cache
COPY package.json ./
COPY src ./src
# Served at /docs/problems.
COPY docs/reference/problems ./docs/reference/problems
ENV NODE_ENV=production \
    COATCHECK_HOST=0.0.0.0 \
    COATCHECK_PORT=8080 \
    COATCHECK_LEDGER=/data/coatcheck.db
USER node
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.COATCHECK_PORT}/readyz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
STOPSIGNAL SIGTERM
# As `npm start`: heaps that stay near what is live, since values pass through and are not kept.
CMD ["node", "--max-semi-space-size=4", "--heap-growing-percent=50", "--import", "./src/compile-cache.js", "src/main.ts"]
