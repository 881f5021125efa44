import { afterAll, describe, vi } from 'vitest'
import { sha256 } from '../../src/core/crypto.ts'
import { sql } from '../../src/database/db.ts'
import { TENANT_SCOPES, tokenFor } from '../support/actors.ts'
import { handleIn } from '../support/hosted-pages.ts'
import { compareSides, type Operation, type Side } from '../support/timing.ts'
import { test as base, makePools, pick } from '../support/timing-scene.ts'

const servers = await vi.hoisted(async () => {
  process.env.TRUST_PROXY = '1'
  process.env.RATE_LIMIT = '1000000'
  const { startSlowMessageServers } = await import('../support/slow-message-servers.ts')
  return startSlowMessageServers()
})
afterAll(() => servers.close())

const test = base
  /** Pages of sign-ins whose address was entered: the code of a known one was sent. */
  .extend('atCode', { scope: 'file' }, ({ openForm, oidc, newAddress }) => async (side: Side) => {
    const page = await openForm(oidc.authorizePath())
    const address = await newAddress(side)
    await page.post({ step: 'email', address })
    return { ...page, address }
  })
  /** Lets another code be requested at once. */
  .extend('endCooldown', { scope: 'file' }, ({ tenant }) => async (address: string, path: string) => {
    await sql(
      `UPDATE "Passcode" SET "sentAt" = "sentAt" - interval '1 minute', "sendCount" = 0
       WHERE "tenantId" = $1 AND "address" = $2`,
      [tenant, address],
    )
    await sql(
      `UPDATE "Interaction" SET "progress" = jsonb_set("progress", '{sentAt}', '"2020-01-01T00:00:00.000Z"')
       WHERE "tenantId" = $1 AND "handleHash" = $2`,
      [tenant, sha256(handleIn(path))],
    )
  })
  .extend(
    'resetAttempts',
    { scope: 'file' },
    ({ tenant }) =>
      (address: string) =>
        sql(
          `UPDATE "Passcode" SET "attempts" = 0, "failureCount" = 0 WHERE "tenantId" = $1 AND "address" = $2`,
          [tenant, address],
        ),
  )

describe('the time of an answer to a sign-in', () => {
  test('does not depend on whether the address is known', { timeout: 3_600_000 }, async ({
    oidc,
    tenant,
    openForm,
    call,
    newAddress,
    newNumber,
    atCode,
    endCooldown,
    resetAttempts,
  }) => {
    const token = await tokenFor(tenant, TENANT_SCOPES, 3600)
    const starts = await makePools(() => openForm(oidc.authorizePath()))
    const [guessed, resent] = [await makePools(atCode), await makePools(atCode)]
    const mutation = `mutation ($to: String!) { authenticatePasscode(input: { to: $to, code: "000" }) { __typename } }`
    const operations: Record<string, Operation> = {
      'the page that sends a code to an e-mail address': async (side, sample) => {
        const address = await newAddress(side)
        return () => pick(starts.known, sample).post({ step: 'email', address })
      },
      'the page that sends a code to a phone number': async (side, sample) => {
        const address = await newNumber(side)
        return () => pick(starts.unknown, sample).post({ step: 'email', address })
      },
      'the page that sends another code': async (side, sample) => {
        const { address, path, post } = pick(resent[side], sample)
        await endCooldown(address, path)
        return () => post({ step: 'resend' }, '/code')
      },
      'the page that takes a code': async (side, sample) => {
        const { address, post } = pick(guessed[side], sample)
        await resetAttempts(address)
        return () => post({ step: 'code', code: '000' }, '/code')
      },
      'POST /passcodes/authenticate': async (side) => {
        const to = await newAddress(side)
        return () => call('/api/v1/passcodes/authenticate', token, { to, code: '000' })
      },
      'mutation authenticatePasscode': async (side) => {
        const to = await newAddress(side)
        return () => call('/graphql', token, { query: mutation, variables: { to } })
      },
    }
    await compareSides(operations)
  })
})
