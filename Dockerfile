FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY console/package.json console/
RUN npm ci
COPY tsconfig.json build.ts ./
COPY prisma prisma
COPY src src
COPY schema.graphql ./
COPY console console
RUN npm run build
# Leaves what the bundle imports of node_modules, and nothing of development.
RUN npm prune --omit=dev && rm dist/chunks/development.routes-*

FROM node:24-slim
ENV NODE_ENV=production PORT=3000
WORKDIR /app
# Owned by root: the server cannot write its own code, and in production it needs no directory of its own.
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY package.json LICENSE ./
# src/database/migrate.ts applies these at start.
COPY prisma/migrations prisma/migrations
USER node
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health/ready`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "dist/main.js"]
