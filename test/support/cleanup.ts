import { test as base } from 'vitest'
import { createPlatformCtx } from '../../src/core/context.ts'
import { SYSTEM_TENANT } from '../../src/core/scopes.ts'
import { dbFor } from '../../src/database/db.ts'
import type { EventType } from '../../src/events/types.ts'
import type { CleanupReport } from '../../src/jobs/cleanup.ts'
import { deleteTenant, ensureTenant } from '../../src/tenants/tenants.ts'
import { newTenant } from './actors.ts'
import { bindEvents } from './calls.ts'
import { openApp } from './fixtures.ts'

export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS
/** The report of a run that changed nothing. */
export const NOTHING: CleanupReport = {
  endedSessions: 0,
  events: 0,
  ips: 0,
  Interaction: 0,
  EnrollmentToken: 0,
  ClientSecret: 0,
  IdempotencyKey: 0,
  Client: 0,
  PushedRequest: 0,
  DeviceCode: 0,
  UsedProof: 0,
  Invitation: 0,
  RegistrationToken: 0,
  SigningKey: 0,
  Grant: 0,
  Session: 0,
  AddressChange: 0,
  Passcode: 0,
  KnownDevice: 0,
  RowChange: 0,
  RefusedEvent: 0,
}

/** `test` with a tenant that is deleted after the test: a run cleans up every tenant of the database. */
export const test = base
  .extend('app', { scope: 'worker' }, () => openApp())
  .extend('tenant', async ({ app: _ }, { onCleanup }) => {
    await ensureTenant(SYSTEM_TENANT)
    const tenant = await newTenant()
    onCleanup(() => deleteTenant(createPlatformCtx(SYSTEM_TENANT), tenant))
    return tenant
  })
  .extend('events', ({ tenant }) => bindEvents(tenant))
  .extend('now', async () => new Date())
  .extend(
    'earlier',
    ({ now }) =>
      (ms: number) =>
        new Date(now.getTime() - ms),
  )
  .extend(
    'later',
    ({ now }) =>
      (ms: number) =>
        new Date(now.getTime() + ms),
  )
  .extend('addUser', ({ tenant }) => async (id = 'u') => {
    await dbFor(tenant).user.create({ data: { tenantId: tenant, id } })
    return id
  })
  .extend(
    'addSession',
    ({ tenant }) =>
      (id: string, expiresAt: Date, rest: object = {}) =>
        dbFor(tenant).session.create({
          data: {
            tenantId: tenant,
            id,
            userId: 'u',
            kind: 'browser',
            tokenHash: Buffer.from(id),
            expiresAt,
            ...rest,
          },
        }),
  )
  .extend(
    'addEvent',
    ({ tenant }) =>
      (id: string, occurredAt: Date, ip: string | null = '192.0.2.1', type: EventType = 'signin.failed') =>
        dbFor(tenant).event.create({ data: { tenantId: tenant, id, type, occurredAt, ip } }),
  )
