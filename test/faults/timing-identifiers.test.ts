import { afterAll, describe, vi } from 'vitest'
import { newId, randomToken } from '../../src/core/crypto.ts'
import { createCredentialEnrollmentToken } from '../../src/credentials/enrollment-tokens.ts'
import { sql } from '../../src/database/db.ts'
import { createUserCode } from '../../src/oidc/device/user-codes.ts'
import { createUser } from '../../src/users/users.ts'
import { ctxFor, newTenant, ownTokenFor, TENANT_SCOPES, tokenFor } from '../support/actors.ts'
import { startDevice } from '../support/device-flow.ts'
import { compareSides, type Operation, type Side } from '../support/timing.ts'
import { test as base, makePools, pick } from '../support/timing-scene.ts'

const servers = await vi.hoisted(async () => {
  process.env.TRUST_PROXY = '1'
  process.env.RATE_LIMIT = '1000000'
  const { startSlowMessageServers } = await import('../support/slow-message-servers.ts')
  return startSlowMessageServers()
})
afterAll(() => servers.close())

const CHANGES = {
  request: `mutation ($email: String!) { requestEmailChange(input: { email: $email }) { __typename } }`,
  confirm: `mutation ($email: String!) { confirmEmailChange(input: { email: $email, code: "000000" }) { __typename } }`,
}

const test = base
  /** A user who has just signed in, and the token of the user. */
  .extend('newHolder', { scope: 'file' }, ({ tenant, spa, newPerson }) => async () => {
    const { id } = await newPerson()
    return { id, token: await ownTokenFor(tenant, id, spa.id) }
  })
  /** A link that was used, or one that never was. */
  .extend('newLink', { scope: 'file' }, ({ tenant, ctx, newPerson }) => async (side: Side) => {
    if (side === 'unknown') return randomToken()
    const { id } = await newPerson()
    const { token } = await createCredentialEnrollmentToken(ctx, id, { send: false })
    await sql(`UPDATE "EnrollmentToken" SET "usedAt" = now() WHERE "tenantId" = $1 AND "userId" = $2`, [
      tenant,
      id,
    ])
    return token
  })
  /** A user code that was used, or one that never was. */
  .extend('newUserCode', { scope: 'file' }, ({ app, tenant, newClient }) => async (side: Side) => {
    if (side === 'unknown') return createUserCode()
    const client = await newClient({ appType: 'native' })
    const { body } = await startDevice(app, tenant, client)
    await sql(`UPDATE "DeviceCode" SET "status" = 'denied' WHERE "tenantId" = $1 AND "clientId" = $2`, [
      tenant,
      client.id,
    ])
    return body.user_code as string
  })
  /** The id of a user of another tenant, or of nobody. */
  .extend('newForeignId', { scope: 'file' }, async () => {
    const other = await ctxFor(await newTenant())
    return async (side: Side) =>
      side === 'known' ? (await createUser(other, { name: 'Ada' })).id : newId('user')
  })

describe('the time of an answer about an identifier', () => {
  test('does not depend on whether it exists', { timeout: 3_600_000 }, async ({
    oidc,
    tenant,
    openForm,
    send,
    call,
    newAddress,
    newHolder,
    newLink,
    newUserCode,
    newForeignId,
  }) => {
    const token = await tokenFor(tenant, TENANT_SCOPES, 3600)
    const [links, codes, ids] = [
      await makePools(newLink),
      await makePools(newUserCode),
      await makePools(newForeignId),
    ]
    const holder = await newHolder()
    const pending = await makePools(async (side) => {
      const [email, { token }] = [await newAddress(side), await newHolder()]
      await call('/graphql', token, { query: CHANGES.request, variables: { email } })
      return { email, token }
    })
    const device = await openForm(`/${tenant}/device`)
    const operations: Record<string, Operation> = {
      'mutation requestEmailChange': async (side) => {
        await sql(`DELETE FROM "AddressChange" WHERE "tenantId" = $1 AND "userId" = $2`, [tenant, holder.id])
        const email = await newAddress(side)
        return () => call('/graphql', holder.token, { query: CHANGES.request, variables: { email } })
      },
      'mutation confirmEmailChange': async (side, sample) => {
        const { email, token } = pick(pending[side], sample)
        await sql(`UPDATE "AddressChange" SET "attempts" = 0 WHERE "tenantId" = $1 AND "address" = $2`, [
          tenant,
          email,
        ])
        await sql(`UPDATE "Passcode" SET "failureCount" = 0 WHERE "tenantId" = $1 AND "address" = $2`, [
          tenant,
          email,
        ])
        return () => call('/graphql', token, { query: CHANGES.confirm, variables: { email } })
      },
      'GET /enroll': (side, sample) => async () =>
        send(`/${tenant}/enroll?token=${pick(links[side], sample)}`),
      'POST /enroll/options': (side, sample) => () =>
        send(`/${tenant}/enroll/options`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ token: pick(links[side], sample) }),
        }),
      'the page that takes a user code': (side, sample) => () =>
        device.post({ user_code: pick(codes[side], sample) }),
      'GET /oidc/authorize with login_hint': async (side) => {
        const login_hint = await newAddress(side)
        return () => send(oidc.authorizePath({ login_hint }))
      },
      'GET /users/{userId} of another tenant': (side, sample) => () =>
        send(`/${tenant}/api/v1/users/${pick(ids[side], sample)}`, {
          headers: { authorization: `Bearer ${token}` },
        }),
    }
    await compareSides(operations)
  })
})
