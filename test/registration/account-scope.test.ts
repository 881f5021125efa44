import { describe, expect } from 'vitest'
import { invalidateClient } from '../../src/access/client-cache.ts'
import { updateClient } from '../../src/clients/client-changes.ts'
import { describeScope } from '../../src/consents/consent-items.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { Handle } from '../../src/database/handle.ts'
import { serveJson, test } from '../support/client-documents.ts'
import { answerIn, authorizePath, exchange, signInAt } from '../support/protocol.ts'

describe('scope account', () => {
  test('is not given to a client of a metadata document until an administrator assigns it', async ({
    app,
    tenant,
    newPerson,
    newBrowser,
    documents,
    age,
    isAccepted,
    findClientRow,
    readReason,
  }) => {
    const client = { id: documents.publish(serveJson({ scope: 'openid account' })), secret: '' }
    const path = authorizePath(tenant, client, { scope: 'openid account' })
    const ask = async () => {
      const { email } = await newPerson()
      const browser = newBrowser()
      const consent = await signInAt(browser, path, email)
      const html = await consent.response.text()
      const { location } = await browser.submit({ html, path: consent.path }, { step: 'allow' })
      const { body } = await exchange(app, tenant, client, answerIn(location).code ?? '')
      return { isAsked: html.includes(describeScope('account')), scope: body.scope }
    }
    expect(await ask()).toEqual({ isAsked: false, scope: 'openid' })
    await updateClient(createPlatformCtx(tenant), client.id, { scopes: ['account'] })
    invalidateClient(new Handle({ tenant }), client.id)
    expect(await ask()).toEqual({ isAsked: true, scope: 'openid account' })
    // From then on, the publisher of the document cannot move the redirect URI.
    documents.republish(client.id, serveJson({ redirect_uris: ['https://evil.example/cb'] }))
    await age(client.id, 86_400 * 2)
    expect(await isAccepted(client.id)).toBe(false)
    expect(await readReason()).toMatch(/administrators alone/)
    expect((await findClientRow(client.id))?.callbacks).not.toContain('https://evil.example/cb')
  })

  test('is assigned by administrators over both surfaces, and not to machine clients', async ({
    rest,
    gql,
  }) => {
    const created = await rest('POST', '/clients', {
      name: 'Portal',
      appType: 'single-page',
      type: 'login',
      scopes: ['account', 'users:read'],
    })
    expect(created).toMatchObject({ status: 201, body: { scopes: ['account', 'users:read'] } })
    const { body } = await gql(
      `mutation ($id: ID!) { updateClient(input: { clientId: $id, scopes: ["account"] }) {
        ... on UpdateClientPayload { client { scopes } } } }`,
      { id: created.body.id },
    )
    expect(body.data.updateClient.client.scopes).toEqual(['account'])
    for (const change of [
      () => rest('POST', '/clients', { name: 'M', appType: 'machine', type: 'login', scopes: ['account'] }),
      () => rest('PATCH', `/clients/${created.body.id}`, { appType: 'machine' }),
    ])
      expect(await change()).toMatchObject({ status: 400, body: { fields: [{ field: 'scopes.0' }] } })
  })
})
