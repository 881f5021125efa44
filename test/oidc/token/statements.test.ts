import { describe, expect } from 'vitest'
import { countWarmStatements, leastStatements, recordStatements } from '../../support/statements.ts'
import { test as base } from '../../support/visitor.ts'

const OFFLINE = { scope: 'openid offline_access' }
const test = base
  .extend('machine', { scope: 'file' }, ({ newClient }) =>
    newClient({ appType: 'machine', callbacks: [], scopes: ['users:read'] }),
  )
  .extend(
    'machineToken',
    { scope: 'file' },
    ({ oidc, machine }) =>
      () =>
        oidc.token({ grant_type: 'client_credentials' }, machine),
  )
  /** Counts the statements of `work` while tenant, clients and keys are in the caches. */
  .extend(
    'countWarm',
    { scope: 'file' },
    ({ oidc, machineToken }) =>
      (work: () => Promise<unknown>) =>
        countWarmStatements(async () => {
          await machineToken()
          await oidc.userinfo('x')
          await oidc.exchange('x')
        }, work),
  )

describe('the protocol endpoints', () => {
  test('sends no statement for client_credentials', async ({ machineToken, countWarm }) => {
    expect(await countWarm(machineToken)).toBe(0)
  })

  test('sends 1 statement for authorize with prompt=none, with a login_hint too, and writes nothing', async ({
    visitor,
    countWarm,
  }) => {
    const authorize = () => visitor.authorize(OFFLINE)
    expect(Math.min(await countWarm(authorize), await leastStatements(authorize))).toBe(1)
    const hinted = () => visitor.authorize({ ...OFFLINE, login_hint: visitor.user.email })
    expect(Math.min(await countWarm(hinted), await leastStatements(hinted))).toBe(1)
    const [statement] = await recordStatements(authorize)
    expect(statement).toMatch(/^\s*SELECT (?!.*\b(INSERT|UPDATE|DELETE|FOR (KEY )?SHARE)\b)/s)
  })

  test('sends 1 statement to redeem a code; for a replay 2, and 2 for its diagnostics', async ({
    oidc,
    visitor,
    countWarm,
  }) => {
    const code = await visitor.newCode(OFFLINE)
    expect(await countWarm(() => oidc.exchange(code))).toBe(1)
    expect(await countWarm(() => oidc.exchange(code))).toBe(4)
  })

  test('sends 1 statement for a refresh and for its retry; for a forged token only the one of its diagnostics', async ({
    oidc,
    visitor,
    countWarm,
  }) => {
    const token = (await visitor.newTokens(OFFLINE)).refresh_token
    expect(await countWarm(() => oidc.refresh(token))).toBe(1)
    expect(await countWarm(() => oidc.refresh(token))).toBe(1)
    expect(await countWarm(() => oidc.refresh(`${token.slice(0, -1)}-`))).toBe(1)
  })

  test('sends 2 statements for a replayed refresh token, and 1 for its diagnostics', async ({
    oidc,
    visitor,
    countWarm,
  }) => {
    const token = (await visitor.newTokens(OFFLINE)).refresh_token
    await oidc.refresh((await oidc.refresh(token)).body.refresh_token as string)
    expect(await countWarm(() => oidc.refresh(token))).toBe(3)
  })

  test('sends 1 statement for userinfo, and none for a token with a wrong signature', async ({
    oidc,
    visitor,
    countWarm,
  }) => {
    const token = (await visitor.newTokens(OFFLINE)).access_token
    expect(await countWarm(() => oidc.userinfo(token))).toBe(1)
    expect(await countWarm(() => oidc.userinfo(`${token.slice(0, -4)}AAAA`))).toBe(0)
  })

  test('names the tenant first in every statement', async ({ oidc, visitor }) => {
    const statements = await recordStatements(async () => {
      const { refresh_token: token } = await visitor.newTokens(OFFLINE)
      await oidc.refresh(token)
    })
    for (const statement of statements) expect(statement).toContain('"tenantId" = $1')
  })
})
