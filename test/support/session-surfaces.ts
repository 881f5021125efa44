import { expect } from 'vitest'
import { startSession } from '../../src/sessions/sessions.ts'
import { createUser } from '../../src/users/users.ts'
import { test as base } from './tenant-per-test.ts'

/** What REST answers when an object does not exist. */
export const notFound = (what: string) => ({
  message: `No such ${what}.`,
  requestId: expect.any(String),
  fields: [],
  code: 'NOT_FOUND',
})

/** `test` with a tenant for each test, and sessions of a user in it as both surfaces return them. */
export const test = base
  .extend('userId', async ({ ctx }) => (await createUser(ctx, { name: 'Ada' })).id)
  .extend(
    'start',
    ({ ctx, userId }) =>
      (id = userId) =>
        ctx.db.transaction((sql) =>
          startSession(sql, ctx, {
            userId: id,
            kind: 'api',
            expiresAt: new Date(Date.now() + 3_600_000),
            refreshable: true,
            proof: null,
            seenFrom: { ip: '192.0.2.1', userAgent: 'Phone' },
          }),
        ),
  )
  /** A session that `start` has started. */
  .extend('toBody', ({ userId }) => (id: string) => ({
    id,
    userId,
    clientId: null,
    lastSeenAt: expect.any(String),
    lastSeenIp: '192.0.2.1',
    lastSeenLocation: null,
    userAgent: 'Phone',
    deviceId: null,
    expiresAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    updatedAt: expect.any(String),
    createdAt: expect.any(String),
    proofs: [],
  }))
