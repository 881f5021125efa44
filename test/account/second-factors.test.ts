import { describe, expect } from 'vitest'
import { STEP_UP_MAX_AGE_SECONDS } from '../../src/account/step-up.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { sha256 } from '../../src/core/crypto.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { lockUser } from '../../src/users/users.ts'
import { test as base, type SignedInPerson, setSignInAge } from '../support/account.ts'
import { dbFor } from '../support/database.ts'
import { computeTotp, computeWrongTotp } from '../support/totp.ts'

const TOTP = '... on CreateViewerTotpPayload { token secret uri qrCode }'
const CREDENTIAL = '... on ConfirmViewerTotpPayload { credential { id type publicKey device { hash } } }'
const CODES = '... on CreateViewerRecoveryCodesPayload { credential { id type } codes }'
const LIST = '{ viewer { user { credentials { nodes { id type } } } } }'

const test = base
  .extend(
    'start',
    ({ mutate }) =>
      (by: SignedInPerson) =>
        mutate(by, 'createViewerTotp', {}, TOTP),
  )
  .extend(
    'confirm',
    ({ mutate }) =>
      (by: SignedInPerson, input: object) =>
        mutate(by, 'confirmViewerTotp', input, CREDENTIAL),
  )
  .extend('enroll', ({ start, confirm }) => async (by: SignedInPerson) => {
    const { token, secret } = await start(by)
    const { credential } = await confirm(by, { token, code: computeTotp(secret) })
    return { id: credential.id as string, secret: secret as string, token: token as string }
  })
  .extend(
    'generate',
    ({ mutate }) =>
      (by: SignedInPerson, input: object = {}) =>
        mutate(by, 'createViewerRecoveryCodes', input, CODES),
  )
  .extend('types', ({ gql }) => async ({ token }: SignedInPerson) => {
    const { body } = await gql(LIST, {}, { token })
    return body.data.viewer.user.credentials.nodes.map(({ type }: { type: string }) => type)
  })

describe('createViewerTotp and confirmViewerTotp', () => {
  test('enroll an authenticator app, which counts after its first code only', async ({
    tenant,
    signedIn,
    start,
    confirm,
    types,
    events,
  }) => {
    const started = await start(signedIn)
    expect(started.uri).toContain(`secret=${started.secret}`)
    expect(decodeURIComponent(started.uri)).toContain(signedIn.email)
    expect(started.qrCode).toMatch(/^<svg /)
    expect(await types(signedIn)).toEqual([])
    const { token, secret } = started
    expect(await confirm(signedIn, { token, code: computeWrongTotp(secret) })).toMatchObject({
      code: 'INVALID_CREDENTIAL',
    })
    expect(await types(signedIn)).toEqual([])
    const { credential } = await confirm(signedIn, { token, code: computeTotp(secret) })
    expect(credential).toEqual({ id: expect.any(String), type: 'TOTP', publicKey: null, device: null })
    expect(await types(signedIn)).toEqual(['TOTP'])
    const recorded = await events({ type: 'credential.enrolled', userId: signedIn.userId })
    expect(recorded).toMatchObject([{ subjectIds: [credential.id], detail: { type: 'totp' } }])
    expect(JSON.stringify(recorded)).not.toContain(secret)
    const row = await dbFor(tenant).credential.findFirstOrThrow({
      where: { tenantId: tenant, id: credential.id },
    })
    expect(row.secret).not.toContain(secret)
    expect(row).toMatchObject({ externalId: null, byManagement: false })
  })

  test('replace the app of the user, and revoke the earlier one', async ({
    signedIn,
    enroll,
    types,
    events,
  }) => {
    const first = await enroll(signedIn)
    const second = await enroll(signedIn)
    expect(second.id).not.toBe(first.id)
    expect(await types(signedIn)).toEqual(['TOTP'])
    expect(await events({ type: 'credential.revoked', userId: signedIn.userId })).toMatchObject([
      { subjectIds: [first.id], detail: { type: 'totp' } },
    ])
  })

  test('accept a token once of twenty confirmations at once', async ({
    signedIn,
    start,
    confirm,
    events,
  }) => {
    const { token, secret } = await start(signedIn)
    const input = { token, code: computeTotp(secret) }
    const results = await Promise.all(Array.from({ length: 20 }, () => confirm(signedIn, input)))
    expect(results.filter(({ credential }) => credential)).toHaveLength(1)
    expect(results.filter(({ code }) => code === 'INVALID_CREDENTIAL')).toHaveLength(19)
    expect(await events({ type: 'credential.enrolled', userId: signedIn.userId })).toHaveLength(1)
  })

  test('reject the token of another session or user, and an altered one', async ({
    newSignedIn,
    signedIn,
    start,
    confirm,
  }) => {
    const { token, secret } = await start(signedIn)
    const code = computeTotp(secret)
    const field = { fields: [{ field: 'token' }] }
    expect(await confirm(await newSignedIn(), { token, code })).toMatchObject(field)
    expect(await confirm(signedIn, { token: `${token.slice(0, -2)}AA`, code })).toMatchObject(field)
    expect(await confirm(signedIn, { token: 'x', code: '' })).toMatchObject({ fields: [{ field: 'code' }] })
    expect(await confirm(signedIn, { token, code })).toMatchObject({ credential: { type: 'TOTP' } })
  })

  test('enroll nothing for a user who is locked in between', async ({ tenant, signedIn, start, confirm }) => {
    const { token, secret } = await start(signedIn)
    await lockUser(createPlatformCtx(tenant), signedIn.userId)
    await confirm(signedIn, { token, code: computeTotp(secret) })
    const count = await dbFor(tenant).credential.count({
      where: { tenantId: tenant, userId: signedIn.userId },
    })
    expect(count).toBe(0)
  })
})

