import { test as base, expect, vi } from 'vitest'
import type { Ctx } from '../../src/context/context.ts'
import { listInboxMessages } from '../../src/delivery/inbox.ts'
import { authenticatePasscode } from '../../src/passcodes/authenticate-passcode.ts'
import { sendPasscode } from '../../src/passcodes/send-passcode.ts'
import { ctxFor, newTenant } from './actors.ts'
import { bindEvents } from './calls.ts'
import { sql } from './database.ts'
import { openApp } from './fixtures.ts'

export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE

export const INVALID = expect.objectContaining({
  name: 'InvalidCredential',
  status: 401,
  message: 'The code is wrong or has expired.',
})

/** Sets Date until the test ends; timers keep running. */
export const setClock = (time: number) => vi.useFakeTimers({ toFake: ['Date'], now: time })
/** The newest code in the inbox of an address; `none` when there is none. Notices have no code. */
export const codeIn = (to: string): string =>
  listInboxMessages(to)
    .map(({ body }) => /\b(\d{6}|\d{5} \d{5})\b/.exec(body)?.[0])
    .find((code) => code !== undefined) ?? 'none'
export const wrongFor = (to: string): string => (codeIn(to) === '000000' ? '000001' : '000000')

let networks = 0

/** `test` with a tenant for each test: budgets of addresses and networks are what is tested. */
export const test = base
  .extend('ctx', async () => {
    await openApp()
    return ctxFor(await newTenant())
  })
  .extend('events', ({ ctx }) => bindEvents(ctx.tenant))
  .extend('network', () => ++networks)
  /** The context of a visitor of the hosted pages, in a network of the test's own. */
  .extend(
    'visitor',
    ({ ctx, network }): Ctx => ({
      ...ctx,
      actor: { kind: 'anonymous' },
      scopes: new Set(),
      ip: `10.0.0.${network}`,
      userAgent: 'Browser',
    }),
  )
  .extend(
    'address',
    ({ ctx }) =>
      (name = 'ada') =>
        `${name}@${ctx.tenant}.example`,
  )
  .extend(
    'send',
    ({ ctx }) =>
      (to: string, over: object = {}) =>
        sendPasscode(ctx, 'email', { to, ...over }),
  )
  .extend(
    'redeem',
    ({ ctx }) =>
      (to: string, over: object = {}) =>
        authenticatePasscode(ctx, { to, code: codeIn(to), ...over }),
  )
  .extend('findPasscode', ({ ctx }) => async (address: string) => {
    const [row] = await sql<Record<string, unknown>>(
      `SELECT p.*, b."failureCount", b."sendCount" FROM "Passcode" p
       LEFT JOIN "Passcode" b ON b."tenantId" = $1 AND b."address" = $2 AND b."origin" = ''
       WHERE p."tenantId" = $1 AND p."address" = $2 AND (p."origin" = 'api' OR p."origin" LIKE 'interaction:%')`,
      [ctx.tenant, address],
    )
    return row
  })
  .extend(
    'listUsers',
    ({ ctx }) =>
      () =>
        sql<{ id: string }>('SELECT "id" FROM "User" WHERE "tenantId" = $1', [ctx.tenant]),
  )
  .extend(
    'listActiveSessions',
    ({ ctx }) =>
      () =>
        sql<{ id: string }>(
          'SELECT "id" FROM "Session" WHERE "tenantId" = $1 AND "endedAt" IS NULL AND "expiresAt" > now() ORDER BY "id"',
          [ctx.tenant],
        ),
  )
