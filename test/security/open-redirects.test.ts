import { describe, expect } from 'vitest'
import { test as base, serveJson } from '../support/client-documents.ts'
import { signInAs } from '../support/people.ts'
import { answerIn, authorizePath, REDIRECT_URI, signInAt } from '../support/protocol.ts'

const AFTER = 'https://elsewhere.example/after'
const START = 'https://elsewhere.example/start'

/** With a client that only its metadata document describes. */
const test = base
  .extend('stranger', { scope: 'file' }, ({ documents }) => ({
    id: documents.publish(
      serveJson({
        client_name: 'Stranger',
        initiate_login_uri: START,
        post_logout_redirect_uris: [AFTER],
      }),
    ),
    secret: '',
  }))
  .extend(
    'pathOf',
    ({ tenant, stranger }) =>
      (more: Record<string, string | null> = {}) =>
        authorizePath(tenant, stranger, more),
  )

/** Expects a page of this server that leads nowhere by itself. */
async function expectPage(response: Response, status: number): Promise<string> {
  const html = await response.text()
  expect([response.status, response.headers.get('location')]).toEqual([status, null])
  expect(html).not.toContain('<script')
  expect(html).not.toMatch(/http-equiv="refresh"/i)
  return html
}

const FAULTY: [name: string, more: Record<string, string | null>, error: string][] = [
  ['prompt=none without a session', { prompt: 'none' }, 'login_required'],
  ['prompt=none by form_post', { prompt: 'none', response_mode: 'form_post' }, 'login_required'],
  ['an unsupported response_type', { response_type: 'token' }, 'unsupported_response_type'],
  ['an unknown scope', { scope: 'planted-words' }, 'invalid_scope'],
  ['a missing code_challenge', { code_challenge: null, code_challenge_method: null }, 'invalid_request'],
  ['an unknown prompt', { prompt: 'planted-words' }, 'invalid_request'],
  ['an unknown resource', { resource: 'https://unknown.example' }, 'invalid_target'],
  [
    'an acr that no sign-in has',
    { claims: '{"id_token":{"acr":{"essential":true,"value":"x"}}}' },
    'unmet_authentication_requirements',
  ],
]

describe('the address of a client that no administrator has reviewed (RFC 9700, section 4.11.2)', () => {
  test.for(FAULTY)(
    'receives no error for %s, which a page shows',
    async ([_name, more, error], { app, pathOf }) => {
      const response = await app.fetch(pathOf(more))
      const html = await expectPage(response, 400)
      expect(html).toContain(error)
      // In development, the reference names the value to the developer (test/security/foreign-text.own.test.ts).
      expect(html.replace(/<dl class="reference">.*?<\/dl>/s, '')).not.toContain('planted-words')
    },
  )

  test.for(FAULTY)(
    'receives no error for %s by POST',
    async ([_name, more, error], { app, newBrowser, pathOf }) => {
      const path = pathOf(more)
      const [endpoint = '', query] = path.split('?')
      const response = await app.fetch(endpoint, { method: 'POST', body: new URLSearchParams(query) })
      if (response.status === 400) return void expect(await expectPage(response, 400)).toContain(error)
      const next = response.headers.get('location') ?? ''
      expect(next).toMatch(/^\/[\w-]+\/signin\//)
      expect(await expectPage(await newBrowser().fetch(next), 400)).toContain(error)
    },
  )

  test('receives the answer of a user who has seen the page that asks for consent', async ({
    newPerson,
    newBrowser,
    pathOf,
  }) => {
    const { email } = await newPerson()
    const browser = newBrowser()
    const denied = await signInAt(browser, pathOf(), email)
    const page = { html: await denied.response.text(), path: denied.path }
    expect(answerIn((await browser.submit(page, { step: 'deny' })).location).error).toBe('access_denied')
    // The user is signed in, and has not consented.
    await expectPage(await browser.fetch(pathOf({ prompt: 'none' })), 400)
    const asked = await browser.open(pathOf())
    const { location } = await browser.submit(
      { html: await asked.response.text(), path: asked.path },
      { step: 'allow' },
    )
    expect(answerIn(location)).toHaveProperty('code')
    const silent = await browser.fetch(pathOf({ prompt: 'none', max_age: '0' }))
    expect(answerIn(silent.headers.get('location')).error).toBe('login_required')
  })

  test('is a link on a page, when a sign-in is initiated there', async ({
    app,
    tenant,
    stranger,
    isAccepted,
  }) => {
    expect(await isAccepted(stranger.id)).toBe(true)
    const query = new URLSearchParams({ client_id: stranger.id })
    const html = await expectPage(await app.fetch(`/${tenant}/oidc/initiate?${query}`), 200)
    expect(html).toContain('elsewhere.example')
    expect(html).toContain(`href="${START}?`)
  })

  test('is a link on a page after a logout without a session', async ({
    app,
    tenant,
    stranger,
    isAccepted,
  }) => {
    expect(await isAccepted(stranger.id)).toBe(true)
    const query = new URLSearchParams({ client_id: stranger.id, post_logout_redirect_uri: AFTER })
    const html = await expectPage(await app.fetch(`/${tenant}/oidc/logout?${query}`), 200)
    expect(html).toContain(`href="${AFTER}"`)
    const form = new URLSearchParams({ csrf: 'x', step: 'logout' })
    const posted = await app.fetch(`/${tenant}/oidc/logout?${query}`, { method: 'POST', body: form })
    expect(await expectPage(posted, 200)).toContain(`href="${AFTER}"`)
  })

  test('receives a logout with an ID token of the session, and is a link on a page without a session', async ({
    app,
    tenant,
    stranger,
    newPerson,
  }) => {
    const { email } = await newPerson()
    const { answer, browser } = await signInAs(app, tenant, stranger, email, { scope: 'openid' })
    const query = new URLSearchParams({
      id_token_hint: answer.id_token ?? '',
      post_logout_redirect_uri: AFTER,
    })
    const path = `/${tenant}/oidc/logout?${query}`
    expect(await expectPage(await app.fetch(path), 200)).toContain(`href="${AFTER}"`)
    expect((await browser.fetch(path)).headers.get('location')).toBe(AFTER)
    // The session has ended: the same request is that of a stranger.
    expect(await expectPage(await browser.fetch(path), 200)).toContain(`href="${AFTER}"`)
  })

  test('is named on the consent page beside the host of the document', async ({
    newPerson,
    newBrowser,
    stranger,
    pathOf,
  }) => {
    const { email } = await newPerson()
    const consent = await signInAt(newBrowser(), pathOf(), email)
    const html = await consent.response.text()
    expect(html).toContain(new URL(stranger.id).host)
    expect(html).toContain('You continue at another site')
    expect(html).toContain(new URL(REDIRECT_URI).host)
  })
})

describe('the redirect URI of a client that an administrator created', () => {
  test('receives the errors of its requests', async ({ oidc, app }) => {
    const response = await app.fetch(oidc.authorizePath({ prompt: 'none' }))
    expect(answerIn(response.headers.get('location')).error).toBe('login_required')
  })
})
