import { describe, expect } from 'vitest'
import { findTenant } from '../../../src/access/tenant-cache.ts'
import { createPlatformCtx } from '../../../src/core/context.ts'
import { dbFor } from '../../../src/database/db.ts'
import type { Prisma } from '../../../src/generated/prisma/client.ts'
import { validateAuthorizeRequest } from '../../../src/oidc/authorize/check-request.ts'
import { evaluateRequest } from '../../../src/oidc/authorize/evaluate-request.ts'
import { issueImmediateCode } from '../../../src/oidc/authorize/immediate-code.ts'
import { readSessionTokens } from '../../../src/pages/account-cookies.ts'
import { ACR_OTP } from '../../../src/sessions/acr.ts'
import { updateSettings } from '../../../src/tenants/settings.ts'
import type { Person } from '../../support/fixtures.ts'
import { ageSignIn } from '../../support/sign-in-age.ts'
import { countStatements } from '../../support/statements.ts'
import { test as base, type Visitor } from '../../support/visitor.ts'

const STRONG = { method: 'passkey', amr: ['hwk', 'user'], at: new Date().toISOString() }
/** Requests that a statement can decide, and requests that it can't. */
const PLAIN: Record<string, string>[] = [
  {},
  { prompt: 'none' },
  { max_age: '60' },
  { prompt: 'none', max_age: '86400' },
  { scope: 'openid offline_access' },
]
const OTHERS: Record<string, string>[] = [
  { prompt: 'login' },
  { prompt: 'select_account' },
  { prompt: 'consent' },
  { max_age: '0' },
  { login_hint: 'somebody@example.com' },
  { acr_values: ACR_OTP },
  { claims: '{"id_token":{"email":null}}' },
]

/** States of a session and its user, by the next step of a request without parameters. */
const STATES: [string, (tenant: string, user: Person) => Promise<unknown>][] = [
  ['signed in', async () => {}],
  ['signed in two minutes ago', (tenant, { id }) => ageSignIn(tenant, { userId: id }, 120)],
  ['of two proofs', (tenant, { id }) => updateSession(tenant, id, { proofs: [STRONG, STRONG] })],
  ['of an earlier version', (tenant, { id }) => updateSession(tenant, id, { proofs: [], amr: ['otp'] })],
  ['ended', (tenant, { id }) => updateSession(tenant, id, { endedAt: new Date() })],
  ['expired', (tenant, { id }) => updateSession(tenant, id, { expiresAt: new Date() })],
  ['of a locked user', (tenant, { id }) => updateUser(tenant, id, { locked: true })],
  ['agreed to the terms', (tenant, { id }) => updateUser(tenant, id, { termsVersion: '2' })],
]
const updateSession = (tenant: string, userId: string, data: Prisma.SessionUpdateManyArgs['data']) =>
  dbFor(tenant).session.updateMany({ where: { tenantId: tenant, userId }, data })
const updateUser = (tenant: string, id: string, data: Prisma.UserUpdateManyArgs['data']) =>
  dbFor(tenant).user.updateMany({ where: { tenantId: tenant, id }, data })

