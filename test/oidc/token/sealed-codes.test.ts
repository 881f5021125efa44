import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { newId } from '../../../src/core/crypto.ts'
import { type CodeContents, sealCode, unsealCode } from '../../../src/oidc/token/sealed-codes.ts'

const KEY = randomBytes(32)
const buildContents = (more: Partial<CodeContents> = {}): CodeContents => ({
  grantId: newId('grant'),
  clientId: newId('client'),
  userId: newId('user'),
  sessionId: newId('session'),
  redirectUri: 'https://rp.example.com/callback',
  organizationId: null,
  defaultAudience: null,
  codeChallenge: 'c'.repeat(43),
  nonce: 'nöncé 🔑',
  scopes: ['openid', 'offline_access'],
  resources: ['https://api.example.com'],
  claims: { userinfo: {}, id_token: { acr: { values: ['urn:a'] } } },
  dpopJkt: 'j'.repeat(43),
  authenticatedAt: new Date('2026-01-02T03:04:05.678Z'),
  amr: ['otp'],
  codeGeneration: 3,
  expiresAt: new Date('2026-01-02T03:05:05.678Z'),
  ...more,
})

describe('an authorization code', () => {
  test('has the contents that were sealed', () => {
    const contents = buildContents()
    expect(unsealCode(KEY, sealCode(KEY, contents))).toEqual(contents)
    const plain = buildContents({
      codeChallenge: null,
      nonce: null,
      claims: null,
      dpopJkt: null,
      resources: [],
    })
    expect(unsealCode(KEY, sealCode(KEY, plain))).toEqual(plain)
  })

  test('shows the id of its grant and nothing else of its contents', () => {
    const contents = buildContents()
    const code = sealCode(KEY, contents)
    const [id, body = ''] = code.split('.')
    expect(id).toBe(contents.grantId)
    const bytes = Buffer.from(body, 'base64url').toString('latin1')
    for (const hidden of [contents.userId, contents.sessionId, contents.redirectUri, 'openid'])
      expect([code.includes(hidden), bytes.includes(hidden)]).toEqual([false, false])
  })

  test('consists of unreserved characters, about 500 of them', () => {
    const code = sealCode(KEY, buildContents({ claims: null, dpopJkt: null, resources: [] }))
    expect(code).toMatch(/^[A-Za-z0-9._-]+$/)
    expect(code.length).toBeLessThan(520)
  })

  test('is not accepted with one bit changed, with another grant, or with the key of another tenant', () => {
    const code = sealCode(KEY, buildContents())
    const [id = '', body = ''] = code.split('.')
    const bytes = Buffer.from(body, 'base64url')
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = Buffer.from(bytes)
      changed[bit >> 3] = (changed[bit >> 3] as number) ^ (1 << (bit & 7))
      expect(unsealCode(KEY, `${id}.${changed.toString('base64url')}`)).toBeNull()
    }
    expect(unsealCode(KEY, `${newId('grant')}.${body}`)).toBeNull()
    expect(unsealCode(randomBytes(32), code)).toBeNull()
  })

  test.for([
    '',
    '.',
    'grant_01h455vb4pex5vsknk084sn02q.',
    'x'.repeat(43),
    `grant_01h455vb4pex5vsknk084sn02q.${'A'.repeat(22)}`,
  ])('is not %j', (text) => {
    expect(unsealCode(KEY, text)).toBeNull()
  })
})
