import { defineConfig } from 'vitest/config'

/** Faults of the parts that the server depends on. They take minutes, and stop servers of their own only. */
export default defineConfig({
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
  test: {
    globalSetup: ['test/support/global.ts'],
    setupFiles: ['test/support/setup-own.ts'],
    include: ['test/faults/**/*.test.ts'],
    pool: 'forks',
    // Each file measures how long a recovery takes.
    maxWorkers: 1,
    testTimeout: 180_000,
    hookTimeout: 120_000,
  },
})
