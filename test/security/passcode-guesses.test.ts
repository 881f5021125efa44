import { describe, expect } from 'vitest'
import { RATE_LIMITS } from '../../src/coordination/rate-limits.ts'
import { RateLimited } from '../../src/core/errors.ts'
import type { SqlValues } from '../../src/database/prepared-query.ts'
import { authenticatePasscode } from '../../src/passcodes/authenticate-passcode.ts'
import { hashCode } from '../../src/passcodes/passcode-hash.ts'
import { verifySignInPasscode } from '../../src/passcodes/passcodes.ts'
import { sql } from '../support/database.ts'
import { test } from '../support/passcode-guesses.ts'
import { openSocket } from '../support/streams.ts'
import { VISIT } from '../support/visit.ts'

const toGuess = (i: number, to: string) =>
  `g${i}: authenticatePasscode(input: { to: "${to}", code: "${String(i).padStart(6, '0')}" }) { __typename }`

describe('a GraphQL request with several guesses', () => {
  test('evaluates none of them: aliases, fragments, operations, a batch, a socket', async ({
    app,
    tenant,
    token,
    gql,
    sendCode,
    countGuesses,
  }) => {
    const to = await sendCode('alias')
    const documents = [
      `mutation { ${toGuess(1, to)} ${toGuess(2, to)} }`,
      `mutation { ${Array.from({ length: 100 }, (_, i) => toGuess(i, to)).join(' ')} }`,
      `mutation { ...A ...B } fragment A on Mutation { ${toGuess(1, to)} } fragment B on Mutation { ${toGuess(2, to)} }`,
      `mutation { ... { ${toGuess(1, to)} } ... on Mutation { ${toGuess(2, to)} } }`,
      `mutation ($no: Boolean = false) { ${toGuess(1, to)} ... @skip(if: $no) { ${toGuess(2, to)} } }`,
    ]
    for (const document of documents) {
      const { status, body } = await gql(document)
      expect([status, body.data]).toEqual([200, undefined])
      expect(body.errors?.length).toBeGreaterThan(0)
    }
    const operations = [`mutation A { ${toGuess(1, to)} }`, `mutation B { ${toGuess(2, to)} }`]
    expect((await gql(operations.join(' '))).body.data).toBeUndefined()
    const batch = await app.fetch(`/${tenant}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify(operations.map((query) => ({ query }))),
    })
    expect(batch.status).toBe(400)
    const socket = openSocket(`${app.origin.replace('http', 'ws')}/${tenant}/graphql`, token)
    const result = await socket
      .iterate({ query: documents[0] ?? '' })
      .next()
      .then(
        ({ value }) => value,
        (error: unknown) => ({ errors: error }),
      )
    expect(result).toMatchObject({ errors: expect.anything() })
    expect(result).not.toHaveProperty('data')
    await socket.dispose()
    expect(await countGuesses(to)).toBe(0)
  })

  test('evaluates a fragment that is spread twice at most once', async ({ gql, sendCode, countGuesses }) => {
    const to = await sendCode('twice')
    await gql(`mutation { ...A ...A } fragment A on Mutation { ${toGuess(1, to)} }`)
    expect(await countGuesses(to)).toBeLessThanOrEqual(1)
  })
})

describe('parallel guesses', () => {
  test('share five attempts over REST and GraphQL, and five on the hosted page', async ({
    rest,
    gql,
    sendCode,
    countGuesses,
    openSignIn,
  }) => {
    const to = await sendCode('burst')
    const page = await openSignIn()
    await page.enterAddress(to)
    await Promise.all(
      Array.from({ length: 20 }, (_, i) => {
        const code = `x${String(i).padStart(5, '0')}`
        return [
          rest('POST', '/passcodes/authenticate', { to, code }),
          gql(`mutation { authenticatePasscode(input: { to: "${to}", code: "${code}" }) { __typename } }`),
          page.enterCode(code),
        ]
      }).flat(),
    )
    // Ten attempts, of which nine are allowed at codes of six digits.
    expect(await countGuesses(to)).toBe(9)
  })

  test('from one network at many addresses share the limit of the network', async ({ ctx, email }) => {
    const visitor = { ...ctx, actor: { kind: 'anonymous' } as const, ip: '198.51.100.7' }
    const guesses = await Promise.allSettled(
      Array.from({ length: RATE_LIMITS.authenticatePasscode.points + 20 }, (_, i) =>
        verifySignInPasscode(visitor, email(`victim${i}`), '000000', VISIT),
      ),
    )
    const limited = guesses.filter((one) => one.status === 'rejected' && one.reason instanceof RateLimited)
    expect(limited).toHaveLength(20)
    // A backend that passes on the address of its user is counted by that address.
    const input = { to: email('victim'), code: '000000', metadata: { ipAddress: '198.51.100.7' } }
    await expect(authenticatePasscode(ctx, input)).rejects.toThrow(RateLimited)
  })
})

describe('a passcode', () => {
  // Of a verified address: the first proof of an address deletes every code.
  test.for(['in turn', 'at once'])(
    'authenticates once when it is used repeatedly, %s',
    async (order, { tenant, rest, gql, sendCode, openSignIn }) => {
      const page = await openSignIn()
      const to = await sendCode(`once-${order.replace(' ', '-')}`)
      // A known code replaces the one that was sent.
      const values: SqlValues = [tenant, hashCode(tenant, to, '123456'), to]
      await sql(`UPDATE "Passcode" SET "codeHash" = $2 WHERE "tenantId" = $1 AND "address" = $3`, values)
      await page.enterAddress(to)
      const query = `mutation { result: authenticatePasscode(input: { to: "${to}", code: "123456" }) { __typename } }`
      const uses = Array.from({ length: 4 }, () => [
        async () => (await rest('POST', '/passcodes/authenticate', { to, code: '123456' })).status === 200,
        async () => (await gql(query)).body.data?.result?.__typename === 'AuthenticatePasscodePayload',
      ]).flat()
      const accepted: boolean[] = []
      if (order === 'at once') accepted.push(...(await Promise.all(uses.map((use) => use()))))
      else for (const use of uses) accepted.push(await use())
      expect(accepted.filter(Boolean)).toHaveLength(1)
      await page.enterCode('123456')
      expect(page.browser.sessionToken).toBeUndefined()
    },
  )
})