const test = base
  /** Decides a request of a browser both ways. */
  .extend(
    'decide',
    { scope: 'file' },
    ({ tenant, oidc, client }) =>
      async ({ user, browser }: Visitor, more: Record<string, string>, of = client) => {
        const ctx = createPlatformCtx(tenant)
        const { searchParams } = new URL(oidc.authorizePath(more, of), 'http://localhost')
        const settings = await findTenant(tenant)
        const checked = settings && (await validateAuthorizeRequest(ctx, settings, searchParams))
        if (!checked || 'error' in checked) throw new Error(`the request is invalid: ${searchParams}`)
        const tokens = readSessionTokens([...browser.cookies].map((cookie) => cookie.join('=')).join('; '))
        const where = { tenantId: tenant, userId: user.id }
        const before = await dbFor(tenant).authorizationCode.count({ where })
        const answer = await issueImmediateCode(ctx, checked.request, tokens)
        const { next } = await evaluateRequest(ctx, checked.request, {}, tokens)
        const [code, ...older] = await dbFor(tenant).authorizationCode.findMany({
          where,
          orderBy: { createdAt: 'desc' },
        })
        const inserted = 1 + older.length - before
        return { isIssued: answer !== null, isInserted: Boolean(code) && inserted === 1, code, next }
      },
  )
  /** Compares both ways for a new visitor in each state. */
  .extend(
    'compareAll',
    { scope: 'file' },
    ({ tenant, newVisitor, decide }) =>
      async (requests: Record<string, string>[], canIssue: boolean) => {
        let issued = 0
        for (const [name, change] of STATES)
          for (const more of requests) {
            const visitor = await newVisitor()
            await change(tenant, visitor.user)
            const { isIssued, isInserted, code, next } = await decide(visitor, more)
            // A session with several proofs is left to the evaluation.
            const isSimple = name !== 'of two proofs'
            const isExpected = canIssue && isSimple && next.step === 'issue'
            expect([name, more, isIssued, isInserted]).toEqual([name, more, isExpected, isExpected])
            if (!isIssued || next.step !== 'issue') continue
            const { authenticatedAt, amr } = next.authentication
            expect(code).toMatchObject({ authenticatedAt, amr })
            issued += 1
          }
        return issued
      },
  )

describe('issueImmediateCode', () => {
  test('issues a code for a plain request exactly when no step is left', async ({ compareAll }) => {
    expect(await compareAll(PLAIN, true)).toBe(PLAIN.length * 4 - 1)
  })

  test('leaves other requests to their evaluation', async ({ compareAll }) => {
    expect(await compareAll(OTHERS, false)).toBe(0)
  })

  test('requires agreement to the terms of use, except with prompt=none', async ({ ctx, compareAll }) => {
    await updateSettings(ctx, { termsUrl: 'https://example.com/terms', termsVersion: '2' })
    expect(await compareAll([{}], true)).toBe(1)
    expect(await compareAll([{ prompt: 'none' }], true)).toBe(4)
    await updateSettings(ctx, { termsUrl: null, termsVersion: null })
  })

  test('requires the consent of the user to every scope', async ({
    tenant,
    newClient,
    newVisitor,
    decide,
  }) => {
    const asking = await newClient({ requireConsent: true })
    const visitor = await newVisitor()
    const agreeTo = (scopes: string[]) =>
      dbFor(tenant).consent.upsert({
        where: {
          tenantId_userId_clientId: { tenantId: tenant, userId: visitor.user.id, clientId: asking.id },
        },
        create: { tenantId: tenant, userId: visitor.user.id, clientId: asking.id, scopes },
        update: { scopes },
      })
    const ask = async () => {
      const { isIssued, isInserted, next } = await decide(visitor, { scope: 'openid email' }, asking)
      return [isIssued, isInserted, next.step]
    }
    expect(await ask()).toEqual([false, false, 'consent'])
    await agreeTo(['openid'])
    expect(await ask()).toEqual([false, false, 'consent'])
    await agreeTo(['openid', 'email', 'profile'])
    expect(await ask()).toEqual([true, true, 'issue'])
  })

  test('leaves requests to their evaluation where a second factor may be required', async ({
    ctx,
    newVisitor,
    decide,
  }) => {
    for (const settings of [{ secondFactor: 'required' }, { secondFactorRoles: ['admin'] }]) {
      await updateSettings(ctx, settings)
      expect(await decide(await newVisitor(), {})).toMatchObject({ isIssued: false, isInserted: false })
      await updateSettings(ctx, { secondFactor: null, secondFactorRoles: null })
    }
  })

  test('sends another statement when the use of the session is recorded', async ({ tenant, newVisitor }) => {
    const { user, authorize } = await newVisitor()
    await authorize()
    const before = new Date(Date.now() - 120_000)
    await updateSession(tenant, user.id, { lastSeenAt: before })
    expect(await countStatements(authorize)).toBe(2)
    const session = await dbFor(tenant).session.findFirst({ where: { tenantId: tenant, userId: user.id } })
    expect(session?.lastSeenAt?.getTime()).toBeGreaterThan(before.getTime())
    expect(await countStatements(authorize)).toBe(1)
  })
})
