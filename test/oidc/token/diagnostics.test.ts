import { describe, expect } from 'vitest'
import { sha256Base64url } from '../../../src/core/crypto.ts'
import { alterCode } from '../../support/codes.ts'
import { sql } from '../../support/database.ts'
import { test } from '../../support/diagnostics.ts'
import { REDIRECT_URI, VERIFIER } from '../../support/protocol.ts'

describe('a rejected token request', () => {
  test('records when the code expired and how late it came', async ({ tenant, visitor, expectRejection }) => {
    const code = await alterCode(tenant, await visitor.newCode(), {
      expiresAt: new Date(Date.now() - 40_000),
    })
    expect(await expectRejection(code)).toMatchObject({
      endpoint: 'token',
      reason: 'the code has expired',
      expired_at: expect.stringMatching(/^\d{4}-/),
      seconds_late: expect.any(Number),
    })
  })

  test('records that the code was used before, and when', async ({ oidc, visitor, expectRejection }) => {
    const code = await visitor.newCode()
    expect((await oidc.exchange(code)).status).toBe(200)
    expect(await expectRejection(code)).toMatchObject({
      reason: expect.stringContaining('used before'),
      used_at: expect.stringMatching(/^\d{4}-/),
    })
  })

  test('records that the code was issued to another client, or that it is unknown', async ({
    newClient,
    client,
    visitor,
    expectRejection,
  }) => {
    const other = await newClient()
    expect(await expectRejection(await visitor.newCode(), {}, other)).toMatchObject({ issued_to: client.id })
    expect(await expectRejection('x'.repeat(43))).toMatchObject({
      reason: expect.stringContaining('the code is unknown'),
    })
  })

  test('records where the redirect_uri differs', async ({ visitor, expectRejection }) => {
    expect(
      await expectRejection(await visitor.newCode(), { redirect_uri: `${REDIRECT_URI}/` }),
    ).toMatchObject({
      expected: REDIRECT_URI,
      given: `${REDIRECT_URI}/`,
      difference: 'path: expected "/cb", got "/cb/"',
    })
  })

  test('records the computed code_challenge, and no code_verifier', async ({ visitor, expectRejection }) => {
    const diagnostics = await expectRejection(await visitor.newCode(), { code_verifier: `${VERIFIER}-other` })
    expect(diagnostics).toMatchObject({
      expected_challenge: sha256Base64url(VERIFIER),
      computed_challenge: sha256Base64url(`${VERIFIER}-other`),
    })
    expect(JSON.stringify(diagnostics)).not.toContain(VERIFIER)
    expect(
      await expectRejection(await visitor.newCode({ code_challenge: null, code_challenge_method: null })),
    ).toMatchObject({
      reason: expect.stringContaining('no code_challenge'),
    })
  })

  test('records why a refresh token is not valid', async ({
    newClient,
    client,
    oidc,
    visitor,
    listRejections,
  }) => {
    const tokens = await oidc.exchange(await visitor.newCode({ scope: 'openid offline_access' }))
    const first = tokens.body.refresh_token as string
    const readDiagnostics = async (answer: Awaited<ReturnType<typeof oidc.refresh>>) => {
      expect(answer.status).toBe(400)
      const [refusal] = await listRejections(answer)
      expect(JSON.stringify(refusal)).not.toContain(first)
      return refusal?.detail
    }
    const other = await newClient()
    expect(await readDiagnostics(await oidc.refresh(first, {}, other))).toMatchObject({
      issued_to: client.id,
    })
    expect(await readDiagnostics(await oidc.refresh(`${first}x`))).toMatchObject({
      reason: expect.stringContaining('truncated or altered'),
    })
    expect(await readDiagnostics(await oidc.refresh(first, { scope: 'openid phone' }))).toMatchObject({
      error: 'invalid_scope',
      granted: 'openid offline_access',
      requested: 'openid phone',
    })
    const second = await oidc.refresh(first)
    await oidc.refresh(second.body.refresh_token as string)
    expect(await readDiagnostics(await oidc.refresh(first))).toMatchObject({
      reason: expect.stringContaining('an older refresh token was used more than'),
      generation: 0,
    })
    expect(await readDiagnostics(await oidc.refresh(first))).toMatchObject({
      reason: 'the grant was revoked',
      revoked_at: expect.stringMatching(/^\d{4}-/),
    })
  })

  test('records how the client authentication failed, and no secret', async ({
    client,
    oidc,
    listRejections,
  }) => {
    const secret = 'not-the-secret-of-this-client'
    const answer = await oidc.token({ grant_type: 'authorization_code' }, { id: client.id, secret })
    expect(answer.body.error).toBe('invalid_client')
    const [rejection] = await listRejections(answer)
    expect(rejection).toMatchObject({ type: 'token.refused', subjectIds: [client.id] })
    expect(rejection?.detail.reason).toMatch(/secret/)
    expect(JSON.stringify(rejection)).not.toContain(secret)
  })

  test('records neither secret nor assertion that is sent in the wrong parameter', async ({
    client,
    oidc,
    listRejections,
  }) => {
    const swapped = await oidc.token(
      { grant_type: 'authorization_code' },
      { id: client.secret, secret: client.id },
    )
    expect(swapped.body.error).toBe('invalid_client')
    const assertion = 'eyJhbGciOiJFUzI1NiJ9.e30.c2lnbmF0dXJl'
    const misplaced = await oidc.token(
      {
        grant_type: 'authorization_code',
        client_id: client.id,
        client_assertion_type: assertion,
        client_assertion: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      },
      null,
    )
    expect(misplaced.body.error).toBe('invalid_client')
    const recorded = JSON.stringify([await listRejections(swapped), await listRejections(misplaced)])
    expect(recorded).not.toContain(client.secret)
    expect(recorded).not.toContain(assertion)
  })

  test('records an unknown grant_type', async ({ oidc, listRejections }) => {
    const answer = await oidc.token({ grant_type: 'password' })
    expect(answer.body.error_description).not.toContain('password')
    expect(await listRejections(answer)).toMatchObject([
      { detail: { error: 'unsupported_grant_type', given: 'password' } },
    ])
  })

  test('records no event for a device that polls', async ({ app, tenant, newClient, oidc }) => {
    const device = await newClient({ appType: 'native', callbacks: ['com.example.tv:/cb'] })
    const form = new URLSearchParams({ client_id: device.id, scope: 'openid' })
    const started = await app.fetch(`/${tenant}/oidc/device`, { method: 'POST', body: form })
    const { device_code } = (await started.json()) as { device_code: string }
    const poll = () =>
      oidc.token(
        {
          grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
          device_code,
        },
        device,
      )
    expect((await poll()).body.error).toBe('authorization_pending')
    expect((await poll()).body.error).toBe('slow_down')
    const [row] = await sql<{ count: number }>(
      `SELECT count(*)::int AS "count" FROM "Event" WHERE "tenantId" = $1 AND "actorClientId" = $2 AND "type" LIKE '%.refused'`,
      [tenant, device.id],
    )
    expect(row?.count).toBe(0)
  })
})
