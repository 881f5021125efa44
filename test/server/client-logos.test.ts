import { describe, expect } from 'vitest'
import { updateClient } from '../../src/clients/client-changes.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { test as base } from '../support/hosted-pages.ts'
import { PNG, toDataUrl } from '../support/images.ts'

const DATA_URL = toDataUrl('png', PNG)

const test = base
  .extend(
    'setLogo',
    ({ ctx, client }) =>
      (logoUrl: string) =>
        updateClient(ctx, client.id, { logoUrl }),
  )
  .extend(
    'policyOf',
    () =>
      ({ headers }: Response) =>
        headers.get('content-security-policy'),
  )

describe('the logo of a client', () => {
  test('is served by this server when it is set as a data URL', async ({
    app,
    tenant,
    client,
    setLogo,
    start,
    policyOf,
  }) => {
    await setLogo(DATA_URL)
    const { html, response } = await start()
    expect(html).not.toContain('data:image')
    expect(policyOf(response)).toContain("; img-src 'self' data:; ")
    const path = new RegExp(`src="(/${tenant}/brand/clients/${client.id}\\?v=[0-9a-f]{16})"`).exec(html)?.[1]
    const image = await fetch(`${app.origin}${path}`)
    expect(Object.fromEntries(image.headers)).toMatchObject({
      'content-type': 'image/png',
      'cache-control': 'public, max-age=31536000, immutable',
      'content-security-policy': expect.stringMatching(/^default-src 'none'; .*sandbox$/),
      'x-content-type-options': 'nosniff',
    })
    expect(Buffer.from(await image.arrayBuffer())).toEqual(PNG)
  })

  test('allows its server only when it is an https URL', async ({ ctx, setLogo, start, policyOf }) => {
    await setLogo('https://shop.example/logo.png')
    await updateSettings(ctx, { logoUrl: 'https://acme.example/logo.png', faviconUrl: DATA_URL })
    const { html, response } = await start()
    expect(html).toContain('src="https://shop.example/logo.png"')
    expect(policyOf(response)).toContain("; img-src 'self' data: https://acme.example https://shop.example; ")
  })

  test('is the logo of the tenant when both are the same data URL', async ({
    ctx,
    tenant,
    setLogo,
    start,
  }) => {
    await setLogo(DATA_URL)
    await updateSettings(ctx, { logoUrl: DATA_URL })
    const { html } = await start()
    expect(html).toContain(`src="/${tenant}/brand/logo?v=`)
    expect(html).not.toContain('/brand/clients/')
  })

  test('does not exist for other clients and for https URLs', async ({ app, tenant, client, setLogo }) => {
    await setLogo('https://shop.example/logo.png')
    for (const id of [client.id, 'client_none', '%00', 'https%3A%2F%2Frp.example%2Fclient'])
      expect((await fetch(`${app.origin}/${tenant}/brand/clients/${id}`)).status).toBe(404)
  })

  test.for([
    'data:image/svg+xml;base64,PHN2Zy8+',
    'data:image/png;base64,/9j/4AAQSkZJRg==',
    'javascript:alert(1)',
    'http://shop.example/logo.png',
  ])('is rejected as %s', async (logoUrl, { setLogo }) => {
    await expect(setLogo(logoUrl)).rejects.toMatchObject({ fields: [{ field: 'logoUrl' }] })
  })
})