describe('step-up in a tenant that requires two factors', () => {
  test('rejects a token of one factor, names the acr, and accepts one of two', async ({
    tenant,
    ctx,
    newSignedIn,
    enroll,
    start,
  }) => {
    const holder = await newSignedIn()
    await enroll(holder)
    await updateSettings(ctx, { secondFactor: 'required' })
    try {
      expect(await start(holder)).toMatchObject({
        code: 'FORBIDDEN',
        message: expect.stringContaining('max_age=900 and acr_values=urn:vestibule:mfa'),
        maxAgeSeconds: STEP_UP_MAX_AGE_SECONDS,
        acrValues: 'urn:vestibule:mfa',
      })
      await dbFor(tenant).grant.updateMany({
        where: { tenantId: tenant, sessionId: holder.sessionId },
        data: { amr: ['otp', 'mfa'] },
      })
      expect(await start(holder)).toMatchObject({ __typename: 'CreateViewerTotpPayload' })
    } finally {
      await updateSettings(ctx, { secondFactor: null })
    }
  })
})

describe('createViewerRecoveryCodes', () => {
  test('creates ten codes, which are stored as hashes and replaced as a set', async ({
    tenant,
    signedIn,
    enroll,
    generate,
    types,
    events,
  }) => {
    expect(await generate(signedIn)).toMatchObject({ code: 'CONFLICT' })
    await enroll(signedIn)
    const first = await generate(signedIn)
    expect(first.codes).toHaveLength(10)
    for (const code of first.codes) expect(code).toMatch(/^([0-9a-hjkmnp-tv-z]{4}-){3}[0-9a-hjkmnp-tv-z]{4}$/)
    expect(new Set(first.codes).size).toBe(10)
    expect(await generate(signedIn)).toMatchObject({ code: 'CONFLICT' })
    const second = await generate(signedIn, { replace: true })
    expect(second.codes.filter((code: string) => first.codes.includes(code))).toEqual([])
    expect(await types(signedIn)).toEqual(['TOTP', 'RECOVERY_CODES'])
    const row = await dbFor(tenant).credential.findFirstOrThrow({
      where: { tenantId: tenant, userId: signedIn.userId, type: 'recovery-codes' },
    })
    expect(row).toMatchObject({ id: second.credential.id, secret: null })
    expect(row.codeHashes).toHaveLength(10)
    expect(row.codeHashes.map((hash) => Buffer.from(hash))).not.toContainEqual(sha256(second.codes[0]))
    const log = JSON.stringify(await events({ userId: signedIn.userId }))
    for (const code of [...first.codes, ...second.codes]) expect(log).not.toContain(code)
  })
})

describe('the second factors of the viewer', () => {
  test('are removed by the user without a verified address', async ({
    tenant,
    signedIn,
    enroll,
    mutate,
    types,
  }) => {
    const { id } = await enroll(signedIn)
    await dbFor(tenant).user.update({
      where: { tenantId_id: { tenantId: tenant, id: signedIn.userId } },
      data: { emailVerified: false },
    })
    await mutate(signedIn, 'revokeViewerCredential', { credentialId: id })
    expect(await types(signedIn)).toEqual([])
  })

  test('are unchanged when the sign-in is older than 15 minutes', async ({
    tenant,
    signedIn,
    enroll,
    start,
    confirm,
    generate,
    types,
  }) => {
    await enroll(signedIn)
    const { token, secret } = await start(signedIn)
    await setSignInAge(tenant, signedIn, STEP_UP_MAX_AGE_SECONDS + 5)
    const tooOld = { code: 'FORBIDDEN', maxAgeSeconds: STEP_UP_MAX_AGE_SECONDS, acrValues: null }
    expect(await start(signedIn)).toMatchObject(tooOld)
    expect(await confirm(signedIn, { token, code: computeTotp(secret) })).toMatchObject(tooOld)
    expect(await generate(signedIn)).toMatchObject(tooOld)
    expect(await types(signedIn)).toEqual(['TOTP'])
  })

  test('are listed and revoked by administrators on both surfaces, without their secrets', async ({
    rest,
    gql,
    signedIn,
    enroll,
    generate,
    types,
  }) => {
    const { id, secret } = await enroll(signedIn)
    const { credential, codes } = await generate(signedIn)
    const list = await rest('GET', `/users/${signedIn.userId}/credentials`)
    expect(list.body.credentials).toMatchObject([
      { id, type: 'totp', publicKey: null },
      { id: credential.id, type: 'recovery-codes', publicKey: null },
    ])
    const one = await rest('GET', `/credentials/${id}`)
    expect(Object.keys(one.body)).toEqual(Object.keys(list.body.credentials[0]))
    const text = JSON.stringify([list.body, one.body])
    for (const hidden of [secret, ...codes]) expect(text).not.toContain(hidden)
    const document = `mutation { revokeCredential(input: {credentialId: "${credential.id}"}) { __typename } }`
    expect((await gql(document)).body.data.revokeCredential.__typename).toBe('RevokeCredentialPayload')
    expect((await rest('DELETE', `/credentials/${id}`)).status).toBe(200)
    expect(await types(signedIn)).toEqual([])
  })
})
