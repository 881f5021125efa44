import { describe, expect, test } from 'vitest'
import {
  buildTotpUri,
  createTotpSecret,
  matchTimeStep,
  renderQrCode,
} from '../../src/credentials/second-factors/totp.ts'
import { computeTotp } from '../support/totp.ts'

/** The key of RFC 6238, appendix B: the ASCII text 12345678901234567890. */
const RFC_SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
/** Times in seconds, and the last six digits of their codes with SHA-1. */
const RFC_VECTORS: [number, string][] = [
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_111_111_111, '050471'],
  [1_234_567_890, '005924'],
  [2_000_000_000, '279037'],
  [20_000_000_000, '353130'],
]
const at = (seconds: number) => new Date(seconds * 1000)

describe('matchTimeStep', () => {
  test.each(RFC_VECTORS)('accepts the code of RFC 6238, appendix B, at %s s', (seconds, code) => {
    expect(matchTimeStep(RFC_SECRET, code, at(seconds))).toBe(Math.floor(seconds / 30))
  })

  test('accepts a code one time step early or late, and reports its own step', () => {
    const code = computeTotp(RFC_SECRET, at(3000))
    expect([2970, 3000, 3029, 3059].map((now) => matchTimeStep(RFC_SECRET, code, at(now)))).toEqual([
      100, 100, 100, 100,
    ])
    expect([2969, 3060].map((now) => matchTimeStep(RFC_SECRET, code, at(now)))).toEqual([null, null])
  })

  test('accepts the spaces that apps show, and no other text', () => {
    const code = computeTotp(RFC_SECRET, at(3000))
    expect(matchTimeStep(RFC_SECRET, ` ${code.slice(0, 3)} ${code.slice(3)} `, at(3000))).toBe(100)
    for (const text of ['', code.slice(1), `${code}0`, 'abcdef', `-${code.slice(1)}`, '٠٠٠٠٠٠'])
      expect(matchTimeStep(RFC_SECRET, text, at(3000))).toBeNull()
  })
})

describe('a new key', () => {
  test('has 160 random bits in base32', () => {
    const secrets = Array.from({ length: 20 }, createTotpSecret)
    for (const secret of secrets) expect(secret).toMatch(/^[A-Z2-7]{32}$/)
    expect(new Set(secrets).size).toBe(20)
  })

  test('is in an otpauth URI with issuer and account, whatever characters they have', () => {
    const uri = new URL(
      buildTotpUri(RFC_SECRET, { issuer: 'Ac:me & Sons', accountName: 'ada+x@example.com' }),
    )
    expect(uri.protocol).toBe('otpauth:')
    expect(decodeURIComponent(uri.pathname)).toMatch(/Ac me & Sons:ada\+x@example\.com$/)
    expect(Object.fromEntries(uri.searchParams)).toEqual({
      issuer: 'Ac me & Sons',
      secret: RFC_SECRET,
      algorithm: 'SHA1',
      digits: '6',
      period: '30',
    })
  })

  test('is a QR code of plain SVG', () => {
    const svg = renderQrCode(buildTotpUri(RFC_SECRET, { issuer: 'Acme', accountName: 'ada@example.com' }))
    expect(svg).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"[^>]*>[\s\S]*<\/svg>$/)
    expect(svg).not.toMatch(/script|href|style/)
    expect(svg.length).toBeLessThan(7000)
  })
})
