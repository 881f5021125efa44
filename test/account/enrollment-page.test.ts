import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import { createCredentialEnrollmentToken } from '../../src/credentials/enrollment-tokens.ts'
import { ENROLLMENT_SCRIPT_PATH } from '../../src/pages/assets/enrollment-script.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { ctxFor, newTenant } from '../support/actors.ts'
import { dbFor } from '../support/database.ts'
import { test } from '../support/enrollment.ts'
import type { Json } from '../support/json.ts'
import { setClock } from '../support/passcodes.ts'

describe('GET /enroll', () => {
  test('shows the address of the user, with headers that prevent leaks and caching', async ({
    tenant,
    address,
    newToken,
    openPage,
  }) => {
    await updateSettings(createPlatformCtx(tenant), { friendlyName: 'Acme <b>' })
    const token = await newToken()
    const response = await openPage(token)
    expect(response.status).toBe(200)
    const html = await response.text()
    expect(html).toContain(address)
    expect(html).toContain('Acme &lt;b>')
    expect(html).toContain(`<script src="${ENROLLMENT_SCRIPT_PATH}" defer></script>`)
    expect(html.match(/<script/g)).toHaveLength(1)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'accept-ch': expect.stringContaining('Sec-CH-UA-Model'),
    })
    const policy = response.headers.get('content-security-policy') ?? ''
    expect(policy.split('; ')).toEqual(
      expect.arrayContaining([
        "default-src 'none'",
        "script-src 'self'",
        "connect-src 'self'",
        "frame-ancestors 'none'",
      ]),
    )
    expect(policy).not.toContain('unsafe')
  })

  test('does not redeem the token', async ({ newToken, openPage, enroll }) => {
    const token = await newToken()
    for (let i = 0; i < 3; i++) expect((await openPage(token)).status).toBe(200)
    expect((await enroll(token)).status).toBe(201)
  })

  test('loads a script that is cached as immutable', async ({ app }) => {
    const response = await app.fetch(ENROLLMENT_SCRIPT_PATH)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
    })
  })

  test('answers 410 with the same page for an unknown, used, expired or replaced token', async ({
    tenant,
    newToken,
    openPage,
    enroll,
  }) => {
    await updateSettings(createPlatformCtx(tenant), { supportUrl: 'https://help.example/' })
    const used = await newToken()
    await enroll(used)
    const replaced = await newToken()
    const expired = await newToken()
    const pages = [
      await openPage(used),
      await openPage(replaced),
      await openPage('unknown'),
      await openPage(''),
    ]
    setClock(Date.now() + 24 * 3_600_000)
    pages.push(await openPage(expired))
    expect(pages.map(({ status }) => status)).toEqual(pages.map(() => 410))
    const texts = new Set(
      await Promise.all(
        pages.map(async (one) => (await one.text()).replace(/"return_to" value="[^"]*"/, '')),
      ),
    )
    expect(texts.size).toBe(1)
    const [text] = texts
    expect(text).toContain('This link no longer works')
    expect(text).toContain('href="https://help.example/"')
  })
})

describe('POST /enroll/options', () => {
  test('returns the options of a passkey for this user, host and tenant', async ({
    tenant,
    newToken,
    post,
    enroll,
  }) => {
    await updateSettings(createPlatformCtx(tenant), { friendlyName: 'Acme' })
    const first = await newToken()
    await enroll(first)
    const [known] = await dbFor(tenant).credential.findMany({ where: { tenantId: tenant } })
    const { status, headers, body } = await post('options', { token: await newToken() })
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect(body).toMatchObject({
      rp: { id: 'localhost', name: 'Acme' },
      user: { name: `ada@${tenant}.example (Acme)`, displayName: 'Ada (Acme)', id: expect.any(String) },
      attestation: 'none',
      excludeCredentials: [{ id: known?.externalId, type: 'public-key', transports: ['internal'] }],
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    })
    expect(body.pubKeyCredParams.map(({ alg }: Json) => alg)).toEqual([-7, -8, -257])
    expect(Buffer.from(body.challenge, 'base64url')).toHaveLength(32)
    expect(Buffer.from(body.user.id, 'base64url')).toHaveLength(32)
  })

  test('returns the same user handle each time, and another one in another tenant', async ({
    userId,
    newToken,
    post,
    optionsFor,
  }) => {
    const handles = [
      (await optionsFor(await newToken())).user.id,
      (await optionsFor(await newToken())).user.id,
    ]
    expect(handles[0]).toBe(handles[1])
    const elsewhere = await newTenant()
    await dbFor(elsewhere).user.create({ data: { tenantId: elsewhere, id: userId } })
    const { token } = await createCredentialEnrollmentToken(await ctxFor(elsewhere), userId, { send: false })
    const { body } = await post('options', { token }, {}, elsewhere)
    expect(body.user.id).not.toBe(handles[0])
  })

  test('returns a new challenge each time', async ({ newToken, optionsFor }) => {
    const token = await newToken()
    expect((await optionsFor(token)).challenge).not.toBe((await optionsFor(token)).challenge)
  })
})
