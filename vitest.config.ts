import { defineConfig } from 'vitest/config'

/** What no database has a part in: a run that asks for the embedded one leaves it to the run on PostgreSQL. */
const WITHOUT_DATABASE = [
  'test/addresses.test.ts',
  'test/contract/lint.test.ts',
  'test/embedded.test.ts',
  'test/env.test.ts',
  'test/pages*.test.tsx',
  'test/theme.test.ts',
]

export default defineConfig({
  resolve: {
    // Vite would take graphql's .mjs build for our files and Node its .js build for the libraries; with two copies,
    // no GraphQLError is an instance of the other's class.
    alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }],
  },
  test: {
    exclude: process.env.VESTIBULE_TEST_DATABASE === 'embedded' ? WITHOUT_DATABASE : [],
    include: ['test/**/*.test.{ts,tsx}'],
    globalSetup: ['test/support/global.ts'],
    setupFiles: ['test/support/setup.ts'],
    // The services are singletons configured by the environment: one process and one database for each file.
    pool: 'forks',
    isolate: true,
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
})
