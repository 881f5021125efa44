import { describe, expect } from 'vitest'
import { createNonce, getNonceStatus } from '../../src/access/dpop/dpop-nonces.ts'
import { MACHINE, test, toMinutesAgo, UNCONVERTIBLE } from '../support/dpop.ts'
import { makeAssertion } from '../support/proofs.ts'

describe('nonces (RFC 9449, section 8)', () => {
  test.for<[string, () => unknown]>([
    ['no nonce', () => undefined],
    ['an unknown nonce', () => 'x'],
    ['a nonce that is not a string', () => UNCONVERTIBLE],
    [
      'a nonce with another mac',
      () => `${createNonce().slice(0, -1)}${createNonce().endsWith('A') ? 'Q' : 'A'}`,
    ],
    ['a nonce with a changed time', () => createNonce().replace(/^[^.]+/, 'zzzzzz')],
    ['a nonce that has expired', () => createNonce(toMinutesAgo(7))],
    ['a nonce of a future minute', () => createNonce(toMinutesAgo(-3))],
  ])(
    'a proof with %s is rejected with a valid nonce',
    async ([_name, nonce], { prover, ask, findDiagnostics }) => {
      const answer = await ask(await prover.prove({ nonce: nonce() }))
      expect(answer).toMatchObject({ status: 400, body: { error: 'use_dpop_nonce' } })
      // A missing nonce is not an error and is not recorded.
      expect(await findDiagnostics(answer)).toBeUndefined()
      const given = answer.headers.get('dpop-nonce') as string
      expect(await ask(await prover.prove({ nonce: given }))).toMatchObject({ status: 200 })
    },
  )

  test('a valid nonce is accepted; the response to an older one has a new nonce', async ({ prover, ask }) => {
    // The clock of another process may be ahead.
    const fresh = await ask(await prover.prove({ nonce: createNonce(toMinutesAgo(-1)) }))
    expect([fresh.status, fresh.headers.get('dpop-nonce')]).toEqual([200, null])
    for (const minutes of [2, 4]) {
      const older = await ask(await prover.prove({ nonce: createNonce(toMinutesAgo(minutes)) }))
      expect(older.status).toBe(200)
      expect(getNonceStatus(older.headers.get('dpop-nonce') ?? '')).toBe('current')
    }
  })

  test('a nonce is valid for five to six minutes', () => {
    const standings = (made: string, seconds: number[]) => {
      const nonce = createNonce(new Date(made))
      return seconds.map((after) => getNonceStatus(nonce, new Date(Date.parse(made) + after * 1000)))
    }
    const first = standings('2026-01-01T00:00:00.000Z', [0, 59, 61, 359, 361])
    expect(first).toEqual(['current', 'current', 'ageing', 'ageing', 'stale'])
    expect(standings('2026-01-01T00:00:59.999Z', [0, 1, 300, 301])).toEqual([
      'current',
      'ageing',
      'ageing',
      'stale',
    ])
    // The clock of this process may be late.
    expect(standings('2026-01-01T00:00:00.000Z', [-60, -61])).toEqual(['current', 'foreign'])
  })

  test('a client assertion is not consumed by a request that needs a nonce', async ({
    newClient,
    oidc,
    prover,
  }) => {
    const client = await newClient({ ...MACHINE, jwks: { keys: [prover.key.jwk] } })
    const form = {
      grant_type: 'client_credentials',
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: await makeAssertion(prover.key, { clientId: client.id, audience: prover.issuer }),
    }
    const send = async (proof: string) => oidc.token(form, null, { dpop: proof })
    expect((await send(await prover.prove({ nonce: undefined }))).body.error).toBe('use_dpop_nonce')
    expect(await send(await prover.prove())).toMatchObject({ status: 200, body: { token_type: 'DPoP' } })
  })
})
