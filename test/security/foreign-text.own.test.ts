import { describe, expect, vi } from 'vitest'
import { rawRequest } from '../support/attacks.ts'
import { test } from '../support/fixtures.ts'
import { REDIRECT_URI } from '../support/protocol.ts'

// In development, an error page shows developers what their application sent.
await vi.hoisted(async () => {
  const { startMessageServers } = await import('../support/message-servers.ts')
  await startMessageServers()
  process.env.NODE_ENV = 'production'
})

/** What the maker of a link would like a page of the tenant to say. */
const TEXT = 'YourAccountIsLockedCall555'

/** Every parameter that hosted pages and the endpoints behind them read, and one that none reads. */
const PARAMETERS = [
  ...['client_id', 'redirect_uri', 'response_type', 'response_mode', 'scope', 'state', 'nonce', 'prompt'],
  ...['max_age', 'display', 'id_token_hint', 'claims', 'acr_values', 'ui_locales', 'dpop_jkt', 'resource'],
  ...['code_challenge', 'code_challenge_method', 'request', 'request_uri', 'registration', 'logout_hint'],
  ...['post_logout_redirect_uri', 'user_code', 'token', 'iss', 'target_link_uri', 'csrf', 'step', TEXT],
]
const PATHS = [
  ...['oidc/authorize', 'oidc/logout', 'oidc/initiate', 'device', 'device/approved', 'enroll', 'signin/x'],
  ...['signin/x/code', `signin/${TEXT}`, TEXT, `enroll/${TEXT}`],
]
/** The menu of languages holds the path of its page, which no person sees. */
const RETURN_PATH = /<input type="hidden" name="return_to" value="[^"]*"/g

const HEADERS = [
  'x-request-id',
  'user-agent',
  'referer',
  'origin',
  'cookie',
  'accept-language',
  'x-forwarded-for',
]

describe('a hosted page', () => {
  test('shows no text of its link', async ({ app, tenant, client }) => {
    const valid = {
      client_id: client.id,
      redirect_uri: REDIRECT_URI,
      response_type: 'code',
      scope: 'openid',
      post_logout_redirect_uri: 'https://none.example',
    }
    const requests: { target: string; method?: string; body?: string; headers?: Record<string, string> }[] =
      []
    for (const path of PATHS) {
      const target = `/${tenant}/${path}`
      for (const name of PARAMETERS) {
        const once = new URLSearchParams({ ...valid, [name]: TEXT })
        const twice = new URLSearchParams([...once, [name, TEXT], [TEXT, '1'], [TEXT, '2']])
        // The errors of an unknown redirect URI are not redirected.
        const unredirected = new URLSearchParams([...twice, ['redirect_uri', `https://${TEXT}.example`]])
        for (const query of [once, twice, unredirected]) {
          requests.push({ target: `${target}?${query}` })
          requests.push({ target, method: 'POST', body: String(query) })
        }
      }
      for (const name of HEADERS) requests.push({ target, headers: { [name]: TEXT } })
    }
    requests.push({ target: `/${TEXT}/oidc/authorize` }, { target: `/${tenant}/oidc/authorize/${TEXT}` })
    const shown: string[] = []
    let pages = 0
    for (const { target, method, body, headers } of requests) {
      const type: Record<string, string> =
        body === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }
      const answer = await rawRequest(
        app.origin,
        target,
        { accept: 'text/html', ...type, ...headers },
        { method, body },
      )
      if (!String(answer.headers['content-type']).startsWith('text/html')) continue
      pages++
      if (answer.body.replaceAll(RETURN_PATH, '').includes(TEXT))
        shown.push(`${method ?? 'GET'} ${target} ${body ?? ''}`)
    }
    expect(pages).toBeGreaterThan(requests.length / 3)
    expect(shown).toEqual([])
  })
})
