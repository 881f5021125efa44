import { decodeJwt } from 'jose'
import { describe, expect } from 'vitest'
import { createNonce } from '../../src/access/dpop/dpop-nonces.ts'
import { decide, pollWith, startDevice } from '../support/device-flow.ts'
import { test } from '../support/dpop.ts'
import { makeProof } from '../support/proofs.ts'
import { answerIn } from '../support/protocol.ts'

describe('codes and refresh tokens that are bound to a key (RFC 9449, sections 5 and 10)', () => {
  test('a code requested with dpop_jkt is redeemed by that key only', async ({
    client,
    prover,
    newCode,
    redeem,
  }) => {
    const code = await newCode(client, { dpop_jkt: prover.key.thumbprint })
    for (const proof of [await prover.prove({}, {}, prover.otherKey), null])
      expect(await redeem(client, code, proof)).toMatchObject({
        status: 400,
        body: { error: 'invalid_grant' },
      })
    expect(await redeem(client, code, await prover.prove())).toMatchObject({
      status: 200,
      body: { token_type: 'DPoP' },
    })
  })

  test.for(['x', 'A'.repeat(44), 'A'.repeat(42), `${'A'.repeat(42)}=`])(
    'the authorization endpoint rejects the dpop_jkt %s',
    async (jkt, { oidc, signedIn }) => {
      const response = await signedIn.fetch(oidc.authorizePath({ prompt: 'none', dpop_jkt: jkt }))
      expect(answerIn(response.headers.get('location')).error).toBe('invalid_request')
    },
  )

  test('a request pushed with a proof binds its code (section 10.1)', async ({
    app,
    tenant,
    client,
    oidc,
    prover,
    signedIn,
    redeem,
  }) => {
    const push = async (more: Record<string, string> = {}, by = prover.key) => {
      const url = `${prover.issuer}/oidc/par`
      const asked = new URL(oidc.authorizePath({ prompt: 'none', ...more }), prover.issuer).searchParams
      asked.set('client_secret', client.secret)
      const response = await fetch(`${app.origin}/${tenant}/oidc/par`, {
        method: 'POST',
        headers: { dpop: await makeProof(by, { method: 'POST', url, nonce: createNonce() }) },
        body: asked,
      })
      return (await response.json()) as Record<string, string>
    }
    expect((await push({ dpop_jkt: prover.key.thumbprint }, prover.otherKey)).error).toBe('invalid_request')
    const { request_uri = '' } = await push()
    const query = new URLSearchParams({ client_id: client.id, request_uri })
    const response = await signedIn.fetch(`/${tenant}/oidc/authorize?${query}`)
    const { code = '' } = answerIn(response.headers.get('location'))
    for (const proof of [await prover.prove({}, {}, prover.otherKey), null])
      expect(await redeem(client, code, proof)).toMatchObject({
        status: 400,
        body: { error: 'invalid_grant' },
      })
    expect(await redeem(client, code, await prover.prove())).toMatchObject({ status: 200 })
  })

  test('the tokens of a device are bound to its key', async ({
    app,
    tenant,
    newClient,
    oidc,
    prover,
    signedIn,
  }) => {
    const tv = await newClient({ appType: 'native', callbacks: [] })
    const { body: device } = await startDevice(app, tenant, tv)
    await decide(signedIn, tenant, device.user_code as string, 'allow')
    const poll = { dpop: await prover.prove() }
    const { status, body } = await pollWith(app, tenant, tv, device.device_code as string, {}, poll)
    expect([status, body.token_type]).toEqual([200, 'DPoP'])
    expect(decodeJwt(body.access_token as string).cnf).toEqual({ jkt: prover.key.thumbprint })
    const rejected = await oidc.refresh(body.refresh_token as string, {}, tv)
    expect(rejected).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
  })

  test('the refresh token of a public client is bound to the key', async ({
    spa,
    oidc,
    prover,
    ask,
    issueBoundTokens,
  }) => {
    const { refresh_token: token = '' } = await issueBoundTokens(spa)
    const form = { grant_type: 'refresh_token', refresh_token: token }
    const other = await ask(await prover.prove({}, {}, prover.otherKey), form, spa)
    expect(other).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    const none = await oidc.refresh(token, {}, spa)
    expect(none).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    // Neither attempt revoked the grant.
    expect(await ask(await prover.prove(), form, spa)).toMatchObject({ status: 200 })
  })

  test('the refresh token of a confidential client may change its key', async ({
    client,
    prover,
    ask,
    issueBoundTokens,
  }) => {
    const { refresh_token: token = '' } = await issueBoundTokens(client)
    const form = { grant_type: 'refresh_token', refresh_token: token }
    const { status, body } = await ask(await prover.prove({}, {}, prover.otherKey), form, client)
    expect(status).toBe(200)
    expect(decodeJwt(body.access_token as string).cnf).toEqual({ jkt: prover.otherKey.thumbprint })
  })
})
