import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { listSources } from '../support/imports.ts'

/**
 * Outside of the protocol and jobs, what sends statements without limits, and why a management call must not wait
 * there. Everything else takes the limits of its context (decision 48).
 */
const UNLIMITED: Record<string, string> = {
  'src/access/api-keys/find-api-key.ts': 'records a use in the background',
  'src/access/client-cache.ts': 'callers share what a cache loads',
  'src/access/declared-resources.ts': 'callers share what a cache loads',
  'src/access/dpop/dpop.ts': 'the protocol records proofs too',
  'src/access/origins.ts': 'is asked before the caller is known',
  'src/access/tenant-cache.ts': 'callers share what a cache loads',
  'src/access/trusted-documents.ts': 'callers share what a cache loads',
  'src/access/watch-token.ts': 'one check is for all streams',
  'src/coordination/row-changes.ts': 'one statement is for all caches',
  'src/delivery/outbox/outbox.ts': 'sends messages in the background',
  'src/events/follow-log.ts': 'makes messages in the background',
  'src/events/tail.ts': 'one read is for all readers',
  'src/keys/keys.ts': 'callers share what a cache loads',
  'src/sessions/browser-accounts.ts': 'is for hosted pages',
  'src/sessions/sessions.ts': 'is for hosted pages',
  'src/users/deletion/due-deletions.ts': 'is a job',
}

const UNLIMITED_USE = /(?<!invalidate\w+\()\bnew Handle\(\{ tenant\b(?!, workload)|database\/system\.ts'/

/** Outside of jobs, what sends statements for all tenants, and why. */
const ALL_TENANTS: Record<string, string> = {
  'src/access/watch-token.ts': 'one check is for all streams',
  'src/coordination/row-changes.ts': 'one statement is for all caches',
  'src/delivery/outbox/outbox.ts': 'sends messages in the background',
  'src/events/follow-log.ts': 'makes messages in the background',
  'src/users/deletion/due-deletions.ts': 'is a job',
}

test('statements of management calls take the limits of their context', () => {
  const found = listSources()
    .filter((path) => !/^src\/(oidc|jobs|database)\//.test(path))
    .filter((path) => UNLIMITED_USE.test(readFileSync(path, 'utf8')))
  expect(found.sort()).toEqual(Object.keys(UNLIMITED))
})

test('work on all tenants is that of jobs', () => {
  const found = listSources()
    .filter((path) => !path.startsWith('src/jobs/'))
    .filter((path) => readFileSync(path, 'utf8').includes("database/system.ts'"))
  expect(found.sort()).toEqual(Object.keys(ALL_TENANTS))
})
