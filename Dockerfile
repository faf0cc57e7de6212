FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci
COPY tsconfig.json build.ts ./
COPY schemas schemas
COPY projections projections
COPY src src
RUN npm run build && npm prune --omit=dev

FROM node:24-slim
WORKDIR /app
COPY --from=build /app/package.json ./
COPY docs docs
COPY src/console/assets src/console/assets
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
RUN ln -s /app/dist/src/cli.js /usr/local/bin/tollgate && mkdir -m 700 /data && chown node:node /data
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 DATA_DIR=/data
USER node
VOLUME /data
EXPOSE 8080
# Checks liveness only. An unavailable store is no reason to restart the container; /readyz reports it.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/healthz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--enable-source-maps", "dist/src/main.js"]
