import { defineConfig } from 'vitest/config'
import { probeRedis } from './test/support/probe-redis.ts'

/**
 * The folders that a machine without services tests, on the embedded database: what depends on the database, the server
 * and the APIs, and the core of the protocol. The others ask nothing of it that these do not.
 */
const EMBEDDED =
  'test/{access,client-libraries,core,database,events,graphql,http,jobs,rest,schema,server,tenants,users,oidc/{authorize,client-auth,grants,token,userinfo}}'
const folders = (await probeRedis()) === null ? 'test' : EMBEDDED
const TESTS = `${folders}/**/*.test.{ts,tsx}`
const OWN = `${folders}/**/*.own.test.{ts,tsx}`
/** The file of a report in JSON, for .ci/run. */
const { TEST_REPORT } = process.env
/** Of vitest.faults.config.ts. */
const FAULTS = 'test/faults/**'

// Vite would take graphql's .mjs build for our files and Node its .js build for the libraries; with two copies,
// no GraphQLError is an instance of the other's class.
const resolve = { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] }
const common = {
  pool: 'forks',
  // One more than cores: a test waits for servers, browsers and processes half of its time.
  maxWorkers: 3,
  testTimeout: 30_000,
  // .ci/run names each test that passes at the second attempt only.
  retry: TEST_REPORT ? 1 : 0,
  // The first file that needs the built program builds it.
  hookTimeout: 120_000,
  // A machine under load takes more than the second that is the default, and a transaction of another file hides events
  // until it ends. Each look into a browser costs ten milliseconds.
  expect: { poll: { timeout: 20_000, interval: 100 } },
} as const

export default defineConfig({
  test: {
    reporters: TEST_REPORT ? ['default', ['json', { outputFile: TEST_REPORT }]] : ['default'],
    globalSetup: ['test/support/global.ts'],
    // The databases of all files are dropped at the end, which takes long on a busy machine.
    teardownTimeout: 120_000,
    // The runs of .ci/run and of a developer transform a file once. `npm ci` removes the cache.
    experimental: { fsModuleCache: true },
    projects: [
      {
        // One process, database and app for the files of each worker.
        resolve,
        test: {
          ...common,
          name: 'shared',
          include: [TESTS],
          exclude: [OWN, FAULTS],
          setupFiles: ['test/support/setup-shared.ts'],
          isolate: false,
          sequence: { groupOrder: 0 },
        },
      },
      {
        // A process and a database for each file, which may change the environment and stop what it started.
        resolve,
        test: {
          ...common,
          name: 'own',
          include: [OWN],
          exclude: [FAULTS],
          setupFiles: ['test/support/setup-own.ts'],
          isolate: true,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
