import { describe, expect } from 'vitest'
import { endSession, findBrowserSession } from '../../src/sessions/sessions.ts'
import { newTenant } from '../support/actors.ts'
import { sql } from '../support/database.ts'
import { MINUTE, setClock } from '../support/passcodes.ts'
import { inMinutes, test } from '../support/sessions.ts'
import { countStatements } from '../support/statements.ts'

describe('findBrowserSession', () => {
  test('finds a session until 12 h after its last use and 30 days after its start', async ({
    ctx,
    userId,
    startBrowser,
  }) => {
    const began = Date.now()
    const hours = (count: number) => new Date(began + count * 60 * MINUTE)
    setClock(began)
    const { session, token } = await startBrowser()
    expect(session.expiresAt).toEqual(hours(12))
    expect(await findBrowserSession(ctx.tenant, token, hours(11.9))).toEqual({
      name: null,
      email: null,
      phoneNumber: null,
      id: session.id,
      userId,
      authenticatedAt: session.authenticatedAt,
      proofs: [{ method: 'passcode', amr: ['otp'], at: session.authenticatedAt.toISOString() }],
      amr: [],
      isUseDue: true,
      expiresAt: hours(12),
    })
    expect(await findBrowserSession(ctx.tenant, token, hours(23.8))).not.toBeNull()
    expect(await findBrowserSession(ctx.tenant, token, hours(23.8 + 12.1))).toBeNull()
    const second = await startBrowser()
    for (let hour = 10; hour < 30 * 24; hour += 10)
      expect(await findBrowserSession(ctx.tenant, second.token, hours(hour))).not.toBeNull()
    expect(await findBrowserSession(ctx.tenant, second.token, hours(30 * 24 + 0.1))).toBeNull()
  })

  test('returns null for other kinds, other tenants, ended sessions and locked users', async ({
    ctx,
    start,
    startBrowser,
  }) => {
    const api = await start()
    expect(await findBrowserSession(ctx.tenant, api.token)).toBeNull()
    const { session, token } = await startBrowser()
    expect(await findBrowserSession(await newTenant(), token)).toBeNull()
    await sql('UPDATE "User" SET "locked" = true WHERE "tenantId" = $1', [ctx.tenant])
    expect(await findBrowserSession(ctx.tenant, token)).toBeNull()
    await sql('UPDATE "User" SET "locked" = false WHERE "tenantId" = $1', [ctx.tenant])
    await endSession(ctx, session.id, 'logout')
    expect(await findBrowserSession(ctx.tenant, token)).toBeNull()
  })

  test('sends one statement, and another when the use is recorded', async ({ ctx, startBrowser }) => {
    const { token } = await startBrowser()
    const use = () => countStatements(() => findBrowserSession(ctx.tenant, token, inMinutes(5)))
    expect([await use(), await use()]).toEqual([2, 1])
  })
})
