import { monitorEventLoopDelay } from 'node:perf_hooks'
import { describe, expect } from 'vitest'
import { findRepeatedNames } from '../../src/http/repeated-parameters.ts'
import { rawRequest } from '../support/attacks.ts'
import { authorizePath, csrfIn, REDIRECT_URI } from '../support/protocol.ts'
import { hasServices } from '../support/services.ts'
import { FORM, HEADER, LONG_TEXTS, listParameters, repeat, test } from '../support/stalls.ts'

/**
 * The longest delay that other requests may see. The attacks that this guards against cause a second and
 * more.
 */
const STALL_LIMIT_MS = 50
const TRIES = 8

/**
 * Measures how long an input blocks the event loop, in milliseconds. The best of several tries, and at most
 * the CPU time of the try: other programs of the machine delay single tries, the input itself delays all of
 * them.
 */
async function measureStall(work: () => Promise<unknown>): Promise<number> {
  let best = Number.POSITIVE_INFINITY
  for (let i = 0; i < TRIES && best > STALL_LIMIT_MS; i++) {
    const monitor = monitorEventLoopDelay({ resolution: 1 })
    monitor.enable()
    const before = process.cpuUsage()
    await new Promise(setImmediate)
    await work()
    await new Promise((resolve) => setTimeout(resolve, 2))
    monitor.disable()
    const { user, system } = process.cpuUsage(before)
    best = Math.min(best, monitor.max / 1e6, (user + system) / 1e3)
  }
  return best
}

/** Expects that requests neither block the event loop nor fail with 5xx. */
async function expectNoStall(name: string, work: () => Promise<{ status: number }>): Promise<void> {
  let status = 0
  const stall = await measureStall(async () => {
    status = (await work()).status
  })
  expect(status, name).toBeLessThan(500)
  expect(stall, `${name} blocked the event loop for ${stall} ms`).toBeLessThan(STALL_LIMIT_MS)
}

