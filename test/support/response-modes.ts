import { startPlan } from './conformance-plan.ts'
import { test as base } from './fixtures.ts'
import { listTags } from './pages.tsx'
import { authorizePath, REDIRECT_URI } from './protocol.ts'

/** The redirect URI of a native application. */
export const CUSTOM = 'com.example.app:/cb'
/** A redirect URI whose origin is not one of the webOrigins. */
export const ELSEWHERE = 'https://elsewhere.example.com/cb'

/** The message that a web_message response posts, with its target origin. */
export async function readMessage(response: Response) {
  const html = await response.text()
  const { attributes } = listTags(html).find((tag) => tag.attributes.id === 'answer') ?? { attributes: {} }
  const data = attributes as Record<string, string>
  return {
    origin: data['data-origin'],
    ...JSON.parse((data['data-message'] ?? '{}').replaceAll('&quot;', '"')),
  }
}

/** `test` with a web client and a native application, at the first of which a user is signed in. */
export const test = base
  .extend('user', { scope: 'file' }, ({ newPerson }) => newPerson())
  .extend('plan', { scope: 'file' }, async ({ app, tenant, user }) => {
    const plan = await startPlan(app, tenant, user.email, 'form_post', {
      webOrigins: ['https://rp.example.com'],
      callbacks: [REDIRECT_URI, ELSEWHERE],
    })
    await plan.authorize()
    return plan
  })
  .extend('native', { scope: 'file' }, ({ app, tenant, user }) =>
    startPlan(app, tenant, user.email, 'query', { appType: 'native', callbacks: [CUSTOM] }),
  )
  .extend(
    'visit',
    { scope: 'file' },
    ({ plan }) =>
      (more: Record<string, string | null>, by = plan.browser, of = plan) =>
        by.fetch(authorizePath(of.tenant, of.client, more)),
  )
