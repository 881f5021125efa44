import { type Browser, basic, csrfIn, type Origin, type TokenAnswer, tokenRequest } from './protocol.ts'

export const DEVICE_CODE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code'

type Client = { id: string; secret: string }

/** Requests a device code; a client with a secret authenticates with Basic, another with its client_id. */
export async function startDevice(
  provider: Origin,
  tenant: string,
  client: Client,
  form: Record<string, string> = { scope: 'openid profile offline_access' },
): Promise<TokenAnswer> {
  const response = await fetch(`${provider.origin}/${tenant}/oidc/device`, {
    method: 'POST',
    headers: client.secret ? { authorization: basic(client) } : {},
    body: new URLSearchParams({ ...(!client.secret && { client_id: client.id }), ...form }),
  })
  return { status: response.status, headers: response.headers, body: (await response.json()) as never }
}

/** A poll of the device (RFC 8628, section 3.4). */
export const pollWith = (
  provider: Pick<Origin, 'origin'>,
  tenant: string,
  client: Client,
  deviceCode: string,
  more: Record<string, string> = {},
  headers: Record<string, string> = {},
): Promise<TokenAnswer> =>
  tokenRequest(
    provider as Origin,
    tenant,
    client,
    { grant_type: DEVICE_CODE_GRANT, device_code: deviceCode, ...more },
    headers,
  )

/** Enters a user code on its page; returns the page that follows. */
export async function enterCode(browser: Browser, tenant: string, userCode: string) {
  const path = `/${tenant}/device`
  const form = await (await browser.fetch(path)).text()
  const { response, path: next } = await browser.follow(
    await browser.post(path, { csrf: csrfIn(form), user_code: userCode }),
  )
  return { html: await response.text(), path: next, status: response.status }
}

/** Approves or denies a device, as the user who is signed in with the browser. */
export async function decide(browser: Browser, tenant: string, userCode: string, step: 'allow' | 'deny') {
  const page = await enterCode(browser, tenant, userCode)
  const { response, path } = await browser.submit(page, { step })
  return { html: await response.text(), path, status: response.status }
}
