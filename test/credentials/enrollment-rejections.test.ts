import { describe, expect, vi } from 'vitest'
import { type Ctx, createPlatformCtx } from '../../src/context/context.ts'
import { log } from '../../src/core/log.ts'
import { createCredentialEnrollmentToken } from '../../src/credentials/enrollment-tokens.ts'
import { setUserRoles } from '../../src/users/roles.ts'
import { createUser, deleteUser, lockUser, unlockUser, updateUser } from '../../src/users/users.ts'
import { newTenant } from '../support/actors.ts'
import { createCredential } from '../support/authenticator.ts'
import { type CredentialOptions, ENROLLMENT_GONE, test } from '../support/enrollment.ts'
import { setClock } from '../support/passcodes.ts'

describe('an enrollment token', () => {
  test('is rejected after an enrollment', async ({ newToken, post, enroll, credentials }) => {
    const token = await newToken()
    expect((await enroll(token)).status).toBe(201)
    expect(await post('options', { token })).toMatchObject(ENROLLMENT_GONE)
    const made = createCredential({ challenge: 'AAAA', rp: { id: 'localhost' } })
    expect(await post('credential', { token, response: made.response })).toMatchObject(ENROLLMENT_GONE)
    expect(await credentials()).toHaveLength(1)
  })

  type Given = { ctx: Ctx; userId: string; newToken: () => Promise<string> }
  /** Changes between the request for options and the response to them. */
  const changes: [string, (given: Given) => Promise<unknown>][] = [
    ['it has expired', async () => setClock(Date.now() + 24 * 3_600_000)],
    ['another one was issued', ({ newToken }) => newToken()],
    ['the user was locked', ({ ctx, userId }) => lockUser(ctx, userId)],
    [
      'the user was locked and unlocked',
      async ({ ctx, userId }) => [await lockUser(ctx, userId), await unlockUser(ctx, userId)],
    ],
    ['the user was deleted', ({ ctx, userId }) => deleteUser(ctx, userId)],
    [
      'the user was given a role that the issuer of the link does not have',
      ({ ctx, userId }) => setUserRoles(createPlatformCtx(ctx.tenant), userId, { roles: ['admin'] }),
    ],
  ]
  test.for(changes)(
    'is rejected when %s',
    async ([_what, change], { ctx, userId, newToken, openPage, post, optionsFor, countCredentials }) => {
      const token = await newToken()
      const made = createCredential(await optionsFor(token))
      await change({ ctx, userId, newToken })
      expect(await post('credential', { token, response: made.response })).toMatchObject(ENROLLMENT_GONE)
      expect(await post('options', { token })).toMatchObject(ENROLLMENT_GONE)
      expect((await openPage(token)).status).toBe(410)
      expect(await countCredentials()).toBe(0)
    },
  )

  test('is rejected when the user no longer has the address that its link was sent to', async ({
    tenant,
    ctx,
    userId,
    openPage,
    post,
    optionsFor,
  }) => {
    const { token } = await createCredentialEnrollmentToken(ctx, userId, {})
    const made = createCredential(await optionsFor(token))
    await updateUser(ctx, userId, { email: `right@${tenant}.example`, emailVerified: true })
    expect(await post('credential', { token, response: made.response })).toMatchObject(ENROLLMENT_GONE)
    expect((await openPage(token)).status).toBe(410)
  })

  test('is rejected by another tenant', async ({ newToken, openPage, post, enroll }) => {
    const token = await newToken()
    const elsewhere = await newTenant()
    expect(await post('options', { token }, {}, elsewhere)).toMatchObject(ENROLLMENT_GONE)
    expect((await openPage(token, elsewhere)).status).toBe(410)
    expect((await enroll(token)).status).toBe(201)
  })
})

