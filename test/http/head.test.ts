import { describe, expect } from 'vitest'
import { STYLESHEET_PATH } from '../../src/pages/assets/stylesheet.ts'
import { handleIn } from '../support/hosted-pages.ts'
import { test } from '../support/passkeys.ts'

const SHOWN = ['content-type', 'cache-control', 'location']
const describeResponse = ({ status, headers }: Response) => [
  status,
  ...SHOWN.map((name) => headers.get(name)),
]

describe('HEAD (RFC 9110, section 9.3.2)', () => {
  test.for([
    '/health/live',
    '/health/ready',
    STYLESHEET_PATH,
    '/dev/inbox',
    '/dev/inbox.json',
    '/TENANT/.well-known/openid-configuration',
    '/TENANT/.well-known/jwks.json',
    '/TENANT/device',
    '/TENANT/device/approved',
    '/TENANT/enroll?token=x',
    '/TENANT/enroll/done',
    '/TENANT/invitation?token=x',
    '/TENANT/oidc/initiate',
    '/TENANT/oidc/userinfo',
    '/TENANT/api/v1/users',
    '/no-such-page',
  ])('has the status and the headers of GET, and no body, at %s', async (pattern, { tenant, app }) => {
    const url = app.origin + pattern.replace('TENANT', tenant)
    const head = await fetch(url, { method: 'HEAD', redirect: 'manual' })
    const get = await fetch(url, { redirect: 'manual' })
    expect(describeResponse(head)).toEqual(describeResponse(get))
    expect(await head.text()).toBe('')
  })

  test.for(['/TENANT/oidc/authorize', '/TENANT/oidc/logout', '/TENANT/oidc/callback/google'])(
    'is not allowed at %s, where GET changes something',
    async (pattern, { tenant, app }) => {
      const response = await fetch(app.origin + pattern.replace('TENANT', tenant), { method: 'HEAD' })
      expect(response.status).toBe(405)
      expect(response.headers.get('allow')).toBe('GET, POST')
    },
  )

  test('of a sign-in page does not end the sign-in', async ({
    app,
    tenant,
    person,
    browser,
    oidc,
    start,
  }) => {
    const page = await start()
    const path = `/${tenant}/signin/${handleIn(page.path)}`
    const { response } = await browser.open(path)
    expect(response.status).toBe(200)
    expect((await fetch(app.origin + path, { method: 'HEAD' })).status).toBe(405)
    await oidc.signIn(browser, person.email)
  })
})
