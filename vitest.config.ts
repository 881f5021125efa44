import { defineConfig } from 'vitest/config'

/** What no database has a part in: a run that asks for the embedded one leaves it to the run on PostgreSQL. */
const WITHOUT_DATABASE = [
  'test/addresses.test.ts',
  'test/contract/lint.test.ts',
  'test/delivery.test.ts',
  'test/embedded.test.ts',
  'test/env.test.ts',
  'test/fetcher.test.ts',
  'test/oidc/{authorize-request,claims-request,cookies,next-step,redirect-uris,refresh-tokens}.test.ts',
  'test/pages*.test.tsx',
  'test/theme.test.ts',
]

/**
 * What sends the same statements as other files do, about transports, authorisation or pages; or is about several
 * processes, Redis, or how PostgreSQL plans. The embedded database is slow to start, and each file starts one.
 */
const ON_POSTGRESQL_ALONE = [
  'test/{audit-coverage,graphql-cost,management-cors,openapi,rate-limit-headers,redis-away,request-ids}.test.ts',
  'test/{credentials-device,enrolment-delivery,expected-updated-at,idps-types,rest-lines,rest-lists,tenants-surfaces}.test.ts',
  'test/users-{bulk,cli}.test.ts',
  'test/{clients-members,graphql,seed,subscriptions}.test.ts',
  'test/clients/**',
  'test/contract/**',
  'test/journeys/{browser,enrolment,graphiql}.test.ts',
  'test/oidc/*-{addresses,processes,private}.test.ts',
  'test/oidc/{client-authentication,cors,discovery-behaviour,dpop-resources,hints,hosted-pages,key-rotation-load}.test.ts',
  'test/oidc/{plan-form-post,response-modes,response-modes-browser,select-account,statements,token-errors}.test.ts',
  'test/oidc/{authorize-parameters,backchannel-logout,device-pages,dpop,logout-requests,private-key-jwt,role-scopes}.test.ts',
  'test/oidc/plan-third-party-login.test.ts',
  'test/oidc/two-processes*.test.ts',
  'test/parity/**',
  'test/security/{abuse,isolation,jwt,opaque-tokens,requests,revocation-*,stalls,urls}.test.ts',
]

export default defineConfig({
  resolve: {
    // Vite would take graphql's .mjs build for our files and Node its .js build for the libraries; with two copies,
    // no GraphQLError is an instance of the other's class.
    alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }],
  },
  test: {
    exclude:
      process.env.VESTIBULE_TEST_DATABASE === 'embedded' ? [...WITHOUT_DATABASE, ...ON_POSTGRESQL_ALONE] : [],
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