describe.runIf(hasServices)('the event loop is not blocked by a request', () => {
  test('with as many parameters as fit', async ({
    app,
    tenant,
    token,
    newBrowser,
    native,
    sendForm,
    warm: _,
  }) => {
    const many = listParameters(FORM)
    const known = { client_id: native.id, redirect_uri: REDIRECT_URI, grant_type: 'refresh_token' }
    const start = await newBrowser().open(authorizePath(tenant, native))
    for (const path of ['oidc/token', 'oidc/authorize', 'oidc/logout', 'oidc/userinfo'])
      await expectNoStall(path, () => sendForm(`/${tenant}/${path}`, `${new URLSearchParams(known)}&${many}`))
    await expectNoStall('sign-in', () => sendForm(start.path, many))
    const query = `${new URLSearchParams(known)}&${listParameters(HEADER)}`
    for (const path of ['oidc/authorize', 'oidc/logout', 'api/v1/users', 'graphql', 'signin/x'])
      await expectNoStall(path, () =>
        rawRequest(app.origin, `/${tenant}/${path}?${query}`, { authorization: `Bearer ${token}` }),
      )
    // One pass over 16,000 names takes 2 ms. Looking up each of them takes more than a second.
    const params = new URLSearchParams(many)
    expect(await measureStall(async () => expect(findRepeatedNames(params.keys())).toEqual([]))).toBeLessThan(
      STALL_LIMIT_MS,
    )
  })

  test('with 64 KB in a parameter of a form', async ({ tenant, newBrowser, native, sendForm, warm: _ }) => {
    const by = newBrowser()
    const start = await by.open(authorizePath(tenant, native))
    const csrf = csrfIn(await start.response.text())
    const authorize = { response_type: 'code', client_id: native.id, redirect_uri: REDIRECT_URI }
    for (const [name, text] of LONG_TEXTS) {
      const part = text.slice(0, FORM / 4)
      await expectNoStall(`token: ${name}`, () =>
        sendForm(`/${tenant}/oidc/token`, {
          client_id: native.id,
          grant_type: 'refresh_token',
          refresh_token: part,
          scope: text,
        }),
      )
      await expectNoStall(`authorize: ${name}`, () =>
        sendForm(`/${tenant}/oidc/authorize`, {
          ...authorize,
          scope: part,
          prompt: part,
          max_age: part,
          nonce: part,
        }),
      )
      await expectNoStall(`redirect_uri: ${name}`, () =>
        sendForm(`/${tenant}/oidc/authorize`, {
          client_id: native.id,
          redirect_uri: `http://127.0.0.1:1/${text}`,
        }),
      )
      await expectNoStall(`address: ${name}`, () =>
        by.post(start.path, { csrf, step: 'email', address: text }),
      )
      await expectNoStall(`access_token: ${name}`, () =>
        sendForm(`/${tenant}/oidc/userinfo`, { access_token: text }),
      )
    }
  })

  test('with long members of a user, passcode, client or cursor', async ({
    tenant,
    gql,
    sendJson,
    warm: _,
  }) => {
    const fields = ['email', 'phoneNumber', 'locale', 'zoneinfo', 'birthdate', 'website', 'name', 'picture']
    for (const [name, text] of LONG_TEXTS) {
      const part = text.slice(0, 90_000 / fields.length / 3)
      await expectNoStall(`user: ${name}`, () =>
        sendJson(
          `/${tenant}/api/v1/users`,
          JSON.stringify(Object.fromEntries(fields.map((field) => [field, part]))),
        ),
      )
      const long = text.slice(0, 30_000)
      await expectNoStall(`passcode: ${name}`, () =>
        sendJson(`/${tenant}/api/v1/passcodes/authenticate`, JSON.stringify({ to: long, code: long })),
      )
      await expectNoStall(`client: ${name}`, () =>
        sendJson(`/${tenant}/api/v1/clients`, JSON.stringify({ callbacks: [long], scopes: [long] })),
      )
      await expectNoStall(`cursor: ${name}`, () =>
        gql(
          'query ($a: String!, $b: EmailAddress!) { users(after: $a) { page } userByEmail(email: $b) { id } }',
          {
            a: long,
            b: long,
          },
        ),
      )
    }
  })

  test('with 15 KB of cookies, Authorization or another header', async ({ app, tenant, warm: _ }) => {
    for (const [name, text] of LONG_TEXTS) {
      const value = encodeURI(text).slice(0, HEADER)
      const attempts: Record<string, string>[] = [
        { cookie: `vst_sid_${tenant}=${value}` },
        { cookie: repeat(`vst_sid_${tenant}=;`, HEADER) },
        { cookie: repeat(';', HEADER) },
        { authorization: `Bearer ${value}` },
        { authorization: `Basic ${value}` },
        { accept: repeat(' text/', HEADER) },
        { 'x-forwarded-for': repeat('1,', HEADER) },
        { 'content-type': `application/json${repeat(' ', HEADER)}x` },
      ]
      for (const headers of attempts)
        for (const path of ['oidc/authorize', 'oidc/userinfo', 'graphql'])
          if (name === 'one word' || 'authorization' in headers)
            await expectNoStall(`${path}, ${Object.keys(headers)}: ${name}`, () =>
              rawRequest(app.origin, `/${tenant}/${path}`, headers),
            )
    }
  })

  test('with 100 KB of nested JSON', async ({ tenant, sendJson, warm: _ }) => {
    const arrays = `${'['.repeat(45_000)}${']'.repeat(45_000)}`
    const objects = `${'{"a":'.repeat(15_000)}1${'}'.repeat(15_000)}`
    const wide = `{${Array.from({ length: 9000 }, (_, i) => `"${i}":1`).join()}}`
    for (const nested of [arrays, objects, wide]) {
      for (const body of [
        nested,
        `{"userMetadata":${nested}}`,
        `{"address":${nested}}`,
        `{"email":${nested}}`,
      ])
        await expectNoStall(body.slice(0, 30), () => sendJson(`/${tenant}/api/v1/users`, body))
      for (const body of [
        nested,
        `{"query":"query ($v: JSONObject!) { createUser }","variables":{"v":${nested}}}`,
        `{"query":"mutation ($v: CreateUserInput!) { createUser(input: $v) { __typename } }","variables":{"v":${nested}}}`,
        `{"query":"query ($v: String) { users(after: $v) { page } }","variables":{"v":${nested}}}`,
        `{"query":"{ __typename }","extensions":${nested}}`,
      ])
        await expectNoStall(body.slice(0, 60), () => sendJson(`/${tenant}/graphql`, body))
    }
  })

  test('with 100 KB of GraphQL', async ({ gql, warm: _ }) => {
    const bomb = (type: string, leaf: string, levels: number) =>
      `${Array.from(
        { length: levels },
        (_, i) => `fragment F${i} on ${type} { ...F${i + 1} ...F${i + 1} }`,
      ).join(' ')} fragment F${levels} on ${type} { ${leaf} }`
    const documents = [
      repeat('{ a ', 90_000),
      repeat('{', 90_000),
      repeat('a ', 90_000),
      `{ users(after: "${repeat('a', 90_000)}") { page } }`,
      `{ users(after: """${repeat('\\"""', 90_000)}""") { page } }`,
      `{ users(after: ${repeat('[', 1900)}`,
      `{ ${repeat('__typename ', 20_000)} }`,
      `{ ${repeat('@a ', 5000)} }`,
      `{ __typename ${repeat('@skip(if: true) ', 20_000)} }`,
      `#${repeat('#', 90_000)}\n{ __typename }`,
      `{ ...F0 } ${bomb('Query', '__typename', 100)}`,
      `{ ...F0 } ${bomb('Query', 'users { nodes { id } }', 100)}`,
      `{ users { nodes { ...F0 } } } ${bomb('User', 'id sessions { nodes { id } }', 100)}`,
      `mutation { ...F0 } ${bomb('Mutation', 'lockUser(input: { userId: "x" }) { __typename }', 100)}`,
      `{ ${Array.from({ length: 300 }, (_, i) => `a${i}: users { page }`).join(' ')} }`,
    ]
    for (const document of documents) await expectNoStall(document.slice(0, 60), () => gql(document))
  })

  test('with invalid import lines of 64 KB', async ({ app, tenant, token, warm: _ }) => {
    const fill = (start: string, part: (n: number) => string, end: string) => {
      let line = start
      for (let n = 0; line.length < FORM; n++) line += part(n)
      return `${line}${end}\n`
    }
    const LINES: [string, string][] = [
      ['unknown members', fill('{"a":0', (n) => `,"x${n}":0`, '}')],
      ['unknown members of the address', fill('{"address":{"a":0', (n) => `,"x${n}":0`, '}}')],
      ['a list', fill('[0', () => ',{}', ']')],
      ['brackets', fill('', () => '[', '')],
      ['a language tag', fill('{"locale":"de', () => '-a-aa', '"}')],
    ]
    for (const [what, line] of LINES)
      await expectNoStall(what, async () => {
        const response = await app.fetch(`/${tenant}/api/v1/users/import`, {
          method: 'POST',
          headers: { 'content-type': 'application/x-ndjson', authorization: `Bearer ${token}` },
          // Bytes: a text would be parsed by the check of requests in this process.
          body: Buffer.from(line.repeat(20)),
        })
        expect((await response.text()).split('\n')).toHaveLength(22)
        return response
      })
  })
})
