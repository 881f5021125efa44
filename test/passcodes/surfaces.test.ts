import { describe, expect } from 'vitest'
import { inbox } from '../support/calls.ts'
import { notFound, test } from '../support/session-surfaces.ts'

describe('passcodes over REST', () => {
  test('are sent, authenticated and start a session', async ({ ctx, rest }) => {
    const to = `ada@${ctx.tenant}.example`
    const sent = await rest('POST', '/passcodes/email', { to, createUser: true })
    const again = await rest('POST', '/passcodes/email', { to })
    expect(sent.status).toBe(200)
    expect(sent.body).toEqual({ to, userId: expect.stringMatching(/^user_/), userCreated: true })
    expect(JSON.stringify(sent.body)).not.toContain(await inbox.codeFor(to))
    expect(again.status).toBe(429)
    expect(Number(again.headers.get('retry-after'))).toBeGreaterThan(25)
    const wrong = await rest('POST', '/passcodes/authenticate', { to, code: 'wrong' })
    expect(wrong.status).toBe(401)
    expect(wrong.body).toEqual({
      message: 'The code is wrong or has expired.',
      requestId: expect.any(String),
      fields: [],
      code: 'INVALID_CREDENTIAL',
    })
    const answer = await rest('POST', '/passcodes/authenticate', {
      to,
      code: await inbox.codeFor(to),
      sessionExpirationMinutes: 5,
    })
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      session: expect.objectContaining({ userId: sent.body?.userId }),
      sessionToken: expect.any(String),
      user: expect.objectContaining({ email: to, emailVerified: true }),
    })
    const unknown = await rest('POST', '/passcodes/sms', { to: '+41791234567' })
    expect(unknown.status).toBe(404)
    expect(unknown.body).toEqual(notFound('user'))
  })
})

describe('passcodes over GraphQL', () => {
  test('are sent and authenticated, with errors as data', async ({ ctx, gql }) => {
    const to = `grace@${ctx.tenant}.example`
    const send = `mutation ($input: SendEmailPasscodeInput!) { sendEmailPasscode(input: $input) { __typename
      ... on SendEmailPasscodePayload { to userId userCreated user { email } } ... on RateLimitedError { retryAfterSeconds } } }`
    const sendIt = async (input: object) => (await gql(send, { input })).body.data.sendEmailPasscode
    expect(await sendIt({ to })).toEqual({ __typename: 'NotFoundError' })
    const sent = await sendIt({ to, createUser: true, metadata: { userAgent: 'App' } })
    expect(sent).toEqual({
      __typename: 'SendEmailPasscodePayload',
      to,
      userId: expect.any(String),
      userCreated: true,
      user: { email: to },
    })
    expect(await sendIt({ to })).toEqual({
      __typename: 'RateLimitedError',
      retryAfterSeconds: expect.any(Number),
    })
    const check = `mutation ($input: AuthenticatePasscodeInput!) { authenticatePasscode(input: $input) { __typename
      ... on AuthenticatePasscodePayload { session { userId } sessionToken user { emailVerified } } } }`
    const checkIt = async (input: object) => (await gql(check, { input })).body.data.authenticatePasscode
    expect(await checkIt({ to, code: 'wrong' })).toEqual({ __typename: 'AuthenticationError' })
    expect(await checkIt({ to, code: await inbox.codeFor(to), sessionExpirationMinutes: 5 })).toEqual({
      __typename: 'AuthenticatePasscodePayload',
      session: { userId: sent.userId },
      sessionToken: expect.any(String),
      user: { emailVerified: true },
    })
  })

  test('are checked once in an operation, also with aliases and fragments', async ({ ctx, rest, gql }) => {
    const to = `linus@${ctx.tenant}.example`
    await rest('POST', '/passcodes/email', { to, createUser: true })
    const guess = (alias: string, code: string) =>
      `${alias}: authenticatePasscode(input: { to: "${to}", code: "${code}" }) { __typename }`
    for (const query of [
      `mutation { ${guess('a', '000000')} ${guess('b', await inbox.codeFor(to))} }`,
      `mutation { ...M ${guess('a', '000000')} } fragment M on Mutation { ${guess('b', await inbox.codeFor(to))} }`,
    ]) {
      const { body } = await gql(query)
      expect(body.data).toBeUndefined()
      expect(body.errors?.length).toBeGreaterThan(0)
    }
    const alone = await gql(`mutation { ${guess('a', await inbox.codeFor(to))} }`)
    expect(alone.body.data.a.__typename).toBe('AuthenticatePasscodePayload')
  })
})
