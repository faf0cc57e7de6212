# The exact version that .ci/run tests. To pin the bytes too, build with the digest of the image:
#   docker build --build-arg NODE_IMAGE=node:24.21.0-slim@sha256:… .
ARG NODE_IMAGE=node:24.21.0-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
# No package needs its install script: the binaries are packages of their own.
RUN npm ci --ignore-scripts
COPY tsconfig.json build.ts ./
COPY schemas schemas
COPY projections projections
COPY src src
RUN npm run build && npm prune --omit=dev --ignore-scripts
# With the development packages in package.json, npm would report them missing, or leave out those that they share with
# the service.
RUN npm pkg delete devDependencies && npm sbom --sbom-format cyclonedx > sbom.json

# Makes the secrets of deploy/cluster on its first start. The folders belong to the user who starts the servers, and new
# volumes take the owner and mode of the folders on which they are first mounted.
FROM ${NODE_IMAGE} AS secrets
RUN apt-get update && apt-get install -y --no-install-recommends openssl && rm -rf /var/lib/apt/lists/* \
  && install -d -m 700 -o node -g node /secrets/tollgate /secrets/eventstore /secrets/redis /secrets/minio /minio-data
COPY deploy/cluster/make-secrets.sh /usr/local/bin/make-secrets
USER node
CMD ["make-secrets", "/secrets"]

FROM ${NODE_IMAGE}
WORKDIR /app
COPY --from=build /app/package.json /app/sbom.json ./
COPY docs docs
COPY src/console/assets src/console/assets
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
RUN ln -s /app/dist/src/cli.js /usr/local/bin/tollgate && install -d -m 700 -o node -g node /data
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 DATA_DIR=/data
USER node
VOLUME /data
EXPOSE 8080
# Checks liveness only. An unavailable store is no reason to restart the container; /readyz reports it.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/healthz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--enable-source-maps", "dist/src/main.js"]
