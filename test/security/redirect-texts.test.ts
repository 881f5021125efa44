import { describe, expect } from 'vitest'
import { test as base } from '../support/fixtures.ts'
import { REDIRECT_URI } from '../support/protocol.ts'

const AFTER = 'https://rp.example.com/bye'
const START = 'https://rp.example.com/start'
/** The longest Location, and room for the other headers of a response. */
const LIMIT = 20_000

const TEXTS: [name: string, text: string][] = [
  ['a carriage return and a line feed', 'a\r\nset-cookie: planted=1\r\n\r\n<b>'],
  ['a line feed', 'a\nb'],
  ['U+0000', 'a\0b'],
  ['U+2028', 'a\u2028b'],
  ['U+0085', 'a\u0085b'],
  ['a lone surrogate', 'a\ud800b'],
  ['text outside Latin-1', 'ä漢字😀'],
  ['a tab and a quote', '\t"\'\\'],
  ['percent-encoded line breaks', '%0d%0aset-cookie:%20planted=1'],
  ['16 KB', 'x'.repeat(16_000)],
  ['60 KB', 'x'.repeat(60_000)],
  ['20 KB of U+2028', '\u2028'.repeat(7000)],
]

type Send = (path: string, form?: Record<string, string>) => Promise<Response>
type Places = { tenant: string; clientId: string }
/** Each request whose text gets into a redirect. */
const REDIRECTS: [name: string, send: (send: Send, places: Places, text: string) => Promise<Response>][] = [
  [
    'return_to of the menu of languages',
    (send, { tenant }, text) =>
      send(`/${tenant}/language`, { language: 'de', return_to: `/${tenant}/account/${text}` }),
  ],
  [
    'any field of a posted logout',
    (send, { tenant }, text) => send(`/${tenant}/oidc/logout`, { [text]: text }),
  ],
  [
    'state of a posted logout',
    (send, { tenant, clientId }, text) =>
      send(`/${tenant}/oidc/logout`, { client_id: clientId, state: text }),
  ],
  [
    'state of a logout',
    (send, { tenant, clientId }, state) =>
      send(
        `/${tenant}/oidc/logout?${new URLSearchParams({ client_id: clientId, post_logout_redirect_uri: AFTER, state })}`,
      ),
  ],
  [
    'login_hint of a third-party login',
    (send, { tenant, clientId }, text) =>
      send(`/${tenant}/oidc/initiate?${new URLSearchParams({ client_id: clientId, login_hint: text })}`),
  ],
  [
    'state of an authorize error',
    (send, { tenant, clientId }, state) =>
      send(`/${tenant}/oidc/authorize`, {
        client_id: clientId,
        redirect_uri: REDIRECT_URI,
        response_type: 'token',
        state,
      }),
  ],
  [
    'state, code and name of an answer of a provider',
    (send, { tenant }, text) =>
      send(`/${tenant}/oidc/callback/google`, { state: text, code: text, error: text, user: text }),
  ],
  [
    'step of an account page',
    (send, { tenant }, text) => send(`/${tenant}/account`, { step: text, csrf: text }),
  ],
  [
    'next_client of an invitation',
    (send, { tenant }, text) =>
      send(`/${tenant}/invitation?token=${encodeURIComponent(text.toWellFormed())}`, { text }),
  ],
]

const test = base
  .extend('places', { scope: 'file' }, async ({ tenant, newClient }) => {
    const { id } = await newClient({ allowedLogoutUrls: [AFTER], initiateLoginUrl: START })
    return { tenant, clientId: id }
  })
  .extend(
    'send',
    { scope: 'file' },
    ({ newBrowser }): Send =>
      (path, form) =>
        newBrowser().fetch(path, form && { method: 'POST', body: new URLSearchParams(form) }),
  )

describe.for(REDIRECTS)('%s', ([_name, request]) => {
  test.for(TEXTS)(
    'with %s is redirected with an encoded, limited Location, or rejected',
    async ([_text, text], { places, send }) => {
      const { status, headers } = await request(send, places, text)
      expect(status).toBeLessThan(500)
      const location = headers.get('location') ?? ''
      expect(location).toMatch(/^[\x21-\x7e]*$/)
      expect(location.length).toBeLessThanOrEqual(LIMIT)
      expect(headers.get('set-cookie') ?? '').not.toContain('planted')
      expect(JSON.stringify([...headers]).length).toBeLessThan(LIMIT + 4000)
    },
  )
})

describe('a posted logout without csrf', () => {
  test('is redirected with the parameters of a logout request only', async ({ places, send, tenant }) => {
    const form = { client_id: places.clientId, state: 'a b', ui_locales: 'de', planted: 'x'.repeat(50_000) }
    const { status, headers } = await send(`/${tenant}/oidc/logout`, form)
    expect([status, headers.get('location')]).toEqual([
      303,
      `/${tenant}/oidc/logout?client_id=${places.clientId}&state=a+b&ui_locales=de`,
    ])
  })

  test('is rejected when it is longer than a redirect may be', async ({ places, send, tenant }) => {
    const form = { client_id: places.clientId, id_token_hint: 'x'.repeat(50_000) }
    const response = await send(`/${tenant}/oidc/logout`, form)
    expect([response.status, response.headers.get('location')]).toEqual([413, null])
    expect((await response.text()).length).toBeLessThan(20_000)
  })
})

test('a menu of languages leads back to the page whose path has a line break', async ({ send, tenant }) => {
  const form = { language: 'de', return_to: `/${tenant}/account?x=a\nb\u2028` }
  const { status, headers } = await send(`/${tenant}/language`, form)
  expect([status, headers.get('location')]).toEqual([303, `/${tenant}/account?x=a%0Ab%E2%80%A8`])
})
