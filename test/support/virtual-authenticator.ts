import type { BrowserContext } from 'playwright-core'

/** Opens a page in a browser whose device has a screen lock; user verification succeeds or fails. */
export async function openWithDevice(context: BrowserContext, isUserVerified = true) {
  const page = await context.newPage()
  const errors: string[] = []
  page.on('pageerror', (error) => errors.push(String(error)))
  page.on('console', (message) => {
    // The console also reports rejected requests, which the page explains.
    if (message.type() === 'error' && !/status of 4/.test(message.text())) errors.push(message.text())
  })
  const device = await context.newCDPSession(page)
  await device.send('WebAuthn.enable')
  const { authenticatorId } = await device.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified,
      automaticPresenceSimulation: true,
    },
  })
  return { page, device, authenticatorId, errors }
}