describe('the response of an authenticator', () => {
  const wrong: [string, CredentialOptions][] = [
    ['from another origin', { origin: 'https://evil.example' }],
    ['from another port', { origin: 'http://localhost:3001' }],
    ['for another RP ID', { rpId: 'evil.example' }],
    ['when it is an assertion', { type: 'webauthn.get' }],
    ['without user verification', { flags: 0b0100_0001 }],
    ['without user presence', { flags: 0b0100_0100 }],
    [
      'with an attestation that names certificates',
      { fmt: 'packed', attStmt: new Map([['x5c', [new Uint8Array(9)]]]) },
    ],
    ['with an unknown attestation format', { fmt: 'fido-u2f' }],
    ['for another challenge', { challenge: Buffer.alloc(32).toString('base64url') }],
  ]
  test.for(wrong)('is rejected %s', async ([_what, over], { newToken, enroll, credentials }) => {
    const token = await newToken()
    expect(await enroll(token, over)).toMatchObject({ status: 400, body: { code: 'BAD_USER_INPUT' } })
    expect(await credentials()).toEqual([])
    // The challenge is spent, the token is not.
    expect((await enroll(token)).status).toBe(201)
  })

  test('is rejected with an attestation before its certificates are read, which would fetch URLs', async ({
    newToken,
    enroll,
  }) => {
    const reasons: unknown[] = []
    const spy = vi.spyOn(log, 'info').mockImplementation(((said: object) => reasons.push(said)) as never)
    await enroll(await newToken(), { fmt: 'packed', attStmt: new Map([['x5c', [new Uint8Array(9)]]]) })
    spy.mockRestore()
    expect(reasons).toEqual([{ reason: 'attestation of format packed' }])
  })

  test('is rejected for a challenge that was answered before, even by an invalid response', async ({
    newToken,
    post,
    optionsFor,
    credentials,
  }) => {
    const token = await newToken()
    const options = await optionsFor(token)
    const bad = createCredential(options, { origin: 'https://evil.example' })
    expect((await post('credential', { token, response: bad.response })).status).toBe(400)
    const good = createCredential(options)
    expect((await post('credential', { token, response: good.response })).status).toBe(400)
    expect(await credentials()).toEqual([])
  })

  test('is rejected for the challenge of another token', async ({
    ctx,
    newToken,
    post,
    optionsFor,
    credentials,
  }) => {
    const other = (await createUser(ctx, {})).id
    const [mine, theirs] = [await newToken(), await newToken(other)]
    await optionsFor(mine)
    const made = createCredential(await optionsFor(theirs))
    expect((await post('credential', { token: mine, response: made.response })).status).toBe(400)
    expect((await post('credential', { token: theirs, response: made.response })).status).toBe(201)
    expect([(await credentials()).length, (await credentials(other)).length]).toEqual([0, 1])
  })

  test('is rejected with a conflict for a credential id of another user', async ({
    ctx,
    newToken,
    enroll,
    credentials,
  }) => {
    const other = (await createUser(ctx, {})).id
    const credentialId = Buffer.alloc(16, 7)
    expect((await enroll(await newToken(other), { credentialId })).status).toBe(201)
    const token = await newToken()
    expect(await enroll(token, { credentialId })).toMatchObject({ status: 409, body: { code: 'CONFLICT' } })
    expect(await credentials()).toEqual([])
    expect((await enroll(token)).status).toBe(201)
  })

  test.for<[name: string, body: unknown]>([
    ['an empty object', {}],
    ['no response', { token: 'x' }],
    ['an empty response', { token: 'x', response: {} }],
    [
      'invalid client data',
      {
        token: 'x',
        response: {
          ...createCredential({ challenge: 'x', rp: {} }).response,
          response: { clientDataJSON: 'e30', attestationObject: 'oA' },
        },
      },
    ],
    ['a list', []],
    ['a token that is a number', { token: 1 }],
  ])('is rejected with BAD_USER_INPUT when the body is %s', async ([_what, body], { post }) => {
    expect(await post('credential', body)).toMatchObject({ status: 400, body: { code: 'BAD_USER_INPUT' } })
  })

  test('is rejected with 415 when it is sent as a form', async ({ app, tenant, newToken }) => {
    const text = await app.fetch(`/${tenant}/enroll/options`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `token=${await newToken()}`,
    })
    expect(text.status).toBe(415)
  })
})
